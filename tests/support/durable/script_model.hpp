// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The scripts in a real server and the table in memory, side by side.
#pragma once

#include "src/durable/attempt_calls.hpp"
#include "src/durable/script_texts.hpp"
#include "src/durable/task_table.hpp"
#include "support/durable/plain_redis.hpp"
#include "support/durable/redis_server.hpp"
#include "support/durable/stored_task_text.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cogwheel_tests {

template <class T>
std::string model_list(const std::vector<T>& values, auto text) {
    std::string s;
    for (const auto& v : values) s += text(v) + "\n";
    return s;
}

/// Keeps what goes the shared way first: others overtake those of these that go the second way.
template <class Ways>
void keep_plain(const Ways& ways, std::vector<typename Ways::request>& requests) {
    std::set<std::string> seen; // each id once
    std::erase_if(requests, [&](const auto& r) { return !ways.is_plain(r) || !seen.insert(r.id).second; });
}

/// The scripts and the table side by side.
struct model_pair {
    model_pair(plain_redis& r, const redis_server& server) : redis(r), ears(server.socket()) {
        ears({"SUBSCRIBE", cogwheel::detail::queue_names::channel("compared")});
        for (const cogwheel::detail::script_text& s : cogwheel::detail::script_texts())
            redis(cogwheel::redis_command{"SCRIPT", "LOAD", s.text});
    }

    cogwheel::redis_reply run(const cogwheel::detail::script_call& call) {
        cogwheel::redis_reply r = redis(call.command);
        if (r.is_error()) throw std::runtime_error(r.text());
        return r;
    }
    /// First the shared way, then the other one.
    template <class Ways>
    auto run(Ways ways, const std::vector<typename Ways::request>& requests) {
        cogwheel::detail::attempt_calls<Ways> attempts(std::move(ways), requests);
        for (auto some = attempts.next(); !some.empty(); some = attempts.next())
            for (std::size_t k = 0; k < some.size(); ++k) CHECK(attempts.take(k, run(some[k])));
        std::vector<typename Ways::taken> all;
        for (const auto& a : attempts.take_answers()) all.push_back(a.value());
        return all;
    }
    /// The hints since the last call.
    std::string server_hints() {
        std::string all;
        for (cogwheel::redis_reply r = ears({"PING"}); r.elements().at(0).text() == "message"; r = ears.next())
            all += r.elements().at(2).text() + " ";
        return all;
    }
    std::string table_hints(std::int64_t now) {
        const auto hint = table.wake(now);
        table.note_changes();
        return hint == cogwheel::detail::task_table::wake_hint::none   ? ""
               : hint == cogwheel::detail::task_table::wake_hint::soon ? "3 "
                                                                       : "+3 ";
    }
    cogwheel::detail::shard_calls& at(std::int64_t us) {
        calls.now = std::to_string(us);
        return calls;
    }

    std::string table_state() const {
        std::string s = fmt::format("paused {} gen {}\n", table.paused(), table.last_generation());
        for (const auto& [id, r] : table.records()) s += fmt::format("{} at {}\n", stored_task_text(r.task), r.place);
        return s;
    }
    std::string server_state() {
        std::map<std::string, std::string> records, bodies, seq, notes, places;
        const std::pair<std::size_t, std::map<std::string, std::string>*> hashes[] = {
            {1, &records}, {2, &bodies}, {3, &seq}, {6, &notes}};
        constexpr std::size_t sets[] = {0, 4, 5};
        std::vector<cogwheel::redis_command> reads;
        for (const auto& [key, values] : hashes) reads.push_back({"HGETALL", calls.keys()[key]});
        for (const std::size_t key : sets) reads.push_back({"ZRANGE", calls.keys()[key], "0", "-1", "WITHSCORES"});
        const auto replies = redis.together(reads);
        for (std::size_t r = 0; r < replies.size(); ++r) {
            const auto& all = replies[r].elements();
            for (std::size_t i = 0; i < all.size(); i += 2) {
                if (r < std::size(hashes))
                    (*hashes[r].second)[all[i].text()] = all[i + 1].text();
                else
                    places[all[i].text()] += " at " + all[i + 1].text();
            }
        }
        std::string s = fmt::format("paused {} gen {}\n", seq["paused"] == "1", seq["gen"].empty() ? "0" : seq["gen"]);
        const auto text = [](const std::string& bytes) {
            return cogwheel::redis_reply::text(cogwheel::redis_reply::kind::string, bytes);
        };
        for (const auto& [id, record] : records) {
            const auto task = cogwheel::detail::read_found(
                id, cogwheel::redis_reply::array({text(record), text(bodies[id]), text(notes[id])}));
            s += stored_task_text(*task) + places[id] + "\n";
            // What is left of these belongs to no task.
            places.erase(id), bodies.erase(id), notes.erase(id);
        }
        for (const auto& [id, place] : places) s += fmt::format("{:?} has no record, but is{}\n", id, place);
        for (const auto& [id, body] : bodies) s += fmt::format("{:?} has no record, but a body\n", id);
        for (const auto& [id, note] : notes) s += fmt::format("{:?} has no record, but a message\n", id);
        return s;
    }

    plain_redis& redis;
    plain_redis ears;
    cogwheel::detail::script_library scripts;
    cogwheel::detail::shard_calls calls{scripts, "compared", 3};
    cogwheel::detail::task_table table;
};

} // namespace cogwheel_tests
