// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Static probes (USDT) of a wheel, for tracers such as bpftrace. The CMake option COGWHEEL_PROBES compiles them in.
// Until a tracer attaches, a probe is one nop, and its arguments cost nothing (g++; Clang may store some first).
//
//   schedule(wheel, timer, due)           A timer was armed. It is due at the tick `due`.
//   reschedule(wheel, timer, due)         A pending timer was moved.
//   cancel(wheel, timer)                  A pending timer was cancelled.
//   fire(wheel, timer, due, function)     A timer has expired. Next its handler runs or goes to its executor, or the
//                                         operation that it limits is cancelled.
//   turn_begin(wheel, present, length)    A turn begins: the time since tick 0, and the length of a tick, in ns.
//   turn_end(wheel, fired, duration)      It has fired so many timers, in so many ns.
//
// `wheel` and `timer` are addresses, which later wheels and timers may have again. The name of `function`, an address,
// shows the type of the callable or handler; for a wheel_timer, an idle monitor or a request, Cogwheel's own type.
// The format of the notes: https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation
#pragma once

#ifdef COGWHEEL_PROBES
#include <cogwheel/detail/which_asio.hpp>

#include <sys/sdt.h>
/// Places a probe with `count` arguments.
#define COGWHEEL_PROBE(count, name, ...) DTRACE_PROBE##count(cogwheel, name, __VA_ARGS__)
#else
#define COGWHEEL_PROBE(count, name, ...) static_cast<void>(0)
#endif
