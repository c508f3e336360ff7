// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "asio_as_seen.hpp"

#include <doctest/doctest.h>

namespace {

void check_sizes(const include_order::asio_as_seen& seen) {
    const auto expected = include_order::with_cogwheel_first();
    REQUIRE(seen.sizes.size() == expected.sizes.size());
    for (const auto& [type, bytes] : expected.sizes) {
        CAPTURE(type);
        CHECK(seen.sizes.at(type) == bytes);
    }
}

void check_macros(const include_order::asio_as_seen& seen) {
    const auto expected = include_order::with_cogwheel_first();
    REQUIRE(seen.macros.size() == expected.macros.size());
    CHECK(seen.macros.at("THREADS") == "1");
    for (const auto& [macro, value] : expected.macros) {
        CAPTURE(macro);
        CHECK(seen.macros.at(macro) == value);
    }
}

} // namespace

TEST_CASE("asio_is_the_same_whatever_a_file_includes_first") {
    SUBCASE("threads") {
        check_sizes(include_order::with_threads_first());
        check_macros(include_order::with_threads_first());
    }
    SUBCASE("Asio") {
        auto seen = include_order::with_asio_first();
        check_sizes(seen);
        // Asio 1.22 detects aligned_alloc() only after a header of libstdc++. Both ways, malloc() allocates.
        seen.macros["STD_ALIGNED_ALLOC"] = include_order::with_cogwheel_first().macros["STD_ALIGNED_ALLOC"];
        check_macros(seen);
    }
}
