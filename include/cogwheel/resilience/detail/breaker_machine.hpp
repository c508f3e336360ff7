// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The decisions of a circuit breaker: closed, open, half open (M. Nygard, "Release It!", 2007). The caller passes the
// time in. Each operation is O(1), except that opening costs O(log n) for the n-th time in a row.
//
// Each change of state begins a new generation. A call belongs to the generation that allowed it. The end of a call of
// an older generation is only counted, because it shows nothing about the peer's present state.
#pragma once

#include <cogwheel/resilience/circuit_options.hpp>
#include <cogwheel/resilience/detail/call_window.hpp>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

enum class verdict { succeeded, failed, abandoned };

class breaker_machine {
public:
    using nanoseconds = std::chrono::nanoseconds;

    explicit breaker_machine(const circuit_breaker_options& options)
        : options_(options), window_(options.window), pauses_(options.open_for) {}

    circuit_state state() const noexcept { return state_; }
    std::uint64_t generation() const noexcept { return generation_; }
    const circuit_stats& stats() const noexcept { return stats_; }
    random_ref random() const noexcept { return options_.random; }

    /// Returns when the open state ends. Preconditions: the breaker is open.
    nanoseconds open_until() const noexcept { return open_until_; }

    /// Returns true if allow() uses the time. To read a clock is most of allow()'s cost, so the caller asks first.
    bool allow_needs_time() const noexcept { return state_ != circuit_state::closed; }
    /// Returns true if ended() uses the time.
    bool end_needs_time(verdict v) const noexcept {
        return v == verdict::failed || state_ == circuit_state::half_open ||
               (v == verdict::succeeded && options_.failure_rate > 0);
    }

    /// Returns true if a call may be made. The call then belongs to generation(), and the caller passes its end to
    /// ended(), once. Makes an open breaker half open if its time is over, so the breaker works without a timer. Opens
    /// a half open breaker whose probes take too long. Errors: those of the generator; then nothing changes.
    template <class Generator>
    bool allow(nanoseconds now, Generator& random) {
        if (state_ == circuit_state::half_open && in_flight_ != 0 && now >= probes_until_) open(probes_until_, random);
        if (state_ == circuit_state::open) elapsed(now);
        if (state_ == circuit_state::open || (state_ == circuit_state::half_open && !probe_wanted())) {
            ++stats_.refused;
            return false;
        }
        if (state_ == circuit_state::half_open) {
            ++in_flight_;
            wait_for_probes(now);
        }
        ++stats_.allowed;
        return true;
    }

    /// Counts the end of a call. Errors: those of the generator; then the call is counted, but the state stays.
    template <class Generator>
    void ended(verdict v, std::uint64_t generation, nanoseconds now, Generator& random) {
        ++(v == verdict::succeeded ? stats_.succeeded : v == verdict::failed ? stats_.failed : stats_.abandoned);
        if (generation != generation_) {
            if (v != verdict::abandoned) ++stats_.late;
            return;
        }
        if (state_ == circuit_state::half_open) {
            --in_flight_;
            wait_for_probes(now);
            if (v == verdict::failed) return open(now, random);
            if (v == verdict::succeeded && ++passed_ >= options_.probes_to_close) close();
        } else if (v != verdict::abandoned) {
            const bool failed = v == verdict::failed;
            in_a_row_ = failed ? in_a_row_ + 1 : 0;
            if (options_.failure_rate > 0) window_.record(failed, now);
            if (failed && too_many()) open(now, random);
        }
    }

    /// Makes the breaker half open if it is open and its time is over. Returns true if it did.
    bool elapsed(nanoseconds now) noexcept {
        if (state_ != circuit_state::open || now < open_until_) return false;
        enter(circuit_state::half_open);
        return true;
    }

    void close() noexcept {
        pauses_.reset();
        enter(circuit_state::closed);
    }

private:
    void wait_for_probes(nanoseconds now) noexcept { probes_until_ = saturating_add(now, options_.probe_timeout); }
    bool probe_wanted() const noexcept {
        return in_flight_ < options_.probes && in_flight_ + passed_ < options_.probes_to_close;
    }

    bool too_many() const noexcept {
        if (options_.failures_in_a_row != 0 && in_a_row_ >= options_.failures_in_a_row) return true;
        if (options_.failure_rate <= 0 || window_.calls() < options_.min_calls) return false;
        return static_cast<double>(window_.failures()) >= options_.failure_rate * static_cast<double>(window_.calls());
    }

    template <class Generator>
    void open(nanoseconds now, Generator& random) {
        open_until_ = saturating_add(now, pauses_.next(random)); // first, because it may throw
        ++stats_.opened;
        enter(circuit_state::open);
    }
    void enter(circuit_state s) noexcept {
        state_ = s;
        ++generation_;
        in_a_row_ = in_flight_ = passed_ = 0;
        window_.clear();
    }

    circuit_breaker_options options_;
    call_window window_;
    backoff_sequence pauses_;
    circuit_state state_ = circuit_state::closed;
    std::uint64_t generation_ = 0;
    nanoseconds open_until_{};
    std::uint32_t in_a_row_ = 0;
    std::uint32_t in_flight_ = 0; // probes that run
    std::uint32_t passed_ = 0;    // probes that succeeded
    nanoseconds probes_until_{};  // if no probe starts or ends until then, the running ones have failed
    circuit_stats stats_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
