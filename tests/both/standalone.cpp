// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "half.hpp"

namespace both {

report live_standalone(const std::string& name, const std::string& journal) { return live(name, journal); }

} // namespace both
