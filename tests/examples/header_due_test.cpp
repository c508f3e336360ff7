// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Until when a header may take (examples/slowloris_guard): against the definition, which looks at every stretch of
// time.
#include "slowloris_guard/header_due.hpp"

#include <doctest/doctest.h>

#include <random>
#include <vector>

using namespace guard;
using namespace std::chrono_literals;

namespace {

constexpr clock::time_point accepted{1h};

struct piece {
    std::chrono::nanoseconds at;
    std::size_t bytes;
};

// Late at `now` iff in some stretch that ends there, and began at the start or with a piece, too little has come.
bool late_by_definition(const demands& d, const std::vector<piece>& pieces, std::chrono::nanoseconds now) {
    if (now >= d.within) return true;
    for (std::size_t i = 0; i <= pieces.size(); ++i) {
        const auto from = i == 0 ? 0ns : pieces[i - 1].at;
        std::int64_t bytes = 0;
        for (std::size_t k = i; k < pieces.size(); ++k) bytes += static_cast<std::int64_t>(pieces[k].bytes);
        if (now - from >= d.grace + std::chrono::nanoseconds{1s} / d.rate * bytes) return true;
    }
    return false;
}

} // namespace

TEST_CASE("header_due_at_first_is_the_grace_period") {
    CHECK(header_due({.within = 10s, .grace = 2s}, accepted).at() == accepted + 2s);
    CHECK(header_due({.within = 1s, .grace = 2s}, accepted).at() == accepted + 1s);
}

TEST_CASE("header_due_byte_buys_its_share_of_a_second") {
    const demands d{.within = 10s, .grace = 2s, .rate = 100};
    header_due due{d, accepted};
    due.received(50, accepted + 1s);
    CHECK(due.at() == accepted + 2500ms);
}

TEST_CASE("header_due_savings_end_at_the_grace_period") {
    const demands d{.within = 100s, .grace = 2s, .rate = 100};
    header_due due{d, accepted};
    due.received(8000, accepted + 1s);
    CHECK(due.at() == accepted + 3s);
}

TEST_CASE("header_due_never_passes_the_limit_of_the_whole") {
    const demands d{.within = 10s, .grace = 2s, .rate = 100};
    header_due due{d, accepted};
    for (auto t = 0s; t < 10s; t += 1s) due.received(1000, accepted + t);
    CHECK(due.at() == accepted + 10s);
}

TEST_CASE("header_due_any_sequence_agrees_with_the_definition") {
    std::mt19937 random{1};
    for (int round = 0; round < 300; ++round) {
        const demands d{.within = std::chrono::milliseconds{1 + random() % 3000},
                        .grace = std::chrono::milliseconds{1 + random() % 300},
                        .rate = std::int64_t{1} << random() % 10};
        header_due due{d, accepted};
        std::vector<piece> pieces;
        std::chrono::nanoseconds now{};
        for (int i = 0; i < 40; ++i) {
            now += std::chrono::milliseconds{random() % 120};
            const bool late = accepted + now >= due.at();
            REQUIRE(late == late_by_definition(d, pieces, now));
            if (late) break;
            const auto before = due.at();
            pieces.push_back({now, random() % 20});
            due.received(pieces.back().bytes, accepted + now);
            REQUIRE(due.at() >= before);
        }
    }
}
