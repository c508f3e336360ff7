// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include <cogwheel/durable/durable_task.hpp>
#include <cogwheel/durable/error.hpp>

#include <algorithm>

namespace cogwheel::inline v0 {

namespace {

// W3C Trace Context: version, trace id, parent id and flags, in lower-case hex digits, with dashes between.
bool is_traceparent(std::string_view text) noexcept {
    constexpr std::string_view shape = "00-00000000000000000000000000000000-0000000000000000-00";
    if (text.size() != shape.size()) return false;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const bool digit = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');
        if (shape[i] == '-' ? text[i] != '-' : !digit) return false;
    }
    return !text.starts_with("ff");
}

} // namespace

std::error_code durable_task::check() const noexcept {
    constexpr auto least_period = std::chrono::milliseconds(1);
    if (id.empty() || id.size() > max_id) return durable_errc::bad_id;
    if (body.size() > max_body) return durable_errc::bad_body;
    if (max_attempts < 1 || max_attempts > max_max_attempts) return durable_errc::bad_attempts;
    if (!traceparent.empty() && !is_traceparent(traceparent)) return durable_errc::bad_trace;
    if (const auto ec = when.check()) return ec;
    if (when.what() == task_trigger::kind::periodic && when.period() < least_period) return schedule_errc::bad_period;
    if (when.what() == task_trigger::kind::date ? when.first_delay() > max_date.time_since_epoch()
                                                : when.first_delay() > max_delay)
        return durable_errc::bad_due;
    return {};
}

std::string_view to_string(durable_state s) noexcept {
    switch (s) {
    case durable_state::waiting:
        return "waiting";
    case durable_state::running:
        return "running";
    case durable_state::done:
        return "done";
    case durable_state::dead:
        return "dead";
    }
    return "unknown";
}

} // namespace cogwheel::inline v0
