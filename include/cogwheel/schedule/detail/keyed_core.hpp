// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The table behind keyed_timers. A record belongs to the table and to its timer's callable: one that is on its way when its key is
// removed, or the table destroyed, finds out from the record.
#pragma once

#include <cogwheel/asio/detail/engine_user.hpp>
#include <cogwheel/asio/timeout_after.hpp>
#include <cogwheel/schedule/detail/grid.hpp>
#include <cogwheel/schedule/detail/keyed_home.hpp>
#include <cogwheel/schedule/keyed_schedule.hpp>
#include <cogwheel/wheel/detail/exceptions.hpp>

#include <asio/detail/throw_exception.hpp>

#include <exception>
#include <memory>
#include <unordered_set>

namespace cogwheel::detail {

template <class Key, class Job, class Wheel, class Hash, class Equal>
class keyed_core {
public:
    using clock = typename Wheel::clock_type;
    using time_point = typename Wheel::time_point;
    using nanoseconds = std::chrono::nanoseconds;

    struct record {
        record(keyed_core& c, Key&& k, Job&& j, const keyed_schedule& s)
            : core(&c),
              key(std::move(k)),
              job(std::move(j)),
              pause(s.period.value_or(s.delay)),
              period(s.period),
              left(s.runs()) {}

        keyed_core* core;
        Key key;
        Job job;
        nanoseconds pause; // what touch() gives anew
        std::optional<nanoseconds> period;
        std::int64_t left; // runs
        typename Wheel::token_type token{};
        nanoseconds due{}; // since the clock's epoch
        bool removed = false;
    };
    using record_ptr = std::shared_ptr<record>;

    struct by_key {
        using is_transparent = void;
        [[no_unique_address]] Hash hash;
        [[no_unique_address]] Equal equal;

        std::size_t operator()(const record_ptr& r) const { return hash(r->key); }
        template <class K>
        std::size_t operator()(const K& key) const {
            return hash(key);
        }
        bool operator()(const record_ptr& a, const record_ptr& b) const { return equal(a->key, b->key); }
        template <class K>
        bool operator()(const record_ptr& r, const K& key) const {
            return equal(r->key, key);
        }
        template <class K>
        bool operator()(const K& key, const record_ptr& r) const {
            return equal(r->key, key);
        }
    };
    using table = std::unordered_set<record_ptr, by_key, by_key>;

    /// Without an executor, or on the wheel's: jobs run in the wheel's turn.
    keyed_core(const Wheel& wheel, asio::any_io_executor executor, const Hash& hash, const Equal& equal)
        : wheel_(state_of::get(wheel)), table_(0, by_key{hash, equal}, by_key{hash, equal}) {
        if (executor && executor != asio::any_io_executor(wheel.get_executor()))
            home_ = std::make_shared<keyed_home>(std::move(executor));
    }
    ~keyed_core() {
        clear();
        if (home_ != nullptr) home_->close();
    }
    keyed_core(const keyed_core&) = delete;
    keyed_core& operator=(const keyed_core&) = delete;

    table& all() noexcept { return table_; }

    /// Refused, or thrown: the table is as before.
    std::error_code add(Key&& key, const keyed_schedule& schedule, Job&& job, on_duplicate policy) {
        if (const std::error_code bad = schedule.check()) return bad;
        const auto old = table_.find(key);
        if (old != table_.end() && policy == on_duplicate::reject) return schedule_errc::duplicate_key;
        if (old != table_.end() && policy == on_duplicate::keep) return {};
        const record_ptr replaced = old != table_.end() ? *old : nullptr; // what destroying it does comes last
        const auto r = std::make_shared<record>(*this, std::move(key), std::move(job), schedule);
        const nanoseconds due = from_present(schedule.delay);
        if (old != table_.end()) {
            if (const std::error_code refused = arm(r, due)) return refused;
            end(**old);
            auto place = table_.extract(old);
            place.value() = r;
            table_.insert(std::move(place));
            return {};
        }
        const auto place = table_.insert(r).first;
        COGWHEEL_TRY {
            const std::error_code refused = arm(r, due);
            if (refused) table_.erase(place);
            return refused;
        }
        COGWHEEL_CATCH {
            table_.erase(place);
            COGWHEEL_RETHROW;
        }
    }

    // A job may use the table when it is destroyed: never in the middle of a change.
    void remove(typename table::iterator at) noexcept {
        const record_ptr last = *at;
        end(*last);
        table_.erase(at);
    }

    void clear() noexcept {
        table all(0, table_.hash_function(), table_.key_eq());
        all.swap(table_);
        for (const record_ptr& r : all) end(*r);
    }

    bool touch(record& r, nanoseconds delay) {
        const nanoseconds due = from_present(delay);
        if (!r.token.reschedule_at(point_at<time_point>(due))) return false;
        r.due = due;
        return true;
    }

private:
    // Less than nothing is nothing: a grid begins now, and not in the past.
    static nanoseconds from_present(nanoseconds delay) {
        return saturating_add(present<clock>(), std::max(delay, nanoseconds::zero()));
    }

    static void end(record& r) noexcept {
        r.removed = true;
        r.token.cancel();
    }

    std::error_code arm(const record_ptr& r, nanoseconds due) {
        std::error_code refused;
        const auto at = point_at<time_point>(due);
        auto expire = [r] {
            if (!r->removed) r->core->expired(r);
        };
        if (home_ == nullptr) {
            r->token = wheel_->schedule(at, std::move(expire), no_callable(), refused);
        } else {
            auto go_home = [timer = keyed_home::armed(home_), expire] { timer.home().post(expire); };
            r->token = wheel_->schedule(at, std::move(go_home), no_callable(), refused);
        }
        if (!refused) r->due = due;
        return refused;
    }

    // The next run is set first: the job may remove its key, schedule it anew, or destroy the whole.
    void expired(const record_ptr& r) {
        std::exception_ptr lost; // there is no next run
        if (r->left != keyed_schedule::for_ever) --r->left;
        COGWHEEL_TRY {
            const std::error_code refused =
                r->left != 0 ? arm(r, point_ahead(r->due, *r->period, present<clock>())) : std::error_code();
            if (r->left == 0 || refused) drop(r);
            // Nobody stops a wheel unknowingly, but one that is full must not end a job for ever in silence.
            if (refused && refused != errc::stopped)
                asio::detail::throw_exception(
                    std::system_error(refused, "cogwheel::keyed_timers: a periodic job could not be scheduled again"));
        }
        COGWHEEL_CATCH {
            lost = std::current_exception();
            if (!r->removed) drop(r);
        }
        r->job(r->key);
        if (lost) std::rethrow_exception(lost);
    }

    void drop(const record_ptr& r) {
        r->removed = true;
        table_.erase(table_.find(r));
    }

    engine_user<state_type<Wheel>> wheel_;
    std::shared_ptr<keyed_home> home_; // nullptr: the wheel's turn
    table table_;
};

} // namespace cogwheel::detail
