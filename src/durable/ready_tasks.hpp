// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Tasks whose time has come, and in which order they begin: keys take turns, and the tasks of a key begin in their
// order.
//
// A key without a place stands in nobody's way. Nor does a slow one: it runs fewer tasks than the worker has free
// slots. So k slow keys leave a part of 1 / (k + 1) of the slots free, where a fixed limit would let a few of them take
// all. A key whose attempts end quickly may take what its gate gives. Time is an argument, and there is no I/O.
//
// Complexity: O(1) for push() and ended(); O(keys that wait) for the rest.
#pragma once

#include <cogwheel/durable/detail/task_gate.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace cogwheel::inline v0::detail::inline COGWHEEL_ASIO {

template <class Task>
class ready_tasks {
public:
    using clock = std::chrono::steady_clock;
    using time_point = clock::time_point;
    using duration = clock::duration;

    /// A key that would let its tasks wait for longer than this is slow.
    static constexpr duration patience = std::chrono::milliseconds(250);
    /// So long after its first task, a key is not called slow.
    static constexpr duration first_look = std::chrono::milliseconds(100);

    /// Preconditions: before the first key that is not empty.
    void use(const task_gate& gate) noexcept { gate_ = &gate; }

    /// Appends a task. An empty key always has a place.
    void push(const std::string& key, Task task, time_point now) {
        lane& l = find(key);
        if (l.tasks.empty()) l.since = now;
        l.tasks.push_back(std::move(task));
        ++size_;
        if (!std::exchange(l.has_turn, true)) turns_.push_back(&l);
    }

    /// Takes the next task that may begin, and counts it as running. `free`: slots.
    std::optional<Task> next(std::size_t free, time_point now) {
        for (std::size_t n = turns_.size(); n > 0 && free > 0; --n) {
            lane& l = *turns_.front();
            turns_.pop_front();
            if (l.tasks.empty()) {
                l.has_turn = false;
                forget_if_idle(l);
                continue;
            }
            turns_.push_back(&l);
            if (!may_begin(l, free, now)) continue;
            Task task = std::move(l.tasks.front());
            l.tasks.pop_front();
            --size_;
            if (l.running++ == 0) l.last = now;
            return task;
        }
        return std::nullopt;
    }

    /// Counts a task that next() gave as ended. `ran_for`: nothing if it did not begin.
    void ended(const std::string& key, std::optional<duration> ran_for, time_point now) {
        const auto found = lanes_.find(key);
        if (found == lanes_.end()) return; // clear() came first
        lane& l = found->second;
        if (l.running > 0) --l.running;
        if (ran_for) {
            l.mean = l.mean ? *l.mean + (*ran_for - *l.mean) / 8 : *ran_for;
            l.last = now;
        }
        l.again = {};
        forget_if_idle(l);
    }

    /// Whether a further task of this key would wait for long.
    bool slow(const std::string& key, time_point now) {
        lane& l = find(key);
        const bool is = slow(l, now);
        forget_if_idle(l);
        return is;
    }
    std::size_t waiting(const std::string& key) const {
        const auto found = lanes_.find(key);
        return found == lanes_.end() ? 0 : found->second.tasks.size();
    }
    /// Counts a task of this key that is put off, and returns for how long: until those that wait have begun. If many
    /// are put off, longer, so that not more than a thousand a second come back.
    duration put_off(const std::string& key, time_point now) {
        constexpr duration window = std::chrono::seconds(15), least = std::chrono::seconds(2),
                           most = std::chrono::minutes(10);
        lane& l = find(key);
        if (now - l.window >= window) {
            l.put_off_before = now - l.window < 2 * window ? l.put_off : 0;
            l.put_off = 0;
            l.window = now;
        }
        ++l.put_off;
        const duration pace = std::chrono::milliseconds(1) * static_cast<duration::rep>(l.put_off + l.put_off_before);
        const duration wait = std::clamp(std::max(wait_of(l, now), pace), least, most);
        forget_if_idle(l);
        return wait;
    }

    /// How long what this key needs has been broken.
    duration broken_for(const std::string& key, time_point now) const {
        const auto found = lanes_.find(key);
        return found == lanes_.end() || !found->second.broken_since ? duration(0) : now - *found->second.broken_since;
    }

    std::size_t size() const noexcept { return size_; }
    /// Tasks of keys that are not slow: they wait for slots only.
    std::size_t startable(time_point now) {
        std::size_t n = 0;
        for (lane* l : turns_)
            if (!slow(*l, now)) n += l->tasks.size();
        return n;
    }
    /// Whether tasks of a key wait: then next() may have one later although nothing has ended.
    bool look_again() const noexcept {
        return std::any_of(turns_.begin(), turns_.end(),
                           [](const lane* l) { return !l->key.empty() && !l->tasks.empty(); });
    }
    void clear() noexcept {
        turns_.clear();
        lanes_.clear();
        size_ = 0;
    }

private:
    struct lane {
        std::string key;
        std::deque<Task> tasks{};
        std::size_t running = 0;
        bool has_turn = false;
        std::size_t places = 0;         // when the gate was last asked
        std::optional<duration> mean{}; // of attempts
        time_point since{};             // tasks wait
        time_point last{};              // an attempt has ended, or the first one has begun
        time_point again{};             // not asked before
        std::optional<time_point> broken_since{};
        std::size_t put_off = 0, put_off_before = 0; // in this window, and in the one before
        time_point window{};
    };

    lane& find(const std::string& key) {
        const auto [found, made] = lanes_.try_emplace(key);
        if (made) found->second.key = key;
        return found->second;
    }
    void forget_if_idle(lane& l) {
        if (l.tasks.empty() && l.running == 0 && !l.has_turn) lanes_.erase(lanes_.find(l.key));
    }

    // Returns whether the key has a place.
    bool ask(lane& l, time_point now) {
        if (now >= l.again) {
            constexpr duration pause = std::chrono::milliseconds(10);
            const task_gate::room room = gate_->room_of(l.key);
            l.places = room.places;
            if (!room.broken)
                l.broken_since.reset();
            else if (!l.broken_since)
                l.broken_since = now;
            l.again = now + (room.places == 0 ? pause : duration(0));
        }
        return l.places > 0;
    }
    bool may_begin(lane& l, std::size_t free, time_point now) {
        if (l.key.empty()) return true;
        if (!ask(l, now) || l.running >= l.places) return false;
        return l.running < free || quick(l, now);
    }
    // What an attempt takes, also if none has ended yet.
    duration takes(const lane& l, time_point now) const {
        const duration mean = l.mean.value_or(duration(0));
        return l.running > 0 ? std::max(mean, now - l.last) : mean;
    }
    bool quick(const lane& l, time_point now) const { return l.mean && takes(l, now) < patience; }
    // How long a task waits that comes now.
    duration wait_of(const lane& l, time_point now) const {
        const auto ahead = static_cast<duration::rep>(l.tasks.size() + 1),
                   at_once = static_cast<duration::rep>(std::max<std::size_t>(l.running, 1));
        return takes(l, now) / at_once * ahead;
    }
    bool slow(lane& l, time_point now) {
        if (l.key.empty()) return false;
        if (!ask(l, now)) return true;
        return now - l.since >= first_look && wait_of(l, now) > patience;
    }

    const task_gate* gate_ = nullptr;
    std::unordered_map<std::string, lane> lanes_; // elements stay in place
    std::list<lane*> turns_;                      // keys with tasks, the next one first
    std::size_t size_ = 0;
};

} // namespace cogwheel::inline v0::detail::inline COGWHEEL_ASIO
