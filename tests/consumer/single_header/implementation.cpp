// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Another header of the program may have included it before.
#include "cogwheel_wheel.hpp"

#define COGWHEEL_IMPLEMENTATION
#include "cogwheel_wheel.hpp"
