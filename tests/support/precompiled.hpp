// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What most tests include, read once for all of them. Each file includes what it needs all the same: it may be compiled
// without.
#pragma once

#include "support/handler_archetypes.hpp"
#include "support/virtual_wheel.hpp"

#include <cogwheel/asio/hierarchical_timer_wheel.hpp>
#include <cogwheel/asio/timeout_after.hpp>
#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/asio/wheel_timer.hpp>

#include <asio.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
