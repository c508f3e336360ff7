// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "task_scheduler_impl.hpp"

#include <cogwheel/tasks/task_scheduler.hpp>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

task_scheduler::task_scheduler(std::unique_ptr<detail::task_wheel> wheel, task_scheduler_options options) {
    options.validate();
    impl_ = std::make_shared<detail::task_scheduler_impl>(std::move(wheel), std::move(options));
}

task_scheduler::task_scheduler(task_scheduler&&) noexcept = default;

task_scheduler::~task_scheduler() {
    if (impl_ != nullptr) impl_->end();
}

void task_scheduler::define(std::string name, task_job job, job_options options) {
    impl_->define(std::move(name), std::move(job), std::move(options));
}

error_code task_scheduler::add(task t, on_duplicate policy) { return impl_->add(std::move(t), nullptr, policy); }

error_code task_scheduler::add_with(task t, task_job job, job_options options, on_duplicate policy) {
    auto own = std::make_shared<const detail::defined_job>(std::move(job), std::move(options));
    return impl_->add(std::move(t), std::move(own), policy);
}

task_batch_result task_scheduler::add_all(std::vector<task> tasks, on_duplicate policy) {
    return impl_->add_all(std::move(tasks), policy);
}

task_cancel_result task_scheduler::cancel(std::string_view name) { return impl_->cancel(name); }
bool task_scheduler::pause(std::string_view name) { return impl_->pause(name); }
bool task_scheduler::resume(std::string_view name) { return impl_->resume(name); }
bool task_scheduler::forget(std::string_view name) { return impl_->forget(name); }
std::optional<task_info> task_scheduler::find(std::string_view name) const { return impl_->find(name); }
std::vector<task_info> task_scheduler::snapshot() const { return impl_->snapshot(); }
task_counts task_scheduler::counts() const { return impl_->counts(); }
task_stats task_scheduler::stats() const { return impl_->stats(); }
task_recovery task_scheduler::recover() { return impl_->recover(); }
void task_scheduler::stop() { impl_->stop(); }

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
COGWHEEL_BUILT_WITH_ASIO(tasks)
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
