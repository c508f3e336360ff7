// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "task_pool.hpp"

#include <algorithm>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

task_pool::task_pool(const task_scheduler_options& options) {
    if (options.executor) return;
    const std::size_t threads =
        options.pool.threads != 0 ? options.pool.threads : std::max(std::thread::hardware_concurrency(), 1U);
    limit_ = threads + options.pool.queue;
    threads_.emplace(threads);
}

std::shared_ptr<active_run> task_pool::next() noexcept {
    if (queue_.empty() || !has_room()) return nullptr;
    std::shared_ptr<active_run> run = queue_.front()->shared_from_this();
    leave_queue(*run);
    return run;
}

bool calling_threads::join(calling_thread& here, owning_list<active_run>& runs) noexcept {
    if (runs.empty()) return false;
    calling_thread* first = top_;
    while (first != nullptr && first->id != here.id) first = first->below;
    calling_thread& who = first != nullptr ? *first : here;
    while (const std::shared_ptr<active_run> run = runs.pop()) who.queue.push(run);
    if (first != nullptr) return false;
    here.below = std::exchange(top_, &here);
    return true;
}

std::shared_ptr<active_run> calling_threads::next(calling_thread& here) noexcept {
    if (!here.queue.empty()) return here.queue.pop();
    calling_thread** link = &top_;
    while (*link != &here) link = &(*link)->below;
    *link = here.below;
    return nullptr;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
