// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The service as a whole: the queue, the interface, and the worker, from the start to the drain.
#pragma once

#include "settings.hpp"

namespace cogwheeld {

/// Serves until SIGTERM or SIGINT. Prints "listening on ADDRESS:PORT" first. Returns the exit code: 0 after a complete
/// drain; 1: the queue cannot be used, or the drain took too long. Errors: those of its parts, before it listens.
int serve(invocation);

/// Repairs the queue, and prints what it found. Returns 0; 1: the queue cannot be used.
int audit(const settings&);

} // namespace cogwheeld
