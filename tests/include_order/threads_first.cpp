// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include <pthread.h>

// After the above: their order is what is tested.
#include "look.hpp"

include_order::asio_as_seen include_order::with_threads_first() { return look(); }
