// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The fuzzer's seeds and what it once found, replayed.
#include "support/wheel/script_tools.hpp"
#include "support/wheel/wheel_rig.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

using namespace cogwheel_tests;

TEST_CASE("corpus_every_script_does_what_the_reference_does") {
    const auto corpus = std::filesystem::path(__FILE__).parent_path().parent_path() / "fuzz" / "corpus";
    std::size_t scripts = 0;
    for (const auto& file : std::filesystem::directory_iterator(corpus)) {
        std::ifstream in(file.path(), std::ios::binary);
        const script_bytes script(std::istreambuf_iterator<char>(in), {});
        INFO(file.path().filename().string() << "\n" << describe(script));
        CHECK(script.size() > script_header::size);
        CHECK(run_script<cogwheel::hashed_wheel>(script) == "");
        CHECK(run_script<cogwheel::hierarchical_wheel>(script) == "");
        CHECK(run_script<uneven_levels>(script) == "");
        ++scripts;
    }
    CHECK(scripts >= 9);
}
