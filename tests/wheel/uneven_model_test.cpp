// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A wheel of few and uneven levels does what the std::multimap does; most timers go round with its last level.
#include "support/wheel/random_scripts.hpp"

using namespace cogwheel_tests;

TEST_CASE("uneven_levels_random_scripts_do_what_the_reference_does") { compare_with_reference<uneven_levels>(); }
