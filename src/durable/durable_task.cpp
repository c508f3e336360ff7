// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "../detail/traceparent.hpp"

#include <cogwheel/detail/constant_name.hpp>
#include <cogwheel/durable/durable_task.hpp>
#include <cogwheel/durable/error.hpp>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

error_code durable_task::check() const noexcept {
    constexpr auto least_period = std::chrono::milliseconds(1);
    const bool recurs = when.what() == task_trigger::kind::periodic || when.what() == task_trigger::kind::cron;
    if (id.empty() || id.size() > (recurs ? max_recurring_id : max_id)) return durable_errc::bad_id;
    if (body.size() > max_body) return durable_errc::bad_body;
    if (max_attempts < 1 || max_attempts > max_max_attempts) return durable_errc::bad_attempts;
    if (!traceparent.empty() && !detail::is_traceparent(traceparent)) return durable_errc::bad_trace;
    if (const auto ec = when.check()) return ec;
    if (when.what() == task_trigger::kind::periodic && when.period() < least_period) return task_errc::bad_period;
    if (when.what() == task_trigger::kind::date ? when.first_delay() > max_date.time_since_epoch()
                                                : when.first_delay() > max_delay)
        return durable_errc::bad_due;
    return {};
}

std::string_view to_string(durable_state s) noexcept {
    return detail::constant_name(s, {"waiting", "running", "done", "dead"});
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
