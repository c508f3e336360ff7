// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A wheel of levels does what the std::multimap does: levels of 2, 4, 8 and 512 slots.
#include "support/wheel/random_scripts.hpp"

using namespace cogwheel_tests;

TEST_CASE("hierarchical_random_scripts_do_what_the_reference_does") {
    compare_with_reference<cogwheel::hierarchical_wheel>();
}
