// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "contenders/libevent.hpp"

#include "plans/loops.hpp"

void bench::add_libevent(participation& p) {
    add_loop<libevent>(p, event_get_version());
    add_loop<libevent_common>(p, event_get_version());
}
