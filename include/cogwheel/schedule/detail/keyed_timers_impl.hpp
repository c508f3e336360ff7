// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The table behind keyed_timers. The table and the timer's callable share a record. A callable that is on its way when
// its key is removed, or the table destroyed, reads this in the record.
#pragma once

#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/detail/which_asio.hpp>
#include <cogwheel/schedule/recurrence.hpp>

#include COGWHEEL_ASIO_HEADER(any_io_executor.hpp)
#include COGWHEEL_ASIO_HEADER(detail/throw_exception.hpp)
#include COGWHEEL_ASIO_HEADER(execution/outstanding_work.hpp)
#include COGWHEEL_ASIO_HEADER(post.hpp)
#include COGWHEEL_ASIO_HEADER(prefer.hpp)

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// The executor of a table whose jobs do not run in the wheel's turn. A node of the wheel may outlive the table, when
/// the caller cancelled all timers or stopped the wheel, and then also the executor's context. So only this object
/// holds the executor, and the table closes it in its destructor.
class keyed_executor {
public:
    explicit keyed_executor(asio::any_io_executor executor) : executor_(std::move(executor)) {}
    keyed_executor(const keyed_executor&) = delete;
    keyed_executor& operator=(const keyed_executor&) = delete;

    /// Counts an armed timer. While there is one, run() of the executor's context does not return.
    class armed {
    public:
        explicit armed(std::shared_ptr<keyed_executor> owner) : owner_(std::move(owner)) {
            const std::lock_guard lock(owner_->mutex_);
            if (owner_->armed_ == 0)
                owner_->work_ = asio::prefer(owner_->executor_, asio::execution::outstanding_work.tracked);
            ++owner_->armed_;
        }
        armed(armed&& other) noexcept = default;
        armed& operator=(armed&&) = delete;
        ~armed() {
            if (owner_ == nullptr) return;
            const std::lock_guard lock(owner_->mutex_);
            if (--owner_->armed_ == 0) owner_->work_ = {};
        }
        keyed_executor& owner() const noexcept { return *owner_; }

    private:
        std::shared_ptr<keyed_executor> owner_;
    };

    /// Posts f to the executor. Does nothing after close().
    template <class F>
    void post(F f) {
        const std::lock_guard lock(mutex_);
        if (executor_) asio::post(executor_, std::move(f));
    }
    /// Lets go of the executor.
    void close() noexcept {
        const std::lock_guard lock(mutex_);
        executor_ = {};
        work_ = {};
    }

private:
    std::mutex mutex_;
    asio::any_io_executor executor_, work_;
    std::size_t armed_ = 0;
};

/// A callable that add() takes. The table cannot promise that a job of a removed key does not run if the job goes on to
/// an executor of its own.
template <class F, class Key>
concept keyed_job = (std::invocable<F&, const Key&> || std::invocable<F&>) && !has_executor<F>;

template <class Key, class Job, class Wheel, class Hash, class Equal>
class keyed_timers_impl {
public:
    using clock = typename Wheel::clock_type;
    using time_point = typename Wheel::time_point;
    using nanoseconds = std::chrono::nanoseconds;

    struct record {
        record(keyed_timers_impl& c, Key&& k, Job&& j, const recurrence& s)
            : impl(&c),
              key(std::move(k)),
              job(std::move(j)),
              pause(s.period.value_or(s.delay)),
              period(s.period),
              left(s.runs()) {}

        keyed_timers_impl* impl;
        Key key;
        Job job;
        nanoseconds pause; // the delay that touch() starts anew
        std::optional<nanoseconds> period;
        std::int64_t left; // runs that are left, or forever
        typename Wheel::token_type token{};
        nanoseconds due{}; // since the clock's epoch
        bool removed = false;
        bool running = false; // its job
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

    /// Parameters: if `executor` is empty, or is the wheel's, jobs run in the wheel's turn.
    keyed_timers_impl(const Wheel& wheel, asio::any_io_executor executor, const Hash& hash, const Equal& equal)
        : wheel_(impl_of(wheel)), table_(0, by_key{hash, equal}, by_key{hash, equal}) {
        if (executor && executor != asio::any_io_executor(wheel.get_executor()))
            executor_ = std::make_shared<keyed_executor>(std::move(executor));
    }
    ~keyed_timers_impl() {
        clear();
        if (executor_ != nullptr) executor_->close();
    }
    keyed_timers_impl(const keyed_timers_impl&) = delete;
    keyed_timers_impl& operator=(const keyed_timers_impl&) = delete;

    table& all() noexcept { return table_; }

    /// Returns the point `delay` from now. Takes a negative delay for zero: a grid must not begin in the past.
    static nanoseconds from_present(nanoseconds delay) {
        return saturating_add(present<clock>(), std::max(delay, nanoseconds::zero()));
    }

    /// Adds a key, first due at `due`. If it returns an error or throws, the table is unchanged.
    error_code add(Key&& key, const recurrence& schedule, nanoseconds due, Job&& job, on_duplicate policy) {
        if (const error_code bad = schedule.check()) return bad;
        const auto old = table_.find(key);
        if (old != table_.end() && policy == on_duplicate::reject) return schedule_errc::duplicate_key;
        if (old != table_.end() && policy == on_duplicate::keep) return {};
        const record_ptr replaced = old != table_.end() ? *old : nullptr; // destroyed last: it may use the table
        const auto r = std::make_shared<record>(*this, std::move(key), std::move(job), schedule);
        if (old != table_.end()) {
            if (const error_code refused = arm(r, due)) return refused;
            end(**old);
            // The keys are equal, so the record may take the place of the other. To insert it could throw.
            const_cast<record_ptr&>(*old) = r;
            return {};
        }
        const auto place = table_.insert(r).first;
        COGWHEEL_TRY {
            const error_code refused = arm(r, due);
            if (refused) table_.erase(place);
            return refused;
        }
        COGWHEEL_CATCH {
            table_.erase(place);
            COGWHEEL_RETHROW;
        }
    }

    // Keeps the record until the change is complete: the job's destructor may use the table.
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

    bool touch(record& r, nanoseconds due) {
        if (!r.token.reschedule(point_at<time_point>(due))) return false;
        r.due = due;
        return true;
    }

private:
    struct running {
        record& r;
        explicit running(record& of) noexcept : r(of) { r.running = true; }
        running(const running&) = delete;
        running& operator=(const running&) = delete;
        ~running() { r.running = false; }
    };

    static void end(record& r) noexcept {
        r.removed = true;
        r.token.cancel();
    }

    error_code arm(const record_ptr& r, nanoseconds due) {
        error_code refused;
        const auto at = point_at<time_point>(due);
        auto expire = [r] {
            if (!r->removed) r->impl->expired(r);
        };
        if (executor_ == nullptr) {
            r->token = wheel_->schedule(at, std::move(expire), no_callable(), &refused);
        } else {
            auto post_there = [timer = keyed_executor::armed(executor_), expire] { timer.owner().post(expire); };
            r->token = wheel_->schedule(at, std::move(post_there), no_callable(), &refused);
        }
        if (!refused) r->due = due;
        return refused;
    }

    // Arms the next run before it calls the job: the job may remove its key, add it again, or destroy the table.
    void expired(const record_ptr& r) {
        std::exception_ptr lost; // why there is no next run
        if (r->left != forever) --r->left;
        COGWHEEL_TRY {
            const error_code refused =
                r->left != 0 ? arm(r, point_ahead(r->due, *r->period, present<clock>())) : error_code();
            if (r->left == 0 || refused) drop(r);
            // The caller knows that it stopped the wheel. But a full wheel must not end a job for ever in silence.
            if (refused && refused != errc::stopped)
                asio::detail::throw_exception(
                    sys::system_error(refused, "cogwheel::keyed_timers: a periodic job could not be scheduled again"));
        }
        COGWHEEL_CATCH {
            lost = std::current_exception();
            if (!r->removed) drop(r);
        }
        const running mark(*r);
        r->job(r->key);
        if (lost) std::rethrow_exception(lost);
    }

    void drop(const record_ptr& r) {
        r->removed = true;
        table_.erase(table_.find(r));
    }

    wheel_hold<impl_type<Wheel>> wheel_;
    std::shared_ptr<keyed_executor> executor_; // nullptr: jobs run in the wheel's turn
    table table_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
