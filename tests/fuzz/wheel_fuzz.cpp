// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Any bytes are a script for a wheel and its reference; a difference between the two ends the run.
// The same body as the model tests', which replay the corpus.
#include "support/wheel/script_tools.hpp"
#include "support/wheel/wheel_rig.hpp"

#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cogwheel_tests;
    const script_view script(data, size);
    const std::string fault = run_script_on_its_wheel(script);
    if (fault.empty()) return 0;
    const script_bytes small = shrink({script.begin(), script.end()}, run_script_on_its_wheel);
    std::fprintf(stderr, "%s\n%s", fault.c_str(), describe(small).c_str());
    std::abort();
}
