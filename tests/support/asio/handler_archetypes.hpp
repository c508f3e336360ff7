// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Handlers that demand as little as a completion handler may, and fail the test unless they are treated as promised.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <asio/error.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <system_error>

namespace cogwheel_tests {

/// Move-only. Fails unless it is invoked exactly once, with `expected`.
class must_complete {
public:
    explicit must_complete(std::error_code expected = {}, bool* done = nullptr) : call_(new call{expected, done}) {}

    void operator()(std::error_code ec) {
        REQUIRE_MESSAGE(call_, "a moved-from handler was invoked");
        CHECK_MESSAGE(ec == call_->expected, "completed with: ", ec.message());
        ++call_->times;
        if (call_->done != nullptr) *call_->done = true;
    }

private:
    struct call {
        std::error_code expected;
        bool* done;
        int times = 0;

        ~call() { CHECK_MESSAGE(times == 1, "invoked ", times, " times instead of once"); }
    };
    std::unique_ptr<call> call_;
};

inline must_complete must_abort(bool* done = nullptr) { return must_complete(asio::error::operation_aborted, done); }

/// Move-only, for waits and for scheduled callables. Fails if it is invoked; `destroyed` counts its end.
class must_not_run {
public:
    explicit must_not_run(int* destroyed = nullptr) : life_(new life{destroyed}) {}

    void operator()() const { FAIL_CHECK("a callable ran that must not"); }
    void operator()(std::error_code ec) const { FAIL_CHECK("a handler completed that must not: ", ec.message()); }

private:
    struct life {
        int* destroyed;
        ~life() {
            if (destroyed != nullptr) ++*destroyed;
        }
    };
    std::unique_ptr<life> life_;
};

} // namespace cogwheel_tests
