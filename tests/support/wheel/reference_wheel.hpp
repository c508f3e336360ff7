// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a wheel must do, written as plainly as possible: this is the specification the wheels are compared with.
//
// - A deadline at or before the present (the latest tick any advance was told, the running one included) makes the
//   timer overdue: it counts as due at that present, and waits for the next advance.
// - An advance fires in order of rank: earlier ticks first, within a tick the overdue ones last. Otherwise free.
// - Every operation is a search in a std::multimap; nothing here is fast, lazy or clever.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace cogwheel_tests {

class reference_wheel {
public:
    using key = std::uint64_t;                   ///< names one life of one timer
    using rank = std::pair<std::uint64_t, bool>; ///< tick, overdue

    explicit reference_wheel(std::uint64_t now) : now_(now) {}

    std::uint64_t now() const { return now_; }
    /// How many timers are due at this tick or before.
    std::size_t due(std::uint64_t at) const {
        return static_cast<std::size_t>(std::count_if(
            where_.begin(), where_.end(), [at](const auto& timer) { return timer.second->first.first <= at; }));
    }
    std::size_t size() const { return where_.size(); }
    bool pending(key k) const { return where_.count(k) != 0; }
    std::uint64_t deadline(key k) const { return where_.at(k)->first.first; }

    void schedule(key k, std::uint64_t deadline) {
        if (deadline <= now_)
            where_[k] = fresh_.emplace(rank{now_, true}, k);
        else
            where_[k] = waiting_.emplace(rank{deadline, false}, k);
    }

    void cancel(key k) {
        const place p = where_.at(k);
        where_.erase(k);
        std::multimap<rank, key>& home = is_fresh(k, p) ? fresh_ : waiting_;
        home.erase(p);
    }

    void reschedule(key k, std::uint64_t deadline) {
        cancel(k);
        schedule(k, deadline);
    }

    void clear() {
        where_.clear();
        waiting_.clear();
        fresh_.clear();
    }

    /// An advance begins: what was armed as overdue until now may fire in it.
    void begin_advance(std::uint64_t to) {
        now_ = std::max(now_, to);
        for (const auto& [r, k] : fresh_) where_[k] = waiting_.emplace(r, k);
        fresh_.clear();
    }

    /// The wheel fires `k` now. nullptr, or why it must not.
    const char* fire(key k) {
        if (!pending(k)) return "fired a timer that is not pending";
        const place p = where_.at(k);
        if (is_fresh(k, p)) return "fired an overdue timer in the advance in which it was armed";
        if (p->first.first > now_) return "fired a timer early";
        if (waiting_.begin()->first < p->first) return "fired a timer before one that was due earlier";
        waiting_.erase(p);
        where_.erase(k);
        return nullptr;
    }

    /// Would the running advance have more to fire, had it the budget?
    bool due_left() const { return !waiting_.empty() && waiting_.begin()->first.first <= now_; }
    /// Would another advance with the same tick fire anything?
    bool work_left() const { return due_left() || !fresh_.empty(); }

    /// When the wheel must be called next, at the latest.
    std::optional<std::uint64_t> next_due() const {
        if (size() == 0) return std::nullopt;
        if (work_left()) return now_;
        return waiting_.begin()->first.first;
    }

private:
    using place = std::multimap<rank, key>::iterator;

    bool is_fresh(key k, place p) const {
        const auto [from, to] = fresh_.equal_range(p->first);
        return std::any_of(from, to, [&](const auto& item) { return item.second == k; });
    }

    std::uint64_t now_;
    std::multimap<rank, key> waiting_;
    std::multimap<rank, key> fresh_; // overdue, armed since the last advance began
    std::unordered_map<key, place> where_;
};

} // namespace cogwheel_tests
