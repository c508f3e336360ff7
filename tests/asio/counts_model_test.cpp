// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Every count of a wheel against a plain model, after each handler of the loop: random steps with callables, waits and
// timer objects, with handlers that take their time, on a small and on the default wheel.
#include "support/asio/handler_archetypes.hpp"
#include "support/asio/virtual_wheel.hpp"
#include "support/random.hpp"

#include <cogwheel/asio/hierarchical_timer_wheel.hpp>
#include <cogwheel/asio/wheel_timer.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

namespace {

/// What a histogram of these values must show.
struct counted_values {
    std::vector<nanoseconds> values;

    bool shown_by(const duration_histogram& h) const {
        nanoseconds sum{}, most{};
        for (const nanoseconds v : values) {
            sum += v;
            most = std::max(most, v);
        }
        for (std::size_t i = 0; i < h.bounds; ++i) {
            const auto n = std::count_if(values.begin(), values.end(), [&](nanoseconds v) { return v <= h.bound(i); });
            if (h.at_most(i) != static_cast<std::uint64_t>(n)) return false;
        }
        return h.total() == values.size() && h.at_most(h.bounds) == values.size() && h.max() == most &&
               std::abs(h.sum_seconds() * 1e9 - static_cast<double>(sum.count())) < 1;
    }
};

template <class Wheel>
class counts_rig {
    static constexpr nanoseconds tick_length = 1ms;

public:
    counts_rig(std::uint64_t seed, std::size_t slots)
        : random_(seed), wheel_(io_, {.tick = tick_length, .slots = slots, .max_pending = 40, .work_per_turn = work}) {}
    ~counts_rig() {
        objects_.clear();
        wheel_.stop();
        run_ready(io_);
    }

    void step() {
        switch (random_.below(10)) {
        case 0:
        case 1:
            return schedule();
        case 2:
            return wait();
        case 3:
            return start_object();
        case 4:
        case 5:
            return cancel();
        case 6:
            return move();
        case 7: // several at once, so that a turn does not suffice
            for (std::uint64_t n = random_.below(12), at = random_.below(4); n != 0; --n) schedule(milliseconds(at));
            return;
        case 8:
            if (random_.below(40) == 0) {
                for (timer* t : pending()) end(*t, &timer_counts::cancelled);
                wheel_.cancel_all();
            }
            return;
        default:
            manual_clock::advance(std::chrono::microseconds(random_.below(random_.below(8) == 0 ? 40'000 : 3'000)));
            run();
        }
    }

    void compare() {
        const wheel_stats s = wheel_.stats();
        const auto live = pending();
        CHECK(s.pending == live.size());
        std::uint64_t scheduled = 0, fired = 0, cancelled = 0;
        for (std::size_t k = 0; k < s.kinds.size(); ++k) {
            CAPTURE(k);
            CHECK(s.kinds[k] == kinds_[k]);
            scheduled += kinds_[k].scheduled;
            fired += kinds_[k].fired;
            cancelled += kinds_[k].cancelled;
        }
        CHECK(s.scheduled == scheduled);
        CHECK(s.fired == fired);
        CHECK(s.cancelled == cancelled);
        CHECK(s.rejected == rejected_);
        CHECK(late_.shown_by(s.lateness.histogram));
        compare_quantiles(s);
        compare_structure(s, live);
        if (in_turn_) return; // its end is still to be counted
        CHECK(s.turns == took_.values.size());
        CHECK(took_.shown_by(s.turn_duration));
        CHECK(s.wakeups == wakeups_);
        CHECK(s.empty_wakeups == empty_wakeups_);
        CHECK(s.largest_turn == largest_);
        CHECK(s.exhausted_turns >= exhausted_);
    }

private:
    static constexpr std::uint32_t work = 5;
    using milliseconds = std::chrono::milliseconds;
    using token = typename Wheel::token_type;
    using object_type = basic_wheel_timer<basic_timer_wheel<manual_clock, multi_threaded, hashed_wheel>>;

    struct timer {
        timer_kind kind;
        std::uint64_t due = 0; // tick
        bool live = true;
        token handle{};
        std::unique_ptr<asio::cancellation_signal> signal{};
    };

    std::uint64_t tick_of(nanoseconds delay) const {
        const nanoseconds now = manual_clock::now() - origin_;
        if (delay <= 0ns) return static_cast<std::uint64_t>(now / tick_length);
        return static_cast<std::uint64_t>((now + delay + tick_length - 1ns) / tick_length);
    }
    nanoseconds some_delay() {
        const auto us = static_cast<std::int64_t>(random_.below(random_.below(6) == 0 ? 400'000 : 9'000)) - 500;
        return std::chrono::microseconds(us);
    }
    std::vector<timer*> pending() {
        std::vector<timer*> live;
        for (const auto& t : timers_)
            if (t->live) live.push_back(t.get());
        return live;
    }
    timer_counts& of(timer_kind kind) { return kinds_[static_cast<std::size_t>(kind)]; }

    bool admitted() {
        if (pending().size() < 40) return true;
        ++rejected_;
        return false;
    }
    timer& start(timer_kind kind, nanoseconds delay) {
        ++of(kind).scheduled;
        timers_.push_back(std::make_unique<timer>(timer{kind, tick_of(delay)}));
        return *timers_.back();
    }
    void end(timer& t, std::uint64_t timer_counts::* how) {
        CHECK(t.live);
        t.live = false;
        ++(of(t.kind).*how);
    }

    void schedule() { schedule(some_delay()); }
    void schedule(nanoseconds delay) {
        if (!admitted()) return void(wheel_.schedule(delay, must_not_run()));
        timer& t = start(timer_kind::callable, delay);
        t.handle = wheel_.schedule(delay, [this, &t] { fired(t); });
    }
    void wait() {
        const nanoseconds delay = some_delay();
        if (!admitted()) return wheel_.async_wait(delay, must_complete(errc::too_many_timers));
        timer& t = start(timer_kind::wait, delay);
        t.signal = std::make_unique<asio::cancellation_signal>();
        wheel_.async_wait(delay, asio::bind_cancellation_slot(t.signal->slot(), [this, &t](std::error_code ec) {
                              if (!ec) fired(t);
                          }));
    }
    // A timer object with two waits: it counts once.
    void start_object() {
        if constexpr (std::is_same_v<Wheel, testing::manual_timer_wheel>) {
            if (objects_.size() < 4) objects_.push_back({std::make_unique<object_type>(wheel_), nullptr});
            auto& [object, t] = objects_[random_.below(objects_.size())];
            if (t != nullptr && t->live) end(*t, &timer_counts::cancelled);
            const nanoseconds delay = some_delay();
            object->expires_after(delay);
            if (!admitted()) {
                object->async_wait(must_complete(errc::too_many_timers));
                t = nullptr;
                return;
            }
            t = &start(timer_kind::object, delay);
            t->due = tick_of(std::max(delay, -(manual_clock::now() - origin_)));
            for (int i = 0; i < 2; ++i)
                object->async_wait([this, set = t, i](std::error_code ec) {
                    if (!ec && i == 0) fired(*set);
                });
        }
    }
    void cancel() {
        const auto live = pending();
        if (live.empty()) return;
        timer& t = *live[random_.below(live.size())];
        if (t.kind == timer_kind::object) return; // they are cancelled when they are set anew
        end(t, &timer_counts::cancelled);
        if (t.signal)
            t.signal->emit(asio::cancellation_type::total);
        else
            CHECK(t.handle.cancel());
    }
    void move() {
        const auto live = pending();
        if (live.empty()) return;
        timer& t = *live[random_.below(live.size())];
        if (t.kind != timer_kind::callable) return;
        const nanoseconds delay = some_delay();
        CHECK(t.handle.reschedule(delay));
        t.due = tick_of(delay);
    }

    void fired(timer& t) {
        end(t, &timer_counts::fired);
        late_.values.push_back(std::max(0ns, turn_start_ - static_cast<std::int64_t>(t.due) * tick_length));
        ++fired_in_turn_;
        if (random_.below(10) == 0) compare(); // in the middle of a turn
        if (random_.below(20) == 0) manual_clock::advance(std::chrono::microseconds(random_.below(5'000)));
        if (random_.below(10) == 0) schedule(0ns);
    }

    // Handler by handler: each is at most one turn of the wheel.
    void run() {
        io_.restart();
        for (;;) {
            const wheel_stats before = wheel_.stats();
            turn_start_ = manual_clock::now() - origin_;
            fired_in_turn_ = 0;
            std::uint64_t due_before = 0; // with a due tick, and armed before the turn
            for (timer* t : pending()) due_before += nanoseconds(t->due * tick_length) <= turn_start_ ? 1U : 0U;
            in_turn_ = true;
            const bool ran = io_.poll_one() != 0;
            in_turn_ = false;
            if (!ran) break;
            const wheel_stats after = wheel_.stats();
            const std::uint64_t turns = after.turns - before.turns;
            REQUIRE(turns <= 1);
            CHECK((turns == 1 || fired_in_turn_ == 0));
            const std::uint64_t wakeups = after.wakeups - before.wakeups;
            CHECK(wakeups <= 1);
            wakeups_ += wakeups;
            if (wakeups == 1 && fired_in_turn_ == 0) ++empty_wakeups_;
            largest_ = std::max(largest_, fired_in_turn_);
            if (turns == 1) took_.values.push_back(manual_clock::now() - origin_ - turn_start_);
            if (turns == 1 && fired_in_turn_ < due_before) {
                ++exhausted_;
                CHECK(after.exhausted_turns == before.exhausted_turns + 1);
                CHECK(after.next_due == 0ns);
            }
            compare();
        }
        CHECK(wheel_.stats().due == 0); // nothing is due when the loop has nothing left to do
    }

    void compare_quantiles(const wheel_stats& s) {
        std::vector<nanoseconds> sorted = late_.values;
        std::sort(sorted.begin(), sorted.end());
        CHECK(s.lateness.max == (sorted.empty() ? 0ns : sorted.back()));
        if (sorted.empty()) return;
        const auto near = [&](nanoseconds got, std::size_t rank) {
            const nanoseconds exact = sorted[rank == 0 ? 0 : rank - 1];
            return got >= exact && got <= exact + exact / 16;
        };
        CHECK(near(s.lateness.p50, (sorted.size() + 1) / 2));
        CHECK(near(s.lateness.p99, (sorted.size() * 99 + 99) / 100));
    }

    void compare_structure(const wheel_stats& s, const std::vector<timer*>& live) {
        const nanoseconds now = manual_clock::now() - origin_;
        std::uint64_t due = 0;
        nanoseconds first = nanoseconds::max();
        for (const timer* t : live) {
            const nanoseconds at = static_cast<std::int64_t>(t->due) * tick_length;
            due += at <= now ? 1U : 0U;
            first = std::min(first, at);
        }
        CHECK(s.due >= due);
        CHECK(s.due <= s.pending);
        CHECK(s.entries >= s.pending);
        CHECK(s.dead_entries == s.entries - s.pending);
        CHECK(s.bytes >= s.pending * 32);
        if (!live.empty()) {
            REQUIRE(s.next_due);
            CHECK(*s.next_due >= 0ns);
            CHECK(*s.next_due <= std::max(0ns, first - now));
        }
        const wheel_snapshot snapshot = wheel_.snapshot();
        std::uint64_t entries = 0;
        for (const level_stats& level : snapshot.levels) {
            entries += level.entries;
            CHECK((level.fullest_slot == 0) == (level.occupied_slots == 0));
        }
        CHECK(entries <= s.entries);
        CHECK(snapshot.kinds == s.kinds);
    }

    random_source random_;
    asio::io_context io_;
    manual_clock::time_point origin_ = manual_clock::now();
    Wheel wheel_;
    std::vector<std::unique_ptr<timer>> timers_;
    struct object_with_timer {
        std::unique_ptr<object_type> object;
        timer* last;
    };
    std::vector<object_with_timer> objects_;

    decltype(wheel_stats::kinds) kinds_{};
    std::uint64_t rejected_ = 0, wakeups_ = 0, empty_wakeups_ = 0, largest_ = 0, exhausted_ = 0;
    counted_values late_, took_;
    nanoseconds turn_start_{};
    std::uint64_t fired_in_turn_ = 0;
    bool in_turn_ = false;
};

template <class Wheel>
void compare_counts(std::size_t slots, std::uint64_t seeds) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        counts_rig<Wheel> rig(seed, slots);
        for (int i = 0; i < 150; ++i) {
            CAPTURE(i);
            rig.step();
            rig.compare();
        }
    }
}

} // namespace

TEST_CASE("counts_on_a_small_wheel_are_those_of_the_model") { compare_counts<testing::manual_timer_wheel>(4, 40); }

TEST_CASE("counts_on_the_default_wheel_are_those_of_the_model") {
    compare_counts<testing::manual_timer_wheel>(512, 20);
}

TEST_CASE("counts_on_levels_are_those_of_the_model") {
    compare_counts<basic_timer_wheel<manual_clock, single_threaded, hierarchical_wheel>>(4, 20);
}
