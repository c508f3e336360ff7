// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What most examples include, read once for all of them where tests are built. Each example includes what it needs all
// the same.
#pragma once

#include <cogwheel/asio/timeout_after.hpp>
#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/asio/wheel_timer.hpp>

#include <asio.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>
