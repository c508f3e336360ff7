// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// poll_loop: the core alone, on an event loop that is not Asio's: poll(2). It links cogwheel::wheel.
// Arguments: [IDLE [BEAT]].
//
// Reads standard input. Each line pushes an idle timer back; a heartbeat prints each BEAT ms (500) how many lines have
// come. The program ends with the input, or when no line has come for IDLE ms (2000).
//
// An event loop needs three things of a wheel: advance(now) each time it wakes, next_due() for how long it may sleep,
// and a completion function in each node.
#include <cogwheel/wheel/hashed_wheel.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <optional>
#include <system_error>
#include <utility>

#include <poll.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

/// poll(2) and a wheel.
class loop {
public:
    /// Runs its function when it expires. Lifetime: the loop outlives it, and it does not move.
    class timer : private cogwheel::timer_node {
    public:
        timer(loop& on, std::function<void()> f) : timer_node(&expired), loop_(on), function_(std::move(f)) {
            loop_.nodes_.attach(*this);
        }
        ~timer() {
            if (armed()) loop_.wheel_.cancel(*this);
            loop_.nodes_.detach(*this);
        }

        /// Expires `delay` from now; a timer that is pending moves there, as a rule by one store.
        void start(std::chrono::nanoseconds delay) {
            const cogwheel::tick due = loop_.scale_.due(cogwheel::detail::saturating_add(loop_.elapsed(), delay));
            if (armed())
                loop_.wheel_.reschedule(*this, due);
            else
                loop_.wheel_.schedule(*this, due);
        }

    private:
        static void expired(timer_node& node, void*) { static_cast<timer&>(node).function_(); }

        loop& loop_;
        std::function<void()> function_;
    };

    /// Sleeps until the descriptor is readable (true) or a timer is due, and fires what is due.
    bool wait(int descriptor) {
        pollfd waited{.fd = descriptor, .events = POLLIN, .revents = 0};
        const int ready = ::poll(&waited, 1, sleep_for());
        if (ready < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "poll");
        // What a completion function arms for the present waits for the next call; sleep_for() is 0 then.
        wheel_.advance(scale_.now(elapsed()));
        return ready > 0;
    }

private:
    std::chrono::nanoseconds elapsed() const { return clock_type::now() - origin_; }

    /// Milliseconds, as poll() takes them: rounded up, so that it does not wake before the tick; -1 without a timer.
    int sleep_for() {
        const std::optional<cogwheel::tick> due = wheel_.next_due();
        if (!due) return -1;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(scale_.start_of(*due) - elapsed());
        return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, INT_MAX));
    }

    cogwheel::tick_scale scale_{10ms};
    clock_type::time_point origin_ = clock_type::now();
    cogwheel::node_table nodes_;
    cogwheel::hashed_wheel wheel_{nodes_, 512};
};

void count_lines(std::chrono::milliseconds idle_limit, std::chrono::milliseconds beat) {
    std::uint64_t lines = 0;
    bool idle = false;
    const auto say = [&](const char* what) {
        std::printf("%s%llu lines\n", what, static_cast<unsigned long long>(lines));
        if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category(), "standard output");
    };
    loop l;
    loop::timer idle_timer(l, [&] { idle = true; });
    loop::timer heartbeat(l, [&] {
        say("");
        heartbeat.start(beat);
    });
    idle_timer.start(idle_limit);
    heartbeat.start(beat);

    std::array<char, 4096> buffer;
    while (!idle) {
        if (!l.wait(STDIN_FILENO)) continue;
        const ssize_t n = ::read(STDIN_FILENO, buffer.data(), buffer.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) throw std::system_error(errno, std::generic_category(), "standard input");
        if (n == 0) break;
        const auto more = std::count(buffer.begin(), buffer.begin() + n, '\n');
        lines += static_cast<std::uint64_t>(more);
        if (more != 0) idle_timer.start(idle_limit);
    }
    say(idle ? "idle: " : "end of input: ");
}

} // namespace

int main(int argc, char** argv) {
    try {
        count_lines(std::chrono::milliseconds(argc > 1 ? std::atoi(argv[1]) : 2000),
                    std::chrono::milliseconds(argc > 2 ? std::atoi(argv[2]) : 500));
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "poll_loop: %s\n", error.what());
        return 1;
    }
}
