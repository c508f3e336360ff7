// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Makes the two backends.
#pragma once

#include "task_store.hpp"

#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/durable/durable_options.hpp>
#include <cogwheel/tasks/task_storage.hpp>

#include COGWHEEL_ASIO_HEADER(any_io_executor.hpp)
#include COGWHEEL_ASIO_HEADER(strand.hpp)

#include <memory>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

using store_strand = asio::strand<asio::any_io_executor>;

/// Errors: std::invalid_argument, std::bad_alloc.
std::unique_ptr<task_store> make_redis_store(const timer_wheel&, const store_strand&, const durable_options&);

/// Lifetime: the storage lives until the store's close() returns.
std::unique_ptr<task_store> make_journal_store(const store_strand&, task_storage&, const durable_options&);

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
