// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "task_recorder.hpp"

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

using std::chrono::nanoseconds;
using phase = active_run::phase;

bool task_recorder::keeps(const task_entry& e) const noexcept { return storage_ != nullptr && !e.spec.job.empty(); }

task_record task_recorder::record_of(const task_entry& e) const {
    task_record r{e.spec, e.machine.left(), {}, {}, e.paused, e.result};
    if (const auto next = e.machine.next()) r.next = wall_of(*wheel_, e.spec.when, *next);
    for (const auto& run : e.runs) {
        task_run_record& under_way = r.runs.emplace_back();
        under_way.scheduled = run->scheduled();
        under_way.attempt = run->attempt();
        const phase at = run->at == phase::over ? run->kept : run->at;
        if (at == phase::between_attempts) {
            if (!run->put_off) ++under_way.attempt; // the next attempt
            under_way.retry_at = run->retry_at;
        } else if (at != phase::running && !run->interrupted()) {
            under_way.retry_at = run->scheduled(); // the attempt has not begun
        }
    }
    for (const nanoseconds point : e.machine.waiting())
        r.runs.emplace_back().scheduled = wall_of(*wheel_, e.spec.when, point);
    return r;
}

std::string task_recorder::save(const task_entry& e) noexcept {
    if (!keeps(e) || e.gone || e.cancelled || e.ended) return {};
    try {
        storage_->save(record_of(e));
        return {};
    } catch (...) {
        std::string message = message_of(std::current_exception());
        notify(task_event::kind::unrecorded, e.spec.name, message);
        return message;
    }
}

void task_recorder::erase(const task_entry& e) noexcept {
    if (keeps(e)) erase(e.spec.name);
}

void task_recorder::erase(const std::string& name) noexcept {
    try {
        storage_->erase(name);
    } catch (...) {
        notify(task_event::kind::unrecorded, name, message_of(std::current_exception()));
    }
}

void task_recorder::notify(task_event::kind what, const std::string& name, const std::string& message,
                           const active_run* run) noexcept {
    if (observer_ == nullptr) return;
    observer_->on_event({what, name, run != nullptr ? run->attempt() : 0, task_trigger::wall_point(wheel_->wall()),
                         message, run != nullptr ? run->run_number : 0,
                         run != nullptr ? std::string_view(run->traceparent()) : std::string_view()});
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
