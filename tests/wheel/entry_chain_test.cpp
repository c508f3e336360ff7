// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Chains keep every entry in order, the pool reuses what it was given, and the sort is stable and reads a tick relative
// to its base.
#include "support/random.hpp"

#include <cogwheel/wheel/detail/entry_chain.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <set>
#include <utility>
#include <vector>

using namespace cogwheel::detail;

namespace {

std::vector<std::pair<std::uint32_t, std::uint32_t>> contents(const entry_chain& chain) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> all; // tick, index
    chain.for_each([&](entry e) { all.emplace_back(e.tick, e.index); });
    return all;
}

} // namespace

TEST_CASE("entry_chain_push_keeps_order_over_chunks") {
    chunk_pool pool;
    entry_chain chain;
    CHECK(chain.empty());
    for (std::uint32_t i = 0; i < 3 * chunk::capacity + 1; ++i) chain.push(pool, {i, 7 * i});
    const auto all = contents(chain);
    REQUIRE(all.size() == 3 * chunk::capacity + 1);
    for (std::uint32_t i = 0; i < all.size(); ++i) CHECK(all[i].second == i);
    chain.give_to(pool);
    CHECK(chain.empty());
    CHECK(chain.tail == nullptr);
}

TEST_CASE("entry_chain_append_joins_and_empties_the_other") {
    chunk_pool pool;
    entry_chain a, b;
    a.append(b);
    CHECK(a.empty());
    b.push(pool, {1, 1});
    a.append(b);
    CHECK(b.empty());
    CHECK(b.tail == nullptr);
    b.push(pool, {2, 2});
    a.append(b);
    a.push(pool, {3, 3});
    CHECK(contents(a).size() == 3);
    CHECK(contents(a).back().second == 3);
    a.give_to(pool);
}

TEST_CASE("chunk_pool_given_chunks_are_taken_again") {
    chunk_pool pool;
    chunk* first = pool.take();
    const std::size_t footprint = pool.footprint();
    for (int i = 0; i < 1000; ++i) {
        pool.give(first);
        CHECK(pool.take() == first);
    }
    CHECK(pool.footprint() == footprint);
}

TEST_CASE("chunk_pool_reserve_makes_room_beside_what_is_taken") {
    chunk_pool pool;
    for (int i = 0; i < 70; ++i) (void)pool.take();
    pool.reserve(200);
    const std::size_t footprint = pool.footprint();
    CHECK(footprint >= 270 * sizeof(chunk));
    for (int i = 0; i < 200; ++i) (void)pool.take();
    CHECK(pool.footprint() == footprint);
    pool.reserve(0);
    CHECK(pool.footprint() == footprint);
}

TEST_CASE("chunk_pool_trim_in_steps_chunks_come_and_go_meanwhile_and_none_is_lost") {
    cogwheel_tests::random_source random(9);
    chunk_pool pool;
    constexpr std::size_t most = 64 * 40;
    std::vector<chunk*> mine;
    std::size_t footprint = 0;
    for (std::size_t round = 0; round < 60; ++round) {
        while (mine.size() < most) mine.push_back(pool.take());
        if (footprint == 0) footprint = pool.footprint();
        CHECK(pool.footprint() == footprint); // so all chunks were found again
        CHECK(std::set<chunk*>(mine.begin(), mine.end()).size() == most);
        for (chunk*& c : mine) std::swap(c, mine[random.below(mine.size())]);
        for (const std::size_t keep = most / 2 * (round % 3); mine.size() > keep; mine.pop_back())
            pool.give(mine.back());
        pool.begin_trim();
        for (cogwheel::work_budget step = 0; pool.trim(step); step = static_cast<std::int64_t>(random.below(2'000))) {
            for (std::uint64_t i = random.below(40); i != 0 && mine.size() < most; --i) mine.push_back(pool.take());
            for (std::uint64_t i = random.below(30); i != 0 && !mine.empty(); --i) {
                pool.give(mine.back());
                mine.pop_back();
            }
            if (random.below(20) == 0) pool.begin_trim(); // another one begins
            if (random.below(100) == 0) break;            // this one is left unfinished
        }
    }
}

TEST_CASE("entry_chain_sort_is_stable_and_relative_to_its_base") {
    cogwheel_tests::random_source random(7);
    const std::uint32_t bases[] = {0, 1, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff};
    for (const std::uint32_t base : bases) {
        for (const std::uint64_t range : {1ULL, 2ULL, 255ULL, 256ULL, 257ULL, 65'536ULL, 1ULL << 24, 0xffffffffULL}) {
            chunk_pool pool;
            entry_chain chain;
            std::vector<std::pair<std::uint32_t, std::uint32_t>> want;
            for (std::uint32_t i = 0; i < 500; ++i) {
                const auto at = static_cast<std::uint32_t>(base + random.below(range + 1));
                chain.push(pool, {i, at});
                want.emplace_back(at, i);
            }
            // By number within an instant, as stable_sort would leave them: libstdc++ 12's warns with Clang 19.
            std::ranges::sort(want, {}, [&](auto e) { return std::pair(e.first - base, e.second); });
            entry_chain sorted;
            CHECK(sorted.append_sorted(pool, chain, base, static_cast<unsigned>(std::bit_width(range))) == 500);
            CAPTURE(base);
            CAPTURE(range);
            CHECK(chain.empty());
            CHECK(contents(sorted) == want);
            sorted.give_to(pool);
        }
    }
}
