// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The table of requests against a std::map and a list, after every step of random scripts; good hashes and bad ones.
#include "support/random.hpp"

#include <cogwheel/net/detail/request_table.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace cogwheel;
using namespace cogwheel::detail;
using cogwheel_tests::random_source;

namespace {

struct asked : request_links<asked, int, int> {
    using request_links::request_links;
};
struct all_the_same {
    std::size_t operator()(int) const { return 42; }
};
struct multiples_of_a_page {
    std::size_t operator()(int key) const { return static_cast<std::size_t>(key) * 4096; }
};

/// The table, and what is to be in it.
template <class Hash>
class bench {
public:
    explicit bench(std::size_t max_in_flight) : table_(max_in_flight), max_(max_in_flight) {}

    void step(random_source& random, int most_keys) {
        const int key = static_cast<int>(random.below(static_cast<std::uint64_t>(most_keys)));
        switch (random.below(8)) {
        default:
            start(key);
            break;
        case 4:
        case 5:
            remove(table_.find_answered(key), key, static_cast<ending>(random.below(4)), true);
            break;
        case 6:
            if (!order_.empty()) remove(table_.oldest(), order_.front(), ending::timed_out, false);
            break;
        case 7:
            remove(table_.find(key), key, ending::cancelled, false);
        }
    }

    void check() {
        const char* broken = table_.check_invariants();
        REQUIRE_MESSAGE(broken == nullptr, broken);
        REQUIRE(table_.stats() == expected_);
        REQUIRE(table_.size() == order_.size());
        REQUIRE(table_.empty() == order_.empty());
        auto at = order_.begin();
        for (const asked* r = table_.oldest(); r != nullptr; r = table_.next(*r), ++at) {
            REQUIRE(at != order_.end());
            REQUIRE(r->key() == *at);
            REQUIRE(r->started() == started_.at(*at));
            REQUIRE(table_.find(*at) == r);
        }
        REQUIRE(at == order_.end());
    }

    void clear() {
        while (!order_.empty()) remove(table_.oldest(), order_.front(), ending::failed, false);
    }

private:
    void start(int key) {
        const auto verdict = table_.admit(key);
        if (started_.contains(key)) {
            REQUIRE(verdict.what == request_admission::duplicate_key);
            ++expected_.refused;
        } else if (started_.size() == max_) {
            REQUIRE(verdict.what == request_admission::too_many);
            ++expected_.refused;
        } else {
            REQUIRE(verdict.what == request_admission::accepted);
            requests_[key] = std::make_unique<asked>(key, ++time_);
            table_.insert(*requests_[key], verdict.hash);
            started_[key] = time_;
            order_.push_back(key);
            ++expected_.started;
            ++expected_.in_flight;
        }
    }

    void remove(asked* found, int key, ending how, bool answer) {
        if (!started_.contains(key)) {
            REQUIRE(found == nullptr);
            if (answer) ++expected_.late;
            return;
        }
        REQUIRE(found == requests_[key].get());
        table_.remove(*found, how);
        requests_.erase(key); // its memory, too
        started_.erase(key);
        order_.erase(std::find(order_.begin(), order_.end(), key));
        --expected_.in_flight;
        ++(how == ending::answered    ? expected_.answered
           : how == ending::timed_out ? expected_.timed_out
           : how == ending::failed    ? expected_.failed
                                      : expected_.cancelled);
    }

    request_table<asked, Hash, std::equal_to<int>> table_;
    std::map<int, std::unique_ptr<asked>> requests_;
    std::map<int, int> started_;
    std::deque<int> order_;
    request_stats expected_;
    std::size_t max_;
    int time_ = 0;
};

} // namespace

TEST_CASE_TEMPLATE("request_table_random_scripts_agree_with_a_map", Hash, std::hash<int>, all_the_same,
                   multiples_of_a_page) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        CAPTURE(seed);
        random_source random(seed);
        const int keys = seed % 3 == 0 ? 4 : seed % 3 == 1 ? 40 : 400;
        bench<Hash> b(seed % 2 == 0 ? 1000000 : static_cast<std::size_t>(keys) / 2);
        for (int i = 0; i < 600; ++i) {
            b.step(random, keys);
            b.check();
        }
        b.clear();
        b.check();
    }
}

TEST_CASE("request_table_room_beforehand_is_not_asked_for_again") {
    struct throwing_hash {
        std::size_t operator()(int key) const {
            if (key < 0) throw std::runtime_error("hash");
            return static_cast<std::size_t>(key);
        }
    };
    request_table<asked, throwing_hash, std::equal_to<int>> table(100, 64);
    CHECK_THROWS_AS(table.admit(-1), std::runtime_error);
    CHECK(table.stats() == request_stats());
    CHECK(table.check_invariants() == nullptr);
    CHECK(table.find(-1) == nullptr); // empty: not even hashed
    CHECK(table.find(1) == nullptr);
}

TEST_CASE("request_table_duplicate_at_the_limit_is_a_duplicate") {
    request_table<asked, std::hash<int>, std::equal_to<int>> table(1);
    const auto verdict = table.admit(7);
    asked request(7, 0);
    table.insert(request, verdict.hash);
    CHECK(table.admit(7).what == request_admission::duplicate_key);
    CHECK(table.admit(8).what == request_admission::too_many);
    table.remove(request, ending::answered);
    CHECK(table.admit(8).what == request_admission::accepted);
    table.count_refused(); // elsewhere
    CHECK(table.stats().refused == 3);
}

TEST_CASE("request_table_keys_apart_by_a_power_of_two_are_spread") {
    // Else each look would walk a long chain: counted by comparing keys.
    static std::size_t compared = 0;
    struct counting_equal {
        bool operator()(int a, int b) const {
            ++compared;
            return a == b;
        }
    };
    request_table<asked, multiples_of_a_page, counting_equal> table(100000);
    std::deque<asked> requests;
    for (int key = 0; key < 4096; ++key) table.insert(requests.emplace_back(key, 0), table.admit(key).hash);
    compared = 0;
    for (int key = 0; key < 4096; ++key) CHECK(table.find(key) != nullptr);
    CHECK(compared == 4096); // hashes are compared first
    CHECK(table.longest_chain() <= 8);
    CHECK(table.longest_chain() >= 1);
    for (asked& r : requests) table.remove(r, ending::answered);
}
