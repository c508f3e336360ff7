// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// pending_requests in virtual time, and a book of how requests ended. The same tests run where the wheel's turns are
// turns of the strand, and where they are not.
#pragma once

#include "support/asio/handler_archetypes.hpp"
#include "support/asio/virtual_wheel.hpp"
#include "support/asio_versions.hpp"

#include <cogwheel/net/pending_requests.hpp>

#include <asio/io_context.hpp>
#include <asio/strand.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace cogwheel_tests {

struct request_end {
    int key;
    std::error_code ec;
    std::string response;

    friend bool operator==(const request_end&, const request_end&) = default;
    friend std::ostream& operator<<(std::ostream& out, const request_end& e) {
        return out << e.key << ": " << e.ec.message() << " \"" << e.response << '"';
    }
};

using request_book = std::vector<request_end>;

inline std::ostream& operator<<(std::ostream& out, const request_book& book) {
    for (const request_end& e : book) out << '[' << e << "] ";
    return out;
}

/// Move-only, and demands no more of its caller than a handler may.
class book_keeper {
public:
    book_keeper(request_book& book, int key) : call_(new call{&book, key}) {}

    void operator()(std::error_code ec, std::string response) {
        REQUIRE_MESSAGE(call_, "a moved-from handler was invoked");
        const auto last = std::move(call_); // once only
        last->book->push_back({last->key, ec, std::move(response)});
    }

private:
    struct call {
        request_book* book;
        int key;
    };
    std::unique_ptr<call> call_;
};

inline bool counts_agree(const cogwheel::request_stats& s) {
    return s.started == s.answered + s.timed_out + s.failed + s.cancelled + s.in_flight;
}

inline const std::error_code aborted = asio::error::operation_aborted;
inline const std::error_code timed_out = asio::error::timed_out;

template <class Wheel, bool OnStrand>
struct request_rig {
    using wheel_type = Wheel;
    using requests_type = cogwheel::pending_requests<int, std::string, Wheel>;
    using limit = typename requests_type::limit_type;
    using deadline = typename limit::deadline_type;
    static constexpr bool on_strand = OnStrand;

    asio::io_context io;
    Wheel wheel;
    asio::strand<asio::io_context::executor_type> strand;
    asio::any_io_executor home;
    std::unique_ptr<requests_type> requests;
    request_book book;

    explicit request_rig(const cogwheel::request_options& options = {}, const cogwheel::wheel_options& w = {})
        : wheel(io, w),
          strand(asio::make_strand(io)),
          home(OnStrand ? asio::any_io_executor(strand) : wheel.get_executor()) {
        requests = std::make_unique<requests_type>(wheel, home, options);
    }

    void ask(int key, limit l = std::chrono::hours(1)) { requests->async_wait(key, l, book_keeper(book, key)); }

    void run() { run_ready(io); }
    void pass(std::chrono::nanoseconds by) { cogwheel_tests::pass(io, by); }

    /// What has ended since the last time, in that order.
    request_book ended() {
        CHECK(counts_agree(requests->stats()));
        run();
        return std::exchange(book, {});
    }
    /// The same after some time.
    request_book ended_after(std::chrono::nanoseconds by) {
        manual_clock::advance(by);
        return ended();
    }
};

using requests_at_home = request_rig<cogwheel::testing::manual_timer_wheel, false>;
using requests_at_home_unlocked = request_rig<manual_local_timer_wheel, false>;
using requests_on_strand = request_rig<cogwheel::testing::manual_timer_wheel, true>;

} // namespace cogwheel_tests

// The types of a TEST_CASE_TEMPLATE.
#define EVERY_REQUESTS                                                                                                 \
    cogwheel_tests::requests_at_home, cogwheel_tests::requests_at_home_unlocked, cogwheel_tests::requests_on_strand
