// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "contenders/libuv.hpp"

#include "plans/loops.hpp"

void bench::add_libuv(participation& p) { add_loop<libuv>(p, uv_version_string()); }
