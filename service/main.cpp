// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// cogwheeld: durable timers as a service. docs/service.md describes it.
#include "program.hpp"
#include "support/command_line.hpp"

int main(int argc, char** argv) {
    return command_line::run("cogwheeld", [&] {
        auto called = cogwheeld::read_arguments(argc, argv);
        switch (called.what) {
        case cogwheeld::invocation::command::help:
            fmt::print("{}", cogwheeld::usage);
            return 0;
        case cogwheeld::invocation::command::version:
            fmt::print("cogwheeld {}\n", COGWHEELD_VERSION);
            return 0;
        case cogwheeld::invocation::command::audit:
            return cogwheeld::audit(called.wanted);
        default:
            return cogwheeld::serve(std::move(called));
        }
    });
}
