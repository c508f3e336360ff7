// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include <cogwheel/detail/constant_name.hpp>
#include <cogwheel/resilience/retry_counts.hpp>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

std::string_view to_string(retry_end e) noexcept {
    return detail::constant_name(
        e, {"succeeded", "not_retryable", "attempts_used", "out_of_time", "budget", "cancelled", "wheel"});
}

void retry_counts::add(const retry_result& result) noexcept {
    ends_[static_cast<std::size_t>(result.end)].fetch_add(1, std::memory_order_relaxed);
    attempts_.fetch_add(result.attempts, std::memory_order_relaxed);
}

retry_stats retry_counts::stats() const noexcept {
    retry_stats s;
    for (std::size_t i = 0; i < s.ends.size(); ++i) s.ends[i] = ends_[i].load(std::memory_order_relaxed);
    s.attempts = attempts_.load(std::memory_order_relaxed);
    return s;
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
