// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "look.hpp"

#include <cogwheel/detail/which_asio.hpp>

include_order::asio_as_seen include_order::with_cogwheel_first() { return look(); }
