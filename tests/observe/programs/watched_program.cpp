// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A program for page_test.py: a wheel that has worked and now rests, and its page. It prints "listening on" and the
// address, then its stats() as a line of JSON. For each line on standard input it lets the wheel work again, and prints
// the stats once more. It ends with its input.
#include "support/watch_endpoint.hpp"

#include <cogwheel/observe/handler_times.hpp>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/read_until.hpp>

#include <cstdio>

#include <unistd.h>

namespace {

using namespace std::chrono_literals;

using watched_wheel =
    cogwheel::basic_timer_wheel<std::chrono::steady_clock, cogwheel::multi_threaded,
                                cogwheel::observed_wheel<cogwheel::hashed_wheel, cogwheel::handler_times>>;

struct block_the_loop {
    void operator()() const {
        for (const auto end = std::chrono::steady_clock::now() + 30ms; std::chrono::steady_clock::now() < end;) {
        }
    }
};

class program {
public:
    int run() {
        page_.add("watched", wheel_);
        page_.add("empty", other_);
        endpoint_.start();
        std::printf("listening on %s\n", endpoint_.endpoint().c_str());
        work();
        await_line();
        io_.run();
        return 0;
    }

private:
    // Timers that fire, that are cancelled, that stay; of several kinds.
    void work() {
        for (int i = 1; i <= 20; ++i) wheel_.schedule(1ms * i, [] {});
        wheel_.schedule(30ms, block_the_loop{});
        for (int i = 0; i < 7; ++i) wheel_.schedule(1h, [] {}).cancel();
        for (int i = 0; i < 1'234; ++i) wheel_.schedule(1h + 1ms * i, [] {});
        wheel_.async_wait(1h, [](std::error_code) {});
        own_wheel_.schedule(300ms, [this] { report(); });
    }

    void report() {
        const auto s = wheel_.stats();
        const auto ns = [](std::chrono::nanoseconds d) { return static_cast<long long>(d.count()); };
        fmt::print(R"({{"pending":{},"scheduled":{},"fired":{},"cancelled":{},"rejected":{},"turns":{},"wakeups":{},)"
                   R"("empty_wakeups":{},"exhausted_turns":{},"largest_turn":{},"due":{},"entries":{},)"
                   R"("dead_entries":{},"late_p50":{},"late_p99":{},"late_max":{},"longest_turn":{})",
                   s.pending, s.scheduled, s.fired, s.cancelled, s.rejected, s.turns, s.wakeups, s.empty_wakeups,
                   s.exhausted_turns, s.largest_turn, s.due, s.entries, s.dead_entries, ns(s.lateness.p50),
                   ns(s.lateness.p99), ns(s.lateness.max), ns(s.longest[0].took));
        for (std::size_t k = 0; k < s.kinds.size(); ++k) {
            const auto kind = static_cast<cogwheel::timer_kind>(k);
            fmt::print(R"(,"kind-{}":{})", to_string(kind), s.of(kind).pending());
        }
        fmt::print("}}\n");
        std::fflush(stdout);
    }

    void await_line() {
        asio::async_read_until(input_, asio::dynamic_buffer(line_), '\n', [this](std::error_code ec, std::size_t n) {
            if (ec) return stop();
            line_.erase(0, n);
            work();
            await_line();
        });
    }

    void stop() {
        endpoint_.stop();
        wheel_.stop();
        own_wheel_.stop();
    }

    asio::io_context io_{1};
    watched_wheel wheel_{io_};
    cogwheel::timer_wheel other_{io_}, own_wheel_{io_};
    cogwheel::debug_page page_;
    watch_endpoint<cogwheel::timer_wheel> endpoint_{
        io_.get_executor(), own_wheel_, {.page = &page_}, {asio::ip::address_v4::loopback(), 0}, "watched_program"};
    asio::posix::stream_descriptor input_{io_, STDIN_FILENO};
    std::string line_;
};

} // namespace

int main() {
    output::prepare();
    return program().run();
}
