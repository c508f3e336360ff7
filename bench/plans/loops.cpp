// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// See loops.hpp.
#include "plans/loops.hpp"

namespace bench {

namespace {

participation all_loops() {
    participation all;
#ifdef COGWHEEL_BENCH_LIBUV
    add_libuv(all);
#else
    add_missing(all, "libuv", "libuv1-dev");
#endif
#ifdef COGWHEEL_BENCH_LIBEVENT
    add_libevent(all);
#else
    add_missing(all, "libevent", "libevent-dev");
#endif
#ifdef COGWHEEL_BENCH_LIBEV
    add_libev(all);
#else
    add_missing(all, "libev", "libev-dev");
#endif
    return all;
}

} // namespace

const participation& loop_plan() {
    static const participation all = all_loops();
    return all;
}

} // namespace bench
