// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What timers meet in a server, in one sequence: of 100 operations, 90 cancel a random timer and schedule it anew, 9
// push one back, 1 makes one fire at once (and schedules one that has fired before). Delays as G. K. Zipf would have
// them, from 1 ms to 1 h: each rank in milliseconds as probable as its inverse says; 15 s longer than that, so that
// where time is real nothing else fires.
#pragma once

#include "workloads/live_set.hpp"

#include <cmath>
#include <thread>

namespace bench {

template <movable_contender C>
class mixed_leg final : public timers_leg {
public:
    explicit mixed_leg(std::size_t timers) : timers_leg(timers), firing_(timers / 10) {}

    sample repeat(std::uint64_t repetition) override {
        using handle = typename C::handle;
        const auto warm_up = script(operations / 4, 2 * repetition + 1);
        const auto measured = script(operations, 2 * repetition + 2);
        live_set<C> set(timers_);
        set.schedule_all(numbers_in_order(timers_ - firing_ / 2), far_delay);
        next_ = 0;
        expected_ = 0;
        sample s;
        const auto apply = [this](C& c, handle* handles, const step& now) {
            switch (now.what) {
            case fate::cancelled: {
                handle& h = handles[now.number];
                const bool was_pending = c.cancel(h);
                c.schedule(h, now.number, now.delay);
                return was_pending;
            }
            case fate::pushed_back:
                c.move(handles[now.number], now.number, now.delay);
                return false;
            case fate::fired:
                break;
            }
            const std::uint32_t again = reserved(next_ + firing_ - firing_ / 2);
            c.schedule(handles[again], again, now.delay);
            const std::uint32_t due = reserved(next_++);
            c.move(handles[due], due, milliseconds(0));
            ++expected_;
            return false;
        };
        set.run(warm_up, apply);
        settle(set);
        const stopwatch watch;
        s.result.cancelled = set.run(measured, apply);
        settle(set);
        note_times(s, watch, operations);
        note_result(s, *set);
        return s;
    }

private:
    static constexpr std::uint64_t operations = 300'000;

    enum class fate : std::uint8_t { cancelled, pushed_back, fired };
    struct step {
        fate what;
        std::uint32_t number;
        milliseconds delay;
    };

    std::vector<step> script(std::size_t count, std::uint64_t seed) const {
        constexpr double longest = 3'600'000;
        splitmix64 random(seed);
        std::vector<step> list(count);
        for (step& s : list) {
            const std::uint32_t percent = random.below(100);
            s.what = percent < 90 ? fate::cancelled : percent < 99 ? fate::pushed_back : fate::fired;
            s.number = random.below(timers_ - firing_);
            const double u = static_cast<double>(random() >> 11) * 0x1p-53;
            s.delay = milliseconds(15'000 + static_cast<std::int64_t>(std::exp(u * std::log(longest))));
        }
        return list;
    }

    // The last tenth takes turns at firing; half of them has fired already, at any time, so that no other step meets
    // one of them.
    std::uint32_t reserved(std::uint64_t turn) const {
        return static_cast<std::uint32_t>(timers_ - firing_ + turn % firing_);
    }

    // Ticks end when they end: what is due fires within one.
    void settle(live_set<C>& set) const {
        for (int i = 0; i < 1000 && (*set).fired().fired < expected_; ++i) {
            if (C::real_time) std::this_thread::sleep_for(milliseconds(1));
            (*set).work(1000, [] {});
        }
        if ((*set).fired().fired != expected_) throw std::runtime_error("not every timer fired, or one did twice");
    }

    std::size_t firing_;
    std::uint64_t next_ = 0;
    std::uint64_t expected_ = 0;
};

} // namespace bench
