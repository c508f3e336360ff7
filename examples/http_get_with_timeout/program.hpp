// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What surrounds a request: the command line, and a server with bad manners to try it on.
#pragma once

#include "exchange.hpp"

namespace http {

/// The whole request. `to` and `most` outlive it.
asio::awaitable<response> get(wheel& timers, const target& to, const limits& most, body_sink sink);

/// The program. Returns its exit code.
int run(int argc, char** argv);

/// Fetches from a server of its own on the loopback, all cases at once, and prints what ended each.
/// 0: each ended as it should, and none before its limit; else 1.
int self_test();

} // namespace http
