// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Maps the time of a server to the steady clock of this process, by the round trips that bring a time. The method is
// that of NTP (RFC 5905): the sample with the shortest round trip is the best one, and half of its round trip bounds
// the error. It has no clock and does no I/O. The server decides what is due; this only says when to ask.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

class server_clock {
public:
    using steady_point = std::chrono::steady_clock::time_point;
    using microseconds = std::chrono::microseconds;

    /// Takes a sample: the server's time in us since 1970, in the reply to a command sent and received then.
    void observe(steady_point sent, steady_point received, std::int64_t server_us) noexcept {
        const std::int64_t at = to_us(sent), trip = std::max<std::int64_t>(0, to_us(received) - at);
        const sample fresh{at + trip / 2, server_us, trip, server_us - at};
        // A server whose clock was set, or another one after a failover: the old samples are wrong.
        if (known() && distance(fresh, best_) > (fresh.trip + best_.trip) / 2 + drift_limit) used_ = 0;
        if (used_ == 0 || at - began_ >= period) {
            began_ = at;
            kept_[used_++ % kept_.size()] = fresh;
        } else {
            sample& now = kept_[(used_ - 1) % kept_.size()];
            const std::int64_t ahead = std::min(now.ahead, fresh.ahead);
            if (fresh.trip <= now.trip) now = fresh;
            now.ahead = ahead;
        }
        best_ = kept_[0];
        for (std::size_t i = 1; i < std::min(used_, kept_.size()); ++i) {
            const std::int64_t ahead = std::min(best_.ahead, kept_[i].ahead);
            if (kept_[i].trip < best_.trip) best_ = kept_[i];
            best_.ahead = ahead;
        }
    }

    bool known() const noexcept { return used_ > 0; }

    /// Returns the server's time in us. Preconditions: known().
    std::int64_t now_us(steady_point now) const noexcept { return best_.server + (to_us(now) - best_.local); }

    /// Returns when the server's time will be this. Preconditions: known().
    steady_point point(std::int64_t server_us) const noexcept {
        return steady_point(microseconds(best_.local + std::clamp(server_us - best_.server, -century, century)));
    }

    /// Returns when to ask, so that the question arrives when the server's time is this. It goes by the question that
    /// was fastest on its way there, whatever the way back took: so hardly a later one is faster, and too early.
    /// Preconditions: known().
    steady_point point_to_ask(std::int64_t server_us) const noexcept {
        return point(server_us) - microseconds(best_.ahead - (best_.server - best_.local));
    }

private:
    struct sample {
        std::int64_t local = 0, server = 0, trip = 0; // us; local: the middle of the round trip
        std::int64_t ahead = 0;                       // the server's time, less when the command was sent
    };
    // For so many periods the best sample of each is kept. A server that is busy for a moment delays all commands of
    // this moment, so that the best of some number of samples would be bad.
    static constexpr std::size_t periods = 8;
    static constexpr std::int64_t period = 250'000;  // us
    static constexpr std::int64_t drift_limit = 500; // us, between two samples
    static constexpr std::int64_t century = 3'153'600'000'000'000;

    static std::int64_t to_us(steady_point p) noexcept {
        return std::chrono::floor<microseconds>(p.time_since_epoch()).count();
    }
    static std::int64_t distance(const sample& a, const sample& b) noexcept {
        const std::int64_t d = (a.server - a.local) - (b.server - b.local);
        return d < 0 ? -d : d;
    }

    std::array<sample, periods> kept_{};
    std::size_t used_ = 0;   // periods since the last jump
    std::int64_t began_ = 0; // when the last one began
    sample best_{};          // the shortest round trip of all; `ahead`: the least of all
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
