// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A wheel does what the std::multimap does: random scripts, every outcome compared, on wheels of 1, 4, 8 and 512 slots.
#include "support/wheel/random_scripts.hpp"

using namespace cogwheel_tests;

TEST_CASE("model_random_scripts_do_what_the_reference_does") { compare_with_reference<cogwheel::hashed_wheel>(); }
