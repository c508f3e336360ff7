// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Lists of the binding's plan that have a source file of their own.
#pragma once

#include "plan.hpp"

namespace bench {

// ---- threads.cpp ----

entrants shared_churn();
entrants shared_touch();
entrants per_thread_churn();
entrants per_thread_touch();

// ---- worst.cpp ----

entrants worst_schedule();
entrants worst_cancel();
entrants worst_touch();
entrants worst_turn();
entrants worst_turn_kept();

} // namespace bench
