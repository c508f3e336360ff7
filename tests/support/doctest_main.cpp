// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors

// The one place that compiles doctest's runner: it costs more than most tests.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
