// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "contenders/libev.hpp"

#include "plans/loops.hpp"

void bench::add_libev(participation& p) {
    add_loop<libev>(p, std::to_string(ev_version_major()) + "." + std::to_string(ev_version_minor()));
}
