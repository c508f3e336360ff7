// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Timers that the caller finds again by a key, such as those of sessions that expire:
//
//     cogwheel::keyed_timers<std::string> sessions(wheel);
//     sessions.add("ann", 30min, [&](const std::string& name) { store.erase(name); });
//     sessions.touch("ann");  // another 30 minutes
//     sessions.remove("ann"); // true: the job will not run
//
// - The job of a removed key does not run any more, even if its timer has expired and the job is already posted.
// - The table removes a key before it runs the job. A job runs once: for repeated work, take an interval or tasks.
// - A job may do anything to the table: remove or replace its own key, or destroy the table.
// - cancel_all() and stop() of the wheel cancel the timers of keys. These keys stay until they are replaced or removed.
// - For an unknown key, a function returns false or an empty optional.
#pragma once

#include <cogwheel/schedule/detail/due_at.hpp>
#include <cogwheel/schedule/detail/keyed_timers_impl.hpp>

#include <concepts>
#include <functional>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

// The types of deleted functions, so that the compiler's first line says what to write.
namespace mistake {
struct name_the_wheel_as_in_keyed_timers_key_wheel {};
struct jobs_run_on_the_executor_of_the_table_give_it_to_its_constructor;
} // namespace mistake

/// A table of keys, each with a timer and a job. Jobs run in the wheel's turn, or on the executor given to the
/// constructor. Job is the callable type that the table stores for each key, and calls with the key. To look up a key,
/// use any type that Hash and Equal accept. The default Hash is std::hash; for std::string, it takes string_view.
/// Complexity: O(1) for each key, on average: the table is a std::unordered_set. Memory: two heap blocks for each key,
///   one block of the wheel, and what Job allocates.
/// Thread safety: use the table only on the thread or strand on which its jobs run.
template <class Key, any_timer_wheel Wheel = timer_wheel, class Job = std::function<void(const Key&)>,
          class Hash = detail::keyed_hash<Key>, class Equal = std::equal_to<>>
class keyed_timers {
    using impl_type = detail::keyed_timers_impl<Key, Job, Wheel, Hash, Equal>;

    using clock_type = typename Wheel::clock_type;

public:
    using key_type = Key;
    using time_point = typename Wheel::time_point;

    /// Makes a table whose jobs run in the wheel's turn. Errors: std::bad_alloc.
    /// Lifetime: the wheel may be destroyed first; no job runs then. The wheel's context must outlive the table.
    explicit keyed_timers(const Wheel& wheel, const Hash& hash = {}, const Equal& equal = {})
        : impl_(std::make_unique<impl_type>(wheel, asio::any_io_executor(), hash, equal)) {}

    /// Makes a table whose jobs run on `executor`. If several threads run its context, give a strand. run() of that
    /// context does not return while timers are armed. Errors: std::bad_alloc.
    /// Lifetime: that context and the wheel's must outlive the table. Either may be destroyed before the other.
    keyed_timers(const Wheel& wheel, asio::any_io_executor executor, const Hash& hash = {}, const Equal& equal = {})
        : impl_(std::make_unique<impl_type>(wheel, std::move(executor), hash, equal)) {}

    template <any_timer_wheel Other>
        requires(!std::same_as<Other, Wheel>)
    explicit keyed_timers(const Other&, mistake::name_the_wheel_as_in_keyed_timers_key_wheel = {}) = delete;

    keyed_timers(keyed_timers&&) noexcept = default;
    keyed_timers& operator=(keyed_timers&&) noexcept = default;

    /// Removes all keys: no job runs any more. A job may destroy the table.
    ~keyed_timers() = default;

    /// Schedules one run of `job` under `key`. The table calls it with the key, or without arguments if it takes none.
    /// Parameters: `when`: a delay, a point in time or a deadline. If past, the job runs in the next turn, or at the
    ///   end of the present tick.
    /// Errors: returns errc::duplicate_key, errc::stopped or errc::too_many_timers, and schedules nothing then.
    /// Exception safety: on std::bad_alloc, and on exceptions of Hash, Equal and Job, the table is unchanged.
    template <detail::when<clock_type> When, detail::keyed_job<Key> F>
    error_code add(Key key, When when, F job, on_duplicate policy = on_duplicate::reject) {
        const auto due = detail::due_at<clock_type>(when);
        std::chrono::nanoseconds pause;
        if constexpr (detail::is_duration<When>)
            pause = detail::saturate_to_ns(when);
        else
            pause = detail::distance(clock_type::now(), detail::to_point<clock_type>(when));
        if constexpr (std::invocable<F&, const Key&>)
            return impl_->add(std::move(key), due, pause, Job(std::move(job)), policy);
        else
            return impl_->add(std::move(key), due, pause, Job([f = std::move(job)](const Key&) mutable { f(); }),
                              policy);
    }
    template <class When, class F, class... More>
        requires detail::has_executor<F>
    mistake::jobs_run_on_the_executor_of_the_table_give_it_to_its_constructor add(const Key&, const When&, F,
                                                                                  More...) = delete;

    /// Removes a key: its job does not run any more. Returns true if the key was there.
    template <class K>
    bool remove(const K& key) {
        const auto at = impl_->all().find(key);
        if (at == impl_->all().end()) return false;
        impl_->remove(at);
        return true;
    }

    void clear() noexcept { impl_->clear(); }

    /// Moves the run to another time, given as in add(). Without one, starts the delay of add() anew. Returns false if
    /// the key is unknown or has no timer. It has none if the timer has expired and the job has yet to run, or if the
    /// wheel's timers were cancelled. Errors: std::bad_alloc; nothing changes then.
    template <class K, detail::when<clock_type> When>
    bool touch(const K& key, When when) {
        const auto at = impl_->all().find(key);
        return at != impl_->all().end() && impl_->touch(**at, detail::due_at<clock_type>(when));
    }
    template <class K>
    bool touch(const K& key) {
        const auto at = impl_->all().find(key);
        return at != impl_->all().end() && impl_->touch(**at, detail::due_at<clock_type>((*at)->pause));
    }

    template <class K>
    bool contains(const K& key) const {
        return impl_->all().contains(key);
    }

    /// Returns when the job is due, or without a timer, was due; nothing for an unknown key.
    template <class K>
    std::optional<time_point> expiry(const K& key) const {
        const auto at = impl_->all().find(key);
        return at != impl_->all().end() ? std::optional(detail::point_at<time_point>((*at)->due)) : std::nullopt;
    }

    std::size_t size() const noexcept { return impl_->all().size(); }
    bool empty() const noexcept { return size() == 0; }

    /// Calls f(key, expiry) for each key, in no particular order. Preconditions: f does not change the table.
    template <std::invocable<const Key&, time_point> F>
    void for_each(F f) const {
        for (const auto& r : impl_->all()) f(std::as_const(r->key), detail::point_at<time_point>(r->due));
    }

private:
    std::unique_ptr<impl_type> impl_;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
