// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include <cogwheel/detail/which_asio.hpp>

// After the above: their order is what is tested.
#include "look.hpp"

include_order::asio_as_seen include_order::with_cogwheel_first() { return look(); }
