// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Tasks whose time has come, and in which order they begin: keys take turns, and the tasks of a key begin in their
// order.
//
// A key without a place stands in nobody's way. Nor does a slow one: it runs fewer tasks than the worker has free
// slots. So k slow keys leave a part of 1 / (k + 1) of the slots free, where a fixed limit would let a few of them take
// all. If there are more slow keys than slots, a part of the slots is not for them, smaller parts not for keys that
// are not known yet or not that slow, and all are for a key whose attempts end quickly. Time is an argument, and there
// is no I/O.
//
// Complexity: O(1), but for next() and startable() O(keys that wait); next() looks again at those that could not begin
// only if there are slots enough for one of them, an attempt of one has ended, or a gate may have opened. Memory:
// O(keys that wait or run), or most_known keys, some of which did in the last minute.
#pragma once

#include <cogwheel/durable/detail/task_gate.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <limits>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

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
    /// So long it is known how quick an idle key was.
    static constexpr duration memory = std::chrono::minutes(1);
    static constexpr std::size_t most_known = 10'000;

    /// Preconditions: before the first key that is not empty. slots: of the worker.
    void use(const task_gate& gate, std::size_t slots) noexcept {
        gate_ = &gate;
        slots_ = slots;
    }

    /// Appends a task. An empty key always has a place.
    void push(const std::string& key, Task task, time_point now) {
        lane& l = find(key, now);
        if (l.tasks.empty()) l.since = now;
        if (is_idle(l) && now - l.last >= memory) l.mean.reset();
        l.tasks.push_back(std::move(task));
        ++size_;
        if (std::exchange(l.has_turn, true)) return;
        // Behind a crowd of keys that will turn out to be slow, a new one would have its first turn after all of them.
        l.early = !l.mean && l.running == 0 && crowded(now);
        l.place = turns_.insert(l.early ? turns_.begin() : turns_.end(), &l);
    }

    /// Takes the next task that may begin, and counts it as running. `free`: slots.
    std::optional<Task> next(std::size_t free, time_point now) {
        if (free == 0) return std::nullopt;
        if (free >= least_free_ || now >= gates_at_) unblock_all();
        while (!turns_.empty()) {
            lane& l = *turns_.front();
            if (l.tasks.empty()) {
                turns_.pop_front();
                l.has_turn = false;
                forget_if_idle(l);
                continue;
            }
            if (const std::size_t wanted = free_for(l, now); wanted > free) {
                block(l, wanted, now);
                continue;
            }
            turns_.splice(turns_.end(), turns_, l.place);
            l.early = false;
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
        if (std::exchange(l.blocked, false)) turns_.splice(turns_.begin(), blocked_, l.place);
        forget_if_idle(l);
    }

    /// Whether a further task of this key would wait for long.
    bool slow(const std::string& key, time_point now) {
        lane& l = find(key, now);
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
        lane& l = find(key, now);
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
    std::size_t keys() const noexcept { return lanes_.size(); }
    /// Tasks of keys that are not slow: they wait for slots only.
    std::size_t startable(time_point now) {
        std::size_t n = 0;
        for (const auto* list : {&turns_, &blocked_})
            for (lane* l : *list)
                if (!slow(*l, now)) n += l->tasks.size();
        return n;
    }
    /// Whether tasks of a key wait: then next() may have one later although nothing has ended.
    bool look_again() const noexcept {
        const auto waits = [](const lane* l) { return !l->key.empty() && !l->tasks.empty(); };
        return std::ranges::any_of(blocked_, waits) || std::ranges::any_of(turns_, waits);
    }
    void clear() noexcept {
        turns_.clear();
        blocked_.clear();
        lanes_.clear();
        size_ = 0;
    }

private:
    static constexpr std::size_t closed = std::numeric_limits<std::size_t>::max();

    struct lane {
        std::string key;
        std::deque<Task> tasks{};
        std::size_t running = 0;
        bool has_turn = false; // it is in turns_ or blocked_, there:
        typename std::list<lane*>::iterator place{};
        bool blocked = false;
        bool early = false;             // its first turn comes before those of others
        std::size_t places = 0;         // when the gate was last asked
        std::optional<duration> mean{}; // of attempts
        time_point since{};             // tasks wait
        time_point last{};              // an attempt has ended, or the first one has begun
        time_point again{};             // not asked before
        std::optional<time_point> broken_since{};
        std::size_t put_off = 0, put_off_before = 0; // in this window, and in the one before
        time_point window{};
    };

    lane& find(const std::string& key, time_point now) {
        if (lanes_.size() >= sweep_at_ && !lanes_.contains(key)) sweep(now);
        const auto [found, made] = lanes_.try_emplace(key);
        if (made) found->second.key = key;
        return found->second;
    }
    static bool is_idle(const lane& l) { return l.tasks.empty() && l.running == 0 && !l.has_turn; }
    void forget_if_idle(lane& l) {
        if (!is_idle(l)) return;
        l.broken_since.reset(); // nobody looks any more
        if (!l.mean) lanes_.erase(lanes_.find(l.key));
    }
    void sweep(time_point now) {
        std::erase_if(lanes_, [&](const auto& l) { return is_idle(l.second) && now - l.second.last >= memory; });
        std::size_t idle = 0;
        for (const auto& [key, l] : lanes_) idle += is_idle(l) ? 1U : 0U;
        if (idle > most_known / 2) std::erase_if(lanes_, [](const auto& l) { return is_idle(l.second); });
        sweep_at_ = std::max(most_known, 2 * lanes_.size());
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
    // How many slots must be free so that a task of this key may begin.
    std::size_t free_for(lane& l, time_point now) {
        if (l.key.empty()) return 1;
        if (!ask(l, now) || l.running >= l.places) return closed;
        if (quick(l, now)) return 1;
        return std::max(l.running, slots_ / kept_from(l, now)) + 1;
    }
    // Out of the way, until so many slots are free.
    void block(lane& l, std::size_t wanted, time_point now) {
        constexpr duration pause = std::chrono::milliseconds(50);
        l.blocked = true;
        blocked_.splice(l.early ? blocked_.begin() : blocked_.end(), turns_, l.place);
        if (wanted == closed)
            gates_at_ = std::min(gates_at_, now + pause);
        else
            least_free_ = std::min(least_free_, wanted);
    }
    void unblock_all() {
        for (lane* l : blocked_) l->blocked = false;
        turns_.splice(turns_.begin(), blocked_);
        least_free_ = closed;
        gates_at_ = time_point::max();
    }
    // The part of the slots that is for others.
    std::size_t kept_from(const lane& l, time_point now) const {
        if (takes_long(l, now)) return 4;
        return l.mean ? 32 : l.running > 0 ? 8 : 16;
    }
    bool takes_long(const lane& l, time_point now) const { return takes(l, now) >= 4 * patience; }
    // Whether slow keys have most of the slots.
    bool crowded(time_point now) {
        constexpr duration pause = std::chrono::milliseconds(10);
        if (now < crowd_seen_ + pause) return crowded_;
        crowd_seen_ = now;
        std::size_t taken = 0;
        for (const auto& [key, l] : lanes_)
            if (!key.empty() && l.running > 0 && takes_long(l, now)) taken += l.running;
        return crowded_ = taken > slots_ / 2;
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
        if (l.running == 0 && l.tasks.empty()) return false; // how else would one know?
        if (l.running == 0 && !l.mean) return crowded(now);
        return now - l.since >= first_look && wait_of(l, now) > patience;
    }

    const task_gate* gate_ = nullptr;
    std::size_t slots_ = 0, sweep_at_ = most_known;
    time_point crowd_seen_{};
    bool crowded_ = false;
    std::unordered_map<std::string, lane> lanes_; // elements stay in place
    std::list<lane*> turns_;                      // keys with tasks, the next one first
    std::list<lane*> blocked_;                    // keys with tasks that could not begin
    std::size_t least_free_ = closed;             // so many slots must be free for one of these
    time_point gates_at_ = time_point::max();     // then gates are asked again
    std::size_t size_ = 0;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
