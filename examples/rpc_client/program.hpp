// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What surrounds the client: the command line, and a load.
#pragma once

#include "client.hpp"

namespace rpc {

/// The program. At the end each call that was made has been answered, has timed out or has failed; the sums are
/// printed. 0: they add up; 1: they do not, an answer was wrong, or not one call was answered; 2: it could not start as
/// asked.
int run(int argc, char** argv);

} // namespace rpc
