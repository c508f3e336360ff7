// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The core alone, on an event loop that is not Asio's: poll(2). Links cogwheel::wheel and nothing else of Cogwheel.
//
// Reads standard input. Each line pushes an idle timer back; a heartbeat prints how many lines have come. The program
// ends with the input, or when no line has come for --idle.
//
// An event loop needs three things of a wheel: advance(now) each time it wakes, next_due() for how long it may sleep,
// and a completion function in each node.
#include "support/command_line.hpp"

#include <cogwheel/wheel/hashed_wheel.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <functional>
#include <optional>
#include <system_error>

#include <poll.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

constexpr std::string_view usage = R"(usage: poll_loop [options]
Reads standard input, on a loop of poll(2) with a timing wheel.

  --idle D   end when no line has come for so long (default 2s)
  --beat D   print how many lines have come, so often (default 500ms)

A duration D is a number and a unit: 500ms, 1.5s, 2m, 1h.
)";

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

struct options {
    std::chrono::nanoseconds idle = 2s, beat = 500ms;
    bool help = false;
};

options read(int argc, char** argv) {
    options o;
    for (command_line::reader line(argc, argv); line.next();) {
        if (line.name() == "--help" || line.name() == "-h")
            o.help = true;
        else if (line.name() == "--idle")
            o.idle = line.positive_duration();
        else if (line.name() == "--beat")
            o.beat = line.positive_duration();
        else
            line.unknown();
    }
    return o;
}

int count_lines(const options& o) {
    std::uint64_t lines = 0;
    bool idle = false;
    loop l;
    loop::timer idle_timer(l, [&] { idle = true; });
    loop::timer heartbeat(l, [&] {
        fmt::print("{} lines\n", lines);
        output::flush();
        heartbeat.start(o.beat);
    });
    idle_timer.start(o.idle);
    heartbeat.start(o.beat);

    std::array<char, 4096> buffer;
    while (!idle) {
        if (!l.wait(STDIN_FILENO)) continue;
        const ssize_t n = ::read(STDIN_FILENO, buffer.data(), buffer.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) throw std::system_error(errno, std::generic_category(), "cannot read standard input");
        if (n == 0) break;
        const auto more = std::count(buffer.begin(), buffer.begin() + n, '\n');
        lines += static_cast<std::uint64_t>(more);
        if (more != 0) idle_timer.start(o.idle);
    }
    fmt::print("{}: {} lines\n", idle ? "idle" : "end of input", lines);
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    return command_line::run("poll_loop", [&] {
        const options o = read(argc, argv);
        if (!o.help) return count_lines(o);
        fmt::print("{}", usage);
        return 0;
    });
}
