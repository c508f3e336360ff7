// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The longest single operation, for lists of contenders.
#pragma once

#include "workloads/worst.hpp"

namespace bench {

template <class C>
using longest_schedule = worst_leg<C, timed_call::schedule>;
template <class C>
using longest_cancel = worst_leg<C, timed_call::cancel>;
template <class C>
using longest_touch = worst_leg<C, timed_call::touch>;

} // namespace bench
