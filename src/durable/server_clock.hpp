// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Maps the time of a server to the steady clock of this process, by the round trips that bring a time. The method is
// that of NTP (RFC 5905): the sample with the shortest round trip is the best one, and half of its round trip bounds
// the error. It has no clock and does no I/O. The server decides what is due; this only says when to ask.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace cogwheel::inline v0::detail {

class server_clock {
public:
    using steady_point = std::chrono::steady_clock::time_point;
    using microseconds = std::chrono::microseconds;

    /// Takes a sample: the server's time in us since 1970, in the reply to a command sent and received then.
    void observe(steady_point sent, steady_point received, std::int64_t server_us) noexcept {
        const auto trip = std::max(std::chrono::nanoseconds::zero(), std::chrono::nanoseconds(received - sent));
        const sample fresh{to_us(sent) + to_us(trip) / 2, server_us, to_us(trip), true};
        // A server whose clock was set, or another one after a failover: the old samples are wrong.
        if (best_.valid && distance(fresh, best_) > (fresh.trip + best_.trip) / 2 + drift_limit) {
            recent_ = {};
            best_ = {};
        }
        recent_[next_++ % recent_.size()] = fresh;
        best_ = {};
        for (const sample& s : recent_)
            if (s.valid && (!best_.valid || s.trip < best_.trip)) best_ = s;
    }

    bool known() const noexcept { return best_.valid; }

    /// Returns the server's time in us. Preconditions: known().
    std::int64_t now_us(steady_point now) const noexcept { return best_.server + (to_us(now) - best_.local); }

    /// Returns when the server's time will be this. Preconditions: known().
    steady_point point(std::int64_t server_us) const noexcept {
        return steady_point(microseconds(best_.local + std::clamp(server_us - best_.server, -century, century)));
    }

private:
    struct sample {
        std::int64_t local = 0, server = 0, trip = 0; // us
        bool valid = false;
    };
    static constexpr std::int64_t drift_limit = 500; // us, between two samples of the window
    static constexpr std::int64_t century = 3'153'600'000'000'000;

    template <class Point>
    static std::int64_t to_us(Point p) noexcept {
        if constexpr (requires { p.time_since_epoch(); })
            return std::chrono::floor<microseconds>(p.time_since_epoch()).count();
        else
            return std::chrono::floor<microseconds>(p).count();
    }
    static std::int64_t distance(const sample& a, const sample& b) noexcept {
        const std::int64_t d = (a.server - a.local) - (b.server - b.local);
        return d < 0 ? -d : d;
    }

    std::array<sample, 32> recent_{};
    std::size_t next_ = 0;
    sample best_{};
};

} // namespace cogwheel::inline v0::detail
