// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Decides when a connection is idle. The caller passes the time in, in nanoseconds since any epoch.
//
// Activity is a store. next() returns the event that is due, and the time of the next look: the next call of next().
// After activity, that look is too early, and next() returns a later time. So one timer serves all kinds, and activity
// never moves it. A kind is due one period after its last activity or event, whichever is later. A late look loses no
// event. Cheap to copy, no allocation, O(1). Thread safety: one thread at a time.
#pragma once

#include <cogwheel/net/idle_timeouts.hpp>
#include <cogwheel/resilience/random.hpp>
#include <cogwheel/wheel/tick.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Stands for queues of which nothing is known.
struct no_queues {
    static bool input_waits() noexcept { return false; }
    static std::optional<std::uint64_t> output_progress() noexcept { return {}; }
};

class idle_machine {
public:
    using nanoseconds = std::chrono::nanoseconds;

    /// The event that is due, if any, and the time of the next look (max(): only after a change of the timeouts).
    struct step {
        std::optional<idle_event> event;
        nanoseconds look_at{};
    };

    /// Preconditions: `limits` are valid. `seed` is used if `limits.seed` is 0.
    idle_machine(const idle_timeouts& limits, nanoseconds now, std::uint64_t seed) noexcept
        : stamps_{now, now}, random_(limits.seed != 0 ? limits.seed : seed) {
        set_limits(limits);
    }

    void read(nanoseconds now) noexcept { stamps_[0] = now; }
    void written(nanoseconds now) noexcept { stamps_[1] = now; }

    /// Records the output's progress at a write, eight times a timeout at most: only later progress is activity.
    template <class Queues>
    void sample(nanoseconds now, Queues&& queues) noexcept {
        if (now < sample_at_) return;
        nanoseconds limit = nanoseconds::max();
        for (const std::size_t i : {writer, all, ping})
            if (kinds_[i].limit != nanoseconds::zero()) limit = std::min(limit, kinds_[i].limit);
        sample_at_ = saturating_add(now, limit / 8);
        if (limit == nanoseconds::max()) return;
        if (const std::optional<std::uint64_t> progress = queues.output_progress()) progress_ = *progress;
    }

    /// Marks the time in which the program processes its input: the connection is not idle then. The calls nest.
    void begin_read() noexcept { ++reading_; }
    void end_read(nanoseconds now) noexcept {
        if (reading_ != 0) --reading_; // 0: a reset came between
        read(now);
    }

    /// Resets the times, as if the connection had begun now. The next event of each kind is a first one.
    void reset(nanoseconds now) noexcept {
        reset_read(now);
        written(now);
    }
    /// Does the same for reads only. Forgets every begin_read().
    void reset_read(nanoseconds now) noexcept {
        reading_ = 0;
        read(now);
    }

    /// Sets other timeouts. They count from the last activity or event, which may be longer ago than a timeout.
    void set_limits(const idle_timeouts& limits) noexcept {
        if (limits.seed != 0) random_ = small_random(limits.seed);
        const std::array values{limits.reader, limits.writer, limits.all, limits.ping};
        jitter_ = static_cast<float>(limits.jitter);
        sample_at_ = nanoseconds::min();
        for (std::size_t i = 0; i < kinds_.size(); ++i) {
            kinds_[i].limit = later(values[i], nanoseconds::zero());
            kinds_[i].extra = draw();
        }
    }

    /// Returns when an event is due if there is no activity. nanoseconds::max(): only after a change of the timeouts.
    nanoseconds look_at(double factor) const noexcept {
        nanoseconds at = nanoseconds::max();
        for (std::size_t i = 0; i < kinds_.size(); ++i)
            if (const nanoseconds d = due(i, factor); d < at) at = d;
        return at;
    }

    /// Returns the event that is due, if any, and when to look again.
    /// Parameters: `factor`: shortens all timeouts, 0 < factor <= 1. `queues`: has input_waits() and output_progress()
    ///   of idle_probe. They may cost system calls, so they are called only when an event would be due.
    template <class Queues>
    step next(nanoseconds now, double factor, Queues&& queues) noexcept {
        const bool in = is_due(reader, now, factor), out = is_due(writer, now, factor);
        const bool both = is_due(all, now, factor) || is_due(ping, now, factor);
        if ((in || both) && (reading_ != 0 || queues.input_waits())) read(now);
        if (out || both) {
            const std::optional<std::uint64_t> progress = queues.output_progress();
            if (progress && *progress != progress_) {
                progress_ = *progress;
                written(now);
            }
        }
        step s;
        for (std::size_t i = 0; i < kinds_.size() && !s.event; ++i)
            if (is_due(i, now, factor)) s.event = emit(i, now);
        s.look_at = look_at(factor);
        return s;
    }

    /// Returns the longest period at factor 1. A factor lower by d shortens each wait by at most d x this period.
    nanoseconds longest_period() const noexcept {
        nanoseconds longest{};
        for (const kind_state& k : kinds_) longest = later(longest, period(k, 1));
        return longest;
    }

private:
    static constexpr std::size_t reader = 0, writer = 1, all = 2, ping = 3; // the values of idle_kind
    static constexpr nanoseconds never = nanoseconds::min();

    struct kind_state {
        nanoseconds limit{};
        nanoseconds at = never;    // of the last event
        nanoseconds stamp = never; // of the last activity before it
        float extra = 0;           // the random part of this period, as a share of the timeout
    };

    static nanoseconds later(nanoseconds a, nanoseconds b) noexcept { return a > b ? a : b; }

    nanoseconds stamp(std::size_t kind) const noexcept {
        if (kind == all) return later(stamps_[0], stamps_[1]);
        return kind == ping ? std::min(stamps_[0], stamps_[1]) : stamps_[kind];
    }

    // Rounds up. Exact if `share` is 0 or 1.
    static nanoseconds scaled(nanoseconds limit, double share) noexcept {
        if (share == 1 || share == 0) return share == 1 ? limit : nanoseconds::zero();
        return saturate_to_ns(std::chrono::duration<double, std::nano>(static_cast<double>(limit.count()) * share));
    }
    static nanoseconds period(const kind_state& k, double factor) noexcept {
        return saturating_add(scaled(k.limit, factor), scaled(k.limit, factor * static_cast<double>(k.extra)));
    }

    nanoseconds due(std::size_t kind, double factor) const noexcept {
        const kind_state& k = kinds_[kind];
        if (k.limit == nanoseconds::zero()) return nanoseconds::max();
        const nanoseconds at = saturating_add(later(stamp(kind), k.at), period(k, factor));
        if ((kind != reader && kind != all) || kinds_[ping].limit == nanoseconds::zero() || k.at > stamps_[0])
            return at;
        // Without a ping since the last read, silence proves nothing: the program may have slept, or the factor fallen.
        if (asked_at_ <= stamps_[0]) return nanoseconds::max();
        return later(at, saturating_add(asked_at_, period(k, factor) - scaled(kinds_[ping].limit, factor)));
    }
    bool is_due(std::size_t kind, nanoseconds now, double factor) const noexcept {
        const nanoseconds at = due(kind, factor);
        return at <= now && at != nanoseconds::max();
    }

    idle_event emit(std::size_t kind, nanoseconds now) noexcept {
        kind_state& k = kinds_[kind];
        const nanoseconds since = stamp(kind);
        const nanoseconds before = since == never ? nanoseconds::max() : -since; // the negative of never overflows
        const idle_event event{static_cast<idle_kind>(kind), since != k.stamp, saturating_add(now, before)};
        if (kind == ping && asked_at_ <= stamps_[0]) asked_at_ = now;
        k.at = now;
        k.stamp = since;
        k.extra = draw();
        return event;
    }

    float draw() noexcept { return jitter_ == 0 ? 0 : static_cast<float>(random_() >> 40) * 0x1p-24F * jitter_; }

    alignas(16) std::array<nanoseconds, 2> stamps_; // the last read and the last write, in one cache line: one store
    std::array<kind_state, 4> kinds_{};
    nanoseconds asked_at_ = never; // the first ping since the last read
    std::uint64_t progress_ = 0;
    nanoseconds sample_at_{}; // sample() does nothing before this time
    small_random random_;
    float jitter_ = 0;
    std::uint32_t reading_ = 0;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
