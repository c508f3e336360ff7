// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Timers that the caller finds again by a key: sessions that expire, polls that repeat.
//
//     cogwheel::keyed_timers<std::string> sessions(wheel);
//     sessions.add("ann", 30min, [&](const std::string& name) { store.erase(name); });
//     sessions.touch("ann");                                             // another 30 minutes
//     sessions.add("report", cogwheel::recurrence::every(1h, 24), [] { ... });
//     sessions.remove("ann");                                            // true: it will not run
//
// - The job of a removed key does not run any more, even if its timer has expired and the job is already posted.
// - A job may do anything to the table: remove or replace its own key, or destroy the table.
// - The table removes a key before the last run of its job.
// - If the next run of a periodic job cannot be scheduled (max_pending, memory), the table removes the key, and the job
//   runs a last time. Then a std::system_error (errc::too_many_timers) or std::bad_alloc leaves run().
// - cancel_all() and stop() of the wheel cancel the timers of keys. These keys stay until they are replaced or removed.
// - For an unknown key, a function returns false or an empty optional.
#pragma once

#include <cogwheel/schedule/detail/keyed_timers_impl.hpp>

#include <algorithm>
#include <concepts>
#include <functional>
#include <ranges>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

// The types of deleted functions, so that the compiler's first line says what to write.
namespace mistake {
struct name_the_wheel_as_in_keyed_timers_key_wheel {};
struct jobs_run_on_the_executor_of_the_table_give_it_to_its_constructor;
} // namespace mistake

/// The default hash: std::hash. For std::string it also takes a string_view.
template <class Key>
struct keyed_hash : std::hash<Key> {};
template <>
struct keyed_hash<std::string> {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>()(text); }
};

/// A table of keys, each with a timer and a job. Jobs run in the wheel's turn, or on the executor given to the
/// constructor. Job is the callable type that the table stores for each key, and calls with the key. Functions that
/// look up a key accept every type that Hash and Equal accept: for std::string also string_view and literals.
/// Complexity: O(1) for each key, on average: the table is a std::unordered_set. Memory: two heap blocks for each key,
/// one block of the wheel, and what Job allocates.
/// Thread safety: use the table only on the thread or strand on which its jobs run.
template <class Key, any_timer_wheel Wheel = timer_wheel, class Job = std::function<void(const Key&)>,
          class Hash = keyed_hash<Key>, class Equal = std::equal_to<>>
class keyed_timers {
    using impl_type = detail::keyed_timers_impl<Key, Job, Wheel, Hash, Equal>;

public:
    using key_type = Key;
    using job_type = Job;
    using time_point = typename Wheel::time_point;

    /// Makes a table whose jobs run in the wheel's turn.
    /// Errors: std::bad_alloc.
    /// Lifetime: the wheel may be destroyed first; then no job runs. The wheel's execution context must outlive the
    ///   table.
    explicit keyed_timers(const Wheel& wheel, const Hash& hash = {}, const Equal& equal = {})
        : impl_(std::make_unique<impl_type>(wheel, asio::any_io_executor(), hash, equal)) {}

    /// Makes a table whose jobs run on `executor`. If several threads run its context, give a strand. run() of that
    /// context does not return while timers are armed.
    /// Errors: std::bad_alloc.
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

    /// Schedules `job` under `key`. The table calls it with the key, or without arguments if it takes none.
    /// Errors: returns schedule_errc::duplicate_key, bad_period, bad_times, errc::stopped or errc::too_many_timers. It
    ///   then schedules nothing.
    /// Exception safety: on std::bad_alloc, and on exceptions of Hash, Equal and Job, the table is unchanged.
    template <class F>
        requires detail::keyed_job<F, Key>
    error_code add(Key key, const recurrence& schedule, F job, on_duplicate policy = on_duplicate::reject) {
        return add_due(std::move(key), schedule, impl_type::from_present(schedule.delay), std::move(job), policy);
    }

    /// Schedules one run of `job`, after `delay`.
    template <class Rep, class Period, detail::keyed_job<Key> F>
    error_code add(Key key, std::chrono::duration<Rep, Period> delay, F job,
                   on_duplicate policy = on_duplicate::reject) {
        return add(std::move(key), recurrence::once(detail::saturate_to_ns(delay)), std::move(job), policy);
    }

    /// The same two with the point of the first run. If it is past, that run comes in the next turn, or at the end of
    /// the present tick; later runs lie on the grid of the point. schedule.delay: only touch() without a delay uses
    /// it, if there is no period.
    template <class F>
        requires detail::keyed_job<F, Key>
    error_code add_at(Key key, time_point at, const recurrence& schedule, F job,
                      on_duplicate policy = on_duplicate::reject) {
        return add_due(std::move(key), schedule, since_epoch(at), std::move(job), policy);
    }
    template <class F>
        requires detail::keyed_job<F, Key>
    error_code add_at(Key key, time_point at, F job, on_duplicate policy = on_duplicate::reject) {
        const recurrence once = recurrence::once(detail::distance(Wheel::clock_type::now(), at));
        return add_due(std::move(key), once, since_epoch(at), std::move(job), policy);
    }

    /// Calls add() for each element until the table refuses one. An element is a tuple of the arguments of add().
    /// Moves from each element that it tries, also from the refused one.
    /// Returns the number of accepted elements, and why the next one was refused; success if none was. If add() throws,
    /// the elements before that one stay in the table.
    template <std::ranges::input_range Range>
    std::pair<std::size_t, error_code> add_all(Range&& entries) {
        std::size_t added = 0;
        if constexpr (std::ranges::sized_range<Range>) impl_->all().reserve(size() + std::ranges::size(entries));
        for (auto&& entry : entries) {
            const error_code refused =
                std::apply([this](auto&... parts) { return this->add(std::move(parts)...); }, entry);
            if (refused) return {added, refused};
            ++added;
        }
        return {added, {}};
    }

    /// Removes a key: its job does not run any more. Returns whether the key was there.
    template <class K>
    bool remove(const K& key) {
        const auto at = impl_->all().find(key);
        if (at == impl_->all().end()) return false;
        impl_->remove(at);
        return true;
    }

    /// What extract() takes out of a table.
    struct extracted {
        Key key;
        Job job;
        time_point expiry; ///< of the next run
        std::optional<std::chrono::nanoseconds> period;
        std::int64_t remaining_runs;
    };

    /// Removes a key and returns what the table knew of it, for instance to run the job at once or in another table.
    /// Returns nothing, and changes nothing, for an unknown key and for that of a job that runs now.
    /// Exception safety: if the move of the key or the job throws, the key is removed.
    template <class K>
    std::optional<extracted> extract(const K& key) {
        const auto at = impl_->all().find(key);
        if (at == impl_->all().end() || (*at)->running) return {};
        const auto r = *at; // so that the record lives until it is moved from
        impl_->remove(at);
        return extracted{std::move(r->key), std::move(r->job), detail::point_at<time_point>(r->due), r->period,
                         r->left};
    }

    /// Removes all keys.
    void clear() noexcept { impl_->clear(); }

    /// Moves the next run to one period from now; without a period, to the delay of add() from now.
    /// Returns false if the key is unknown or has no timer: the timer has expired and the job has yet to run, or the
    /// wheel's timers were cancelled. Errors: std::bad_alloc; nothing changes.
    template <class K>
    bool touch(const K& key) {
        const auto at = impl_->all().find(key);
        return at != impl_->all().end() && impl_->touch(**at, impl_type::from_present((*at)->pause));
    }

    /// Moves the next run to `delay` from now. Later runs follow it, one period apart. Returns as touch(key).
    template <class K, class Rep, class Period>
    bool touch(const K& key, std::chrono::duration<Rep, Period> delay) {
        const auto at = impl_->all().find(key);
        return at != impl_->all().end() && impl_->touch(**at, impl_type::from_present(detail::saturate_to_ns(delay)));
    }

    /// The same with a point; for a past one, as add_at().
    template <class K>
    bool touch_at(const K& key, time_point at) {
        const auto found = impl_->all().find(key);
        return found != impl_->all().end() && impl_->touch(**found, since_epoch(at));
    }

    template <class K>
    bool contains(const K& key) const {
        return impl_->all().contains(key);
    }

    /// Returns the number of runs that are left, `forever` if there is no end, or nothing for an unknown key.
    template <class K>
    std::optional<std::int64_t> remaining_runs(const K& key) const {
        const auto at = impl_->all().find(key);
        return at != impl_->all().end() ? std::optional((*at)->left) : std::nullopt;
    }

    /// Returns when the next run is due (without a timer: when it was due), or nothing for an unknown key.
    template <class K>
    std::optional<time_point> expiry(const K& key) const {
        const auto at = impl_->all().find(key);
        return at != impl_->all().end() ? std::optional(detail::point_at<time_point>((*at)->due)) : std::nullopt;
    }

    /// Returns the key whose next run is due first, and when (without a timer: when it was due); nothing if the table
    /// is empty.
    /// Complexity: O(keys). The wheel keeps no order among its timers.
    std::optional<std::pair<Key, time_point>> earliest() const
        requires std::copy_constructible<Key>
    {
        const auto& all = impl_->all();
        const auto first = std::ranges::min_element(all, {}, [](const auto& r) { return r->due; });
        if (first == all.end()) return {};
        return std::pair((*first)->key, detail::point_at<time_point>((*first)->due));
    }

    std::size_t size() const noexcept { return impl_->all().size(); }
    bool empty() const noexcept { return size() == 0; }

    /// Calls f(key, expiry, remaining runs) for each key, in no particular order. Preconditions: f does not change the
    /// table.
    template <std::invocable<const Key&, time_point, std::int64_t> F>
    void for_each(F f) const {
        for (const auto& r : impl_->all()) f(std::as_const(r->key), detail::point_at<time_point>(r->due), r->left);
    }

    template <class At, class F, class... More>
        requires detail::has_executor<F>
    mistake::jobs_run_on_the_executor_of_the_table_give_it_to_its_constructor add(const Key&, const At&, F,
                                                                                  More...) = delete;
    template <class F, class... More>
        requires detail::has_executor<F>
    mistake::jobs_run_on_the_executor_of_the_table_give_it_to_its_constructor add_at(const Key&, time_point, F,
                                                                                     More...) = delete;
    template <class F, class... More>
        requires detail::has_executor<F>
    mistake::jobs_run_on_the_executor_of_the_table_give_it_to_its_constructor
    add_at(const Key&, time_point, const recurrence&, F, More...) = delete;

private:
    static std::chrono::nanoseconds since_epoch(time_point at) noexcept {
        return detail::saturate_to_ns(at.time_since_epoch());
    }

    template <class F>
    error_code add_due(Key&& key, const recurrence& schedule, std::chrono::nanoseconds due, F&& job,
                       on_duplicate policy) {
        if constexpr (std::invocable<F&, const Key&>)
            return impl_->add(std::move(key), schedule, due, Job(std::forward<F>(job)), policy);
        else
            return impl_->add(std::move(key), schedule, due,
                              Job([f = std::forward<F>(job)](const Key&) mutable { f(); }), policy);
    }

    std::unique_ptr<impl_type> impl_;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
