// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Random scripts in virtual time against a std::map that knows, for each request, how it may end. After each step the
// counts and all that is in flight are compared; each handler is compared when it is invoked. Scripts stop at every
// handler of the context, so answers also come between a timeout's steps.
#include "support/net/request_rig.hpp"
#include "support/random.hpp"

#include <cogwheel/net/wheel_counts.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>

#include <algorithm>
#include <deque>
#include <list>
#include <map>
#include <optional>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

constexpr int key_count = 12;

template <class Rig>
class request_script {
    using deadline = typename Rig::deadline;
    using limit = typename Rig::limit;

    struct expected { // what the map knows of a request in flight
        int id;
        std::optional<manual_clock::time_point> due;
        std::optional<std::chrono::nanoseconds> when_written;
        deadline until;
        bool withdrawn = false; // its timer was cancelled with all others
        asio::cancellation_signal* signal = nullptr;
    };

public:
    explicit request_script(std::uint64_t seed)
        : random_(seed),
          rig_({.max_in_flight = seed % 3 == 0 ? 5u : 1000u}, {.tick = 10ms, .slots = 4, .work_per_turn = 2}),
          most_(seed % 3 == 0 ? 5 : 1000) {}

    void play(int steps) {
        for (int i = 0; i < steps; ++i) {
            CAPTURE(i);
            step();
            compare();
        }
        settle();
        end_all([&] { return rig_.requests->fail_all(asio::error::eof); }, asio::error::eof, counts_.failed);
        settle();
        REQUIRE(decided_.empty());
        REQUIRE(refused_.empty());
        REQUIRE(invoked_ == counts_.started + counts_.refused);
    }

private:
    void step() {
        const int key = static_cast<int>(random_.below(key_count));
        auto& requests = *rig_.requests;
        switch (random_.below(16)) {
        default:
            return ask(key);
        case 5:
        case 6:
            return end(requests.complete(key, answer_for(key)), key, {}, answer_for(key), counts_.answered, true);
        case 7:
            return end(requests.fail(key, asio::error::no_data), key, asio::error::no_data, "", counts_.failed, true);
        case 8:
            return end(requests.cancel(key), key, aborted, "", counts_.cancelled, false);
        case 9:
            return write(key);
        case 10:
            return emit(key);
        case 11:
            if (random_.below(20) == 0)
                end_all([&] { return requests.fail_all(asio::error::eof); }, asio::error::eof, counts_.failed);
            else if (random_.below(20) == 0)
                withdraw();
            return;
        case 12:
        case 13:
            return manual_clock::advance(10ms * random_.below(4));
        case 14:
            rig_.io.restart();
            rig_.io.poll_one();
            return;
        case 15:
            settle();
        }
    }

    void ask(int key) {
        const auto now = manual_clock::now();
        const auto delay = 10ms * (static_cast<int>(random_.below(8)) - 1);
        expected e{next_id_++, {}, {}, {}};
        std::optional<limit> l;
        switch (random_.below(4)) {
        default:
            l = limit(delay);
            e.due = now + delay;
            break;
        case 1:
            l = limit(deadline::after(delay));
            e.due = now + delay;
            break;
        case 2:
            l = limit(deadline());
            break;
        case 3:
            if (random_.below(2) == 0) {
                e.until = deadline::after(30ms);
                e.due = e.until.expiry();
            }
            l = limit::from_write(delay, e.until);
            e.when_written = delay;
        }
        const bool duplicate = flying_.contains(key);
        const bool too_many = !duplicate && flying_.size() == most_;
        if (duplicate || too_many) {
            refused_[e.id] = duplicate ? errc::duplicate_key : errc::too_many_requests;
            ++counts_.refused;
        } else {
            ++counts_.started;
        }
        const auto handler = [this, id = e.id](std::error_code ec, const std::string& response) {
            invoked(id, ec, response);
        };
        if (random_.below(3) == 0) {
            e.signal = &signals_.emplace_back();
            rig_.requests->async_wait(key, *l, asio::bind_cancellation_slot(e.signal->slot(), handler));
        } else {
            rig_.requests->async_wait(key, *l, handler);
        }
        if (duplicate || too_many) return;
        order_.push_back(key);
        flying_[key] = e;
    }

    void end(bool found, int key, std::error_code ec, const std::string& response, std::uint64_t& count, bool answer) {
        REQUIRE(found == flying_.contains(key));
        if (found)
            decide(key, ec, response, count);
        else if (answer)
            ++counts_.late;
    }

    template <class F>
    void end_all(F f, std::error_code ec, std::uint64_t& count) {
        REQUIRE(f() == flying_.size());
        while (!order_.empty()) decide(order_.front(), ec, "", count);
    }

    void write(int key) {
        const auto at = flying_.find(key);
        const bool waits = at != flying_.end() && at->second.when_written;
        REQUIRE(rig_.requests->written(key) == waits);
        if (!waits) return;
        expected& e = at->second;
        if (!e.withdrawn) e.due = e.until.min(*e.when_written, manual_clock::now()).expiry();
        e.when_written.reset();
    }

    void emit(int key) {
        const auto at = flying_.find(key);
        if (at != flying_.end() && at->second.signal != nullptr) {
            at->second.signal->emit(asio::cancellation_type::total);
            decide(key, aborted, "", counts_.cancelled);
        } else if (!signals_.empty()) {
            // One that is over, most likely.
            for (const auto& [k, e] : flying_)
                if (e.signal == &signals_.front()) return;
            signals_.front().emit(asio::cancellation_type::total);
        }
    }

    void withdraw() {
        rig_.wheel.cancel_all();
        for (auto& [key, e] : flying_) e.withdrawn = e.withdrawn || e.due;
    }

    void decide(int key, std::error_code ec, const std::string& response, std::uint64_t& count) {
        const int id = flying_.at(key).id;
        decided_.push_back({{id, ec, response}, ++group_});
        forget(key);
        ++count;
    }
    void forget(int key) {
        flying_.erase(key);
        order_.erase(std::find(order_.begin(), order_.end(), key));
    }

    /// A request that nobody has ended: its limit may have, or the wheel.
    void decided_by_time(int key, std::error_code ec) {
        const expected e = flying_.at(key);
        if (ec == timed_out) {
            REQUIRE(e.due);
            REQUIRE(*e.due <= manual_clock::now());
            ++counts_.timed_out;
        } else {
            REQUIRE(ec == aborted);
            REQUIRE(e.withdrawn);
            ++counts_.cancelled;
        }
        forget(key);
    }

    void invoked(int id, std::error_code ec, const std::string& response) {
        ++invoked_;
        if (const auto at = refused_.find(id); at != refused_.end()) {
            REQUIRE(ec == at->second);
            refused_.erase(at);
            return;
        }
        for (const auto& [key, e] : flying_)
            if (e.id == id) return decided_by_time(key, ec);
        // In the order in which they were ended; nobody knows that of what a turn did.
        auto at = decided_.begin();
        while (at != decided_.end() && at->group == decided_.front().group && at->end.key != id) ++at;
        REQUIRE(at != decided_.end());
        REQUIRE(at->end == request_end{id, ec, response});
        decided_.erase(at);
    }

    void settle() {
        rig_.run();
        for (const auto& [key, e] : flying_) {
            REQUIRE_FALSE(e.withdrawn);
            if (e.due) REQUIRE(*e.due > manual_clock::now()); // never late by more than the loop
        }
    }

    void compare() {
        const auto& requests = *rig_.requests;
        // Timed out behind those that were decided before: then their handlers are still to come.
        ++group_;
        for (const auto& [key, e] : std::map(flying_)) {
            if (requests.contains(key)) continue;
            REQUIRE(e.due);
            const bool by_limit = requests.stats().timed_out > counts_.timed_out;
            decided_.push_back({{e.id, by_limit ? timed_out : aborted, ""}, group_});
            decided_by_time(key, by_limit ? timed_out : aborted);
        }
        counts_.in_flight = flying_.size();
        REQUIRE(requests.stats() == counts_);
        REQUIRE(counts_agree(requests.stats()));
        compare_totals();
        REQUIRE(requests.in_flight() == order_.size());
        auto at = order_.begin();
        requests.for_each([&](const auto& e) { REQUIRE(e.key == *at++); });
        REQUIRE((order_.empty() ? !requests.oldest() : requests.oldest()->key == order_.front()));
    }

    // The sums of the wheel: this is its only object. It adds refused and late requests later.
    void compare_totals() {
        request_stats totals = request_stats_of(rig_.wheel);
        REQUIRE(totals.refused <= counts_.refused);
        REQUIRE(totals.late <= counts_.late);
        totals.refused = counts_.refused;
        totals.late = counts_.late;
        REQUIRE(totals == counts_);
        const timer_counts timers = rig_.wheel.stats().of(timer_kind::request);
        REQUIRE(timers.scheduled <= counts_.started);
        REQUIRE(timers.pending() <= counts_.in_flight);
    }

    static std::string answer_for(int key) { return "answer " + std::to_string(key); }

    random_source random_;
    std::list<asio::cancellation_signal> signals_; // outlive what waits for them
    Rig rig_;
    std::size_t most_;
    std::map<int, expected> flying_;
    std::deque<int> order_;
    struct decision {
        request_end end; // with the id as key
        int group;
    };
    std::deque<decision> decided_; // their handlers are still to come
    int group_ = 0;
    std::map<int, std::error_code> refused_;
    request_stats counts_;
    std::uint64_t invoked_ = 0;
    int next_id_ = 0;
};

} // namespace

TEST_CASE_TEMPLATE("random_scripts_agree_with_a_map", R, EVERY_REQUESTS) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        request_script<R>(seed).play(500);
    }
}
