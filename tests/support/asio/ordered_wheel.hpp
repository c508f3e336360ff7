// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A wheel as a user would write one: a map in order of expiry, against the concept timing_wheel alone. All that it
// needs of a node is in node_access.
#pragma once

#include <cogwheel/wheel/timing_wheel.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace cogwheel_tests {

class ordered_wheel {
    using access = cogwheel::node_access;
    using key = std::pair<std::uint64_t, std::uint64_t>; // tick, number of the filing

public:
    ordered_wheel(cogwheel::node_table& nodes, std::size_t, cogwheel::tick now = {}) : nodes_(nodes), now_(now) {}

    void schedule(cogwheel::timer_node& node, cogwheel::tick due) {
        file(node, due);
        access::next_generation(node);
    }
    void reschedule(cogwheel::timer_node& node, cogwheel::tick due) {
        const key old = key_of(node);
        file(node, due);
        timers_.erase(old);
    }
    void cancel(cogwheel::timer_node& node) noexcept {
        timers_.erase(key_of(node));
        access::next_generation(node);
    }

    cogwheel::advance_result advance(cogwheel::tick to, cogwheel::work_budget budget, void* context) {
        now_ = std::max(now_, to);
        interrupted_ = false;
        const std::uint64_t last = filings_; // what is armed from here on waits for the next call
        cogwheel::advance_result result;
        while (is_due(last) && !budget.spent() && !interrupted_) {
            cogwheel::timer_node& node = *nodes_.find(timers_.begin()->second);
            cancel(node);
            ++result.fired;
            budget.charge(cogwheel::work_budget::expiry);
            node.complete(context);
        }
        result.more = is_due(filings_);
        return result;
    }
    void interrupt() noexcept { interrupted_ = true; }

    std::optional<cogwheel::tick> next_due() const {
        if (timers_.empty()) return std::nullopt;
        return std::max(now_, cogwheel::tick{timers_.begin()->first.first});
    }
    std::optional<cogwheel::tick> occupied(cogwheel::tick from, cogwheel::tick to) const noexcept {
        const auto at = timers_.lower_bound({from.value, 0});
        if (at == timers_.end() || at->first.first > to.value) return std::nullopt;
        return cogwheel::tick{at->first.first};
    }

    cogwheel::tick now() const noexcept { return now_; }
    std::size_t size() const noexcept { return timers_.size(); }
    void reserve(std::size_t) {}
    bool trim() noexcept {
        if (is_due(filings_)) return false;
        nodes_.trim();
        return true;
    }

    template <class F>
    void clear(F f) {
        for (const auto& [due, index] : std::exchange(timers_, {})) {
            cogwheel::timer_node& node = *nodes_.find(index);
            access::next_generation(node);
            f(node);
        }
    }

    const char* check_invariants() const {
        for (const auto& [due, index] : timers_)
            if (const cogwheel::timer_node& node = *nodes_.find(index); !node.armed() || key_of(node) != due)
                return "a node that is not where it says";
        return nullptr;
    }

private:
    static key key_of(const cogwheel::timer_node& node) noexcept {
        return {access::deadline(node), access::filed(node)};
    }
    void file(cogwheel::timer_node& node, cogwheel::tick due) {
        due = std::max(due, now_);
        timers_.emplace(key{due.value, filings_ + 1}, access::index(node));
        access::deadline(node, due.value);
        access::filed(node, ++filings_);
    }
    bool is_due(std::uint64_t last) const noexcept {
        return !timers_.empty() && timers_.begin()->first.first <= now_.value && timers_.begin()->first.second <= last;
    }

    cogwheel::node_table& nodes_;
    std::map<key, std::uint32_t> timers_; // indices: a wheel_timer that is moved takes its armed node along
    cogwheel::tick now_;
    std::uint64_t filings_ = 0;
    bool interrupted_ = false;
};

static_assert(cogwheel::timing_wheel<ordered_wheel>);

} // namespace cogwheel_tests
