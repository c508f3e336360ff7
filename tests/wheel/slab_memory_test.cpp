// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Memory whose unused parts go back to the system, and no part that is in use.
#include <cogwheel/detail/platform.hpp>
#include <cogwheel/wheel/detail/slab_memory.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#if COGWHEEL_LINUX
#include <sys/mman.h>
#include <unistd.h>

using cogwheel::detail::slab_memory;

namespace {

const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

/// Memory that has been written to. Begins and ends with a page of the system.
std::span<std::byte> used(slab_memory& memory, std::size_t bytes) {
    std::byte* piece = memory.take(bytes + page);
    const std::size_t past = reinterpret_cast<std::uintptr_t>(piece) % page;
    const std::span<std::byte> all(piece + (past == 0 ? 0 : page - past), bytes);
    std::fill(all.begin(), all.end(), std::byte{1});
    return all;
}

std::size_t resident_pages(std::span<std::byte> memory) {
    std::vector<unsigned char> pages(memory.size() / page);
    REQUIRE(::mincore(memory.data(), memory.size(), pages.data()) == 0);
    return static_cast<std::size_t>(
        std::count_if(pages.begin(), pages.end(), [](unsigned char p) { return (p & 1) != 0; }));
}

bool untouched(std::span<std::byte> memory) {
    return std::all_of(memory.begin(), memory.end(), [](std::byte b) { return b == std::byte{1}; });
}

} // namespace

TEST_CASE("slab_memory_neighbours_go_back_to_the_system") {
    slab_memory memory;
    const auto all = used(memory, 64 * page);
    CHECK(resident_pages(all) == 64);
    {
        slab_memory::return_run unused(memory);
        for (std::size_t p = 32; p < 48; ++p) unused.add(&all[p * page], page);
        unused.add(&all[60 * page], page); // a run of its own
    }
    CHECK(resident_pages(all) == 64 - 16 - 1);
    CHECK(untouched(all.first(32 * page)));
    CHECK(untouched(all.subspan(48 * page, 12 * page)));
    CHECK(untouched(all.last(3 * page)));
}

TEST_CASE("slab_memory_pages_that_others_share_stay") {
    slab_memory memory;
    const auto all = used(memory, 8 * page);
    {
        slab_memory::return_run unused(memory);
        unused.add(&all[page / 2], 2 * page); // one whole page
        unused.add(&all[5 * page + 1], page); // none
    }
    CHECK(resident_pages(all) == 7);
    CHECK(untouched(all.first(page)));
    CHECK(untouched(all.last(6 * page)));
}

TEST_CASE("slab_memory_huge_pages_go_back_whole_or_not_at_all") {
    slab_memory memory;
    memory.prefer_huge_pages(true);
    constexpr std::size_t huge = slab_memory::huge_page;
    std::byte* piece = memory.take(2 * huge);
    const std::span<std::byte> all(piece, 2 * huge);
    CHECK(reinterpret_cast<std::uintptr_t>(piece) % huge == 0);
    std::fill(all.begin(), all.end(), std::byte{1});
    {
        slab_memory::return_run(memory).add(piece + huge / 2, huge);
    }
    CHECK(untouched(all));
    {
        slab_memory::return_run(memory).add(piece + huge / 2, huge + huge / 2);
    }
    CHECK(resident_pages(all) == huge / page);
    CHECK(untouched(all.first(huge)));
}
#endif
