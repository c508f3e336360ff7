// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A wait's work on the executor of its handler is the last that goes of it: the context may be destroyed from then on.
#include "support/asio/noted_executor.hpp"
#include "support/asio/scripted_operation.hpp"

#include <asio/any_io_executor.hpp>
#include <asio/bind_executor.hpp>
#include <doctest/doctest.h>

#include <memory>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

struct last_work {
    executor_note note;
    asio::io_context other;
    std::unique_ptr<asio::io_context> io = std::make_unique<asio::io_context>();

    noted_executor<false> executor() { return {other, note}; }
    asio::any_io_executor erased() { return executor(); }

    void destroyed_after_all_copies() {
        CHECK(note.work == 1);
        io.reset();
        CHECK(note.work == 0);
        CHECK(note.copies == 0);
        CHECK(note.left_at_last == 0);
    }
};

} // namespace

TEST_CASE_TEMPLATE("destroyed_wait_ends_its_work_last", Wheel, BOTH_WHEELS) {
    last_work w;
    auto wheel = std::make_shared<Wheel>(*w.io); // which its handler owns
    wheel->async_wait(1s, asio::bind_executor(w.executor(), [wheel](std::error_code) {}));
    wheel.reset();
    w.destroyed_after_all_copies();
}

TEST_CASE_TEMPLATE("destroyed_wait_on_an_erased_executor_ends_its_work_last", Wheel, BOTH_WHEELS) {
    last_work w;
    auto wheel = std::make_shared<Wheel>(*w.io); // which its handler owns
    wheel->async_wait(1s, asio::bind_executor(w.erased(), [wheel](std::error_code) {}));
    wheel.reset();
    w.destroyed_after_all_copies();
}

TEST_CASE_TEMPLATE("destroyed_callable_ends_its_work_last", Wheel, BOTH_WHEELS) {
    last_work w;
    auto wheel = std::make_shared<Wheel>(*w.io); // which its handler owns
    wheel->schedule(1s, asio::bind_executor(w.executor(), [wheel] {}));
    wheel.reset();
    w.destroyed_after_all_copies();
}
