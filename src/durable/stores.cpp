// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "stores.hpp"

#include "journal_store.hpp"
#include "redis_store.hpp"

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

std::unique_ptr<task_store> make_redis_store(const timer_wheel& wheel, const store_strand& on,
                                             const durable_options& options) {
    return std::make_unique<redis_store>(wheel, on, options);
}

std::unique_ptr<task_store> make_journal_store(const store_strand& on, task_storage& storage, const durable_options&) {
    return std::make_unique<journal_store>(on, storage);
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
