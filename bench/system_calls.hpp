// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How many system calls a piece of the program makes. Another process counts them, as strace does.
#pragma once

#include <functional>

namespace bench {

/// Those of this thread while f runs; NaN if it may not be traced here. It is slow meanwhile: measure no time in f.
double system_calls_of(const std::function<void()>& f);

} // namespace bench
