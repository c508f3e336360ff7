// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Timers that have names: sessions that expire, polls that repeat, whatever is looked up again by a key.
//
//     cogwheel::keyed_timers<std::string> sessions(wheel);
//     sessions.add("ann", 30min, [&](const std::string& name) { store.erase(name); });
//     sessions.touch("ann");                                             // another 30 minutes
//     sessions.add("report", cogwheel::keyed_schedule::every(1h, 24), [] { ... });
//     sessions.remove("ann");                                            // true: it will not run
//
// - A key that is removed does not run any more, also if its timer has fired and its job is on its way.
// - A job may do anything to the table: remove or replace its own key, or destroy the whole.
// - A periodic job whose next run the wheel refuses (max_pending) runs, is removed, and errc::too_many_timers leaves run() as an exception.
// - cancel_all() and stop() of the wheel leave keys without timers, which stay until they are replaced or removed.
// - Unknown keys answer false, or nothing. Lookup takes what Hash and Equal take (for std::string: string_view, literals).
//
// For one thread or strand at a time; jobs run in the wheel's turn, or on the executor given. Complexity: O(1) each, amortised over
// the growth of the table, a std::unordered_set. Memory: two blocks of the heap a key, and one of the wheel's.
// After the idea of the single-level wheels with rounds and keys that schedulers are built on; kept here on any wheel.
#pragma once

#include <cogwheel/schedule/detail/keyed_core.hpp>

#include <concepts>
#include <functional>
#include <ranges>
#include <string_view>

namespace cogwheel {

/// std::hash; for strings one that takes whatever is a string_view.
template <class Key>
struct keyed_hash : std::hash<Key> {};
template <>
struct keyed_hash<std::string> {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>()(text); }
};

/// Job: what is stored for each key, called with it.
template <class Key, any_timer_wheel Wheel = timer_wheel, class Job = std::function<void(const Key&)>,
          class Hash = keyed_hash<Key>, class Equal = std::equal_to<>>
class keyed_timers {
    using core = detail::keyed_core<Key, Job, Wheel, Hash, Equal>;

public:
    using key_type = Key;
    using job_type = Job;
    using time_point = typename Wheel::time_point;

    /// Jobs run in the wheel's turn. Errors: std::bad_alloc.
    /// Lifetime: the wheel may be destroyed first: nothing runs then. Its execution context may not.
    explicit keyed_timers(const Wheel& wheel, const Hash& hash = {}, const Equal& equal = {})
        : core_(std::make_unique<core>(wheel, asio::any_io_executor(), hash, equal)) {}

    /// Jobs run on `executor`: a strand, if several threads run its context. Its run() does not return while timers are armed.
    /// Lifetime: its context outlives this, but need not outlive the wheel's.
    keyed_timers(const Wheel& wheel, asio::any_io_executor executor, const Hash& hash = {}, const Equal& equal = {})
        : core_(std::make_unique<core>(wheel, std::move(executor), hash, equal)) {}

    keyed_timers(keyed_timers&&) noexcept = default;
    keyed_timers& operator=(keyed_timers&&) noexcept = default;

    /// Nothing runs any more. Legal inside a job.
    ~keyed_timers() = default;

    /// Schedules `job`, called with the key or without arguments.
    /// Returns what was wrong, and nothing is scheduled then: schedule_errc::duplicate_key, bad_period, bad_times; errc::stopped,
    /// errc::too_many_timers. Errors: std::bad_alloc, those of Hash, Equal and Job; the table is as before.
    template <class F>
        requires std::invocable<F&, const Key&> || std::invocable<F&>
    std::error_code add(Key key, const keyed_schedule& schedule, F job, on_duplicate policy = on_duplicate::reject) {
        if constexpr (std::invocable<F&, const Key&>)
            return core_->add(std::move(key), schedule, Job(std::move(job)), policy);
        else
            return core_->add(std::move(key), schedule, Job([f = std::move(job)](const Key&) mutable { f(); }), policy);
    }

    /// Once, after `delay`.
    template <class Rep, class Period, class F>
    std::error_code add(Key key, std::chrono::duration<Rep, Period> delay, F job,
                        on_duplicate policy = on_duplicate::reject) {
        return add(std::move(key), keyed_schedule::once(saturate_to_ns(delay)), std::move(job), policy);
    }

    /// Adds tuples of what add() takes, until one is refused: how many were added, and why the next was not.
    /// The elements are moved from.
    template <std::ranges::input_range Range>
    std::pair<std::size_t, std::error_code> add_all(Range&& entries) {
        std::size_t added = 0;
        if constexpr (std::ranges::sized_range<Range>) core_->all().reserve(size() + std::ranges::size(entries));
        for (auto&& entry : entries) {
            const std::error_code refused =
                std::apply([this](auto&... parts) { return this->add(std::move(parts)...); }, entry);
            if (refused) return {added, refused};
            ++added;
        }
        return {added, {}};
    }

    /// True iff it was there: it does not run any more.
    template <class K>
    bool remove(const K& key) {
        const auto at = core_->all().find(key);
        if (at == core_->all().end()) return false;
        core_->remove(at);
        return true;
    }

    /// Removes all.
    void clear() noexcept { core_->clear(); }

    /// Gives the next run its whole time again: a period, or the delay. False: no such key, or its job is on its way.
    template <class K>
    bool touch(const K& key) {
        const auto at = core_->all().find(key);
        return at != core_->all().end() && core_->touch(**at, (*at)->pause);
    }

    /// Moves the next run to `delay` from now; those after it are periods from there.
    template <class K, class Rep, class Period>
    bool touch(const K& key, std::chrono::duration<Rep, Period> delay) {
        const auto at = core_->all().find(key);
        return at != core_->all().end() && core_->touch(**at, saturate_to_ns(delay));
    }

    template <class K>
    bool contains(const K& key) const {
        return core_->all().contains(key);
    }

    /// How many runs are left, keyed_schedule::for_ever if there is no end; nothing for an unknown key.
    template <class K>
    std::optional<std::int64_t> remaining_runs(const K& key) const {
        const auto at = core_->all().find(key);
        return at != core_->all().end() ? std::optional((*at)->left) : std::nullopt;
    }

    /// When it runs next; nothing for an unknown key.
    template <class K>
    std::optional<time_point> expiry(const K& key) const {
        const auto at = core_->all().find(key);
        return at != core_->all().end() ? std::optional(detail::point_at<time_point>((*at)->due)) : std::nullopt;
    }

    std::size_t size() const noexcept { return core_->all().size(); }
    bool empty() const noexcept { return size() == 0; }

    /// Calls f(key, expiry, remaining runs) for each, in no order. f must not change the table.
    template <std::invocable<const Key&, time_point, std::int64_t> F>
    void for_each(F f) const {
        for (const auto& r : core_->all()) f(std::as_const(r->key), detail::point_at<time_point>(r->due), r->left);
    }

private:
    std::unique_ptr<core> core_;
};

} // namespace cogwheel
