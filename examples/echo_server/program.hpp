// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What surrounds the server.
#pragma once

#include "server.hpp"

namespace echo {

/// The program. 0: served until the end; 1: something failed on the way; 2: it could not start as asked.
int run(int argc, char** argv);

} // namespace echo
