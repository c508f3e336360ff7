// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What surrounds the server: the command line, and clients of all sorts to try it on.
#pragma once

#include "server.hpp"

namespace guard {

/// The program. Returns its exit code.
int run(int argc, char** argv);

/// Good clients and bad ones, all at once, against a server of its own. Prints what became of them.
/// 0: each was treated as it should be, and none was late before its time; else 1.
int self_test();

} // namespace guard
