// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What an operation may complete with, and which of it a limit rewrites.
#include "support/asio/scripted_operation.hpp"

#include <doctest/doctest.h>

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

std::error_code code_of(const std::exception_ptr& e) {
    try {
        if (e) std::rethrow_exception(e);
    } catch (const std::system_error& error) {
        return error.code();
    }
    return {};
}

} // namespace

TEST_CASE_TEMPLATE("signature_without_results", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    scripted_operation<void()> op(r.io.get_executor());
    op.on_cancel = [&](asio::cancellation_type) { op.complete(); };
    int times = 0;
    SUBCASE("its own error") {
        op.async_run(timeout(r.wheel, 10ms, {.own_error = true}, [&] { ++times; }));
    }
    SUBCASE("timed_out") {
        op.async_run(timeout(r.wheel, 10ms, [&] { ++times; }));
    }
    r.pass(20ms);
    CHECK(times == 1);
    CHECK(op.cancelled.size() == 1);
}

TEST_CASE_TEMPLATE("signature_without_an_error", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    scripted_operation<void(std::string)> op(r.io.get_executor());
    op.on_cancel = [&](asio::cancellation_type) { op.complete("cut short"); };
    std::string got;
    op.async_run(timeout(r.wheel, 10ms, {.own_error = true}, [&](std::string s) { got = std::move(s); }));
    r.pass(20ms);
    CHECK(got == "cut short");
}

TEST_CASE_TEMPLATE("signature_with_an_exception", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    scripted_operation<void(std::exception_ptr, int)> op(r.io.get_executor());
    std::exception_ptr got;
    int value = 0;
    op.async_run(timeout(r.wheel, 10ms, [&](std::exception_ptr e, int v) {
        got = e;
        value = v;
    }));
    r.pass(20ms);
    SUBCASE("aborted becomes timed_out") {
        op.complete(std::make_exception_ptr(std::system_error(asio::error::operation_aborted)), 1);
        r.run();
        CHECK(code_of(got) == asio::error::timed_out);
    }
    SUBCASE("another error stays") {
        op.complete(std::make_exception_ptr(std::system_error(asio::error::eof)), 1);
        r.run();
        CHECK(code_of(got) == asio::error::eof);
    }
    SUBCASE("another exception stays the very same") {
        const auto mine = std::make_exception_ptr(std::logic_error("mine"));
        op.complete(mine, 1);
        r.run();
        CHECK(got == mine);
    }
    SUBCASE("none is none") {
        op.complete(nullptr, 1);
        r.run();
        CHECK(got == nullptr);
    }
    CHECK(value == 1);
}

TEST_CASE_TEMPLATE("results_that_can_only_be_moved_arrive", Wheel, BOTH_WHEELS) {
    timeout_rig<Wheel> r;
    scripted_operation<void(std::error_code, std::unique_ptr<int>)> op(r.io.get_executor());
    int value = 0;
    bool inside = false;
    SUBCASE("at once") {}
    SUBCASE("waiting for the emission") { inside = true; }
    op.on_cancel = [&](asio::cancellation_type) { op.complete({}, std::make_unique<int>(5)); };
    op.async_run(timeout(r.wheel, 10ms, [&](std::error_code, std::unique_ptr<int> p) { value = *p; }));
    if (inside)
        r.pass(20ms);
    else
        op.complete({}, std::make_unique<int>(5));
    r.run();
    CHECK(value == 5);
}
