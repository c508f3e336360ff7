// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The bucket. Only counts depend on it, so relaxed order is enough. The thread that moves filled_at_ adds the tokens of
// that time, once.
#include <cogwheel/resilience/retry_budget.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

namespace {

// The parts of a token. The largest bucket, 1e6 tokens, is less than 2^40 parts.
constexpr std::int64_t token = std::int64_t{1} << 20;
constexpr std::int64_t never_filled = std::numeric_limits<std::int64_t>::min();
constexpr auto relaxed = std::memory_order_relaxed;

std::int64_t parts_of(double tokens) noexcept { return std::llround(tokens * static_cast<double>(token)); }

} // namespace

void retry_budget_options::validate() const {
    const auto require = [](bool ok, const char* name, double value, const char* rest) {
        if (!ok)
            throw std::invalid_argument("cogwheel::retry_budget_options: " + std::string(name) + " is " +
                                        std::to_string(value) + ", but must be " + rest);
    };
    // In this form the conditions refuse NaN, too.
    require(ratio >= 0 && ratio <= 100, "ratio", ratio, "0 .. 100; 0.1 or 0.2 suit most clients");
    require(min_per_second >= 0 && min_per_second <= 1e6, "min_per_second", min_per_second,
            "0 .. 1e6; 10 suits most clients, 0 leaves it to the ratio alone");
    require(capacity >= 1 && capacity <= 1e6, "capacity", capacity, "1 .. 1e6; ten times min_per_second suits most");
}

retry_budget::retry_budget(const retry_budget_options& options)
    : capacity_((options.validate(), parts_of(options.capacity))),
      per_deposit_(parts_of(options.ratio)),
      per_ns_(options.min_per_second * static_cast<double>(token) / 1e9),
      parts_(capacity_),
      filled_at_(never_filled) {}

void retry_budget::deposit() noexcept {
    deposits_.fetch_add(1, relaxed);
    put_in(per_deposit_);
}

bool retry_budget::withdraw_at(std::chrono::nanoseconds now) noexcept {
    refill(now.count());
    std::int64_t have = parts_.load(relaxed);
    while (have >= token) {
        if (parts_.compare_exchange_weak(have, have - token, relaxed)) {
            granted_.fetch_add(1, relaxed);
            return true;
        }
    }
    refused_.fetch_add(1, relaxed);
    return false;
}

double retry_budget::balance_at(std::chrono::nanoseconds now) noexcept {
    refill(now.count());
    return static_cast<double>(parts_.load(relaxed)) / static_cast<double>(token);
}

retry_budget_stats retry_budget::stats() const noexcept {
    return {deposits_.load(relaxed), granted_.load(relaxed), refused_.load(relaxed)};
}

void retry_budget::refill(std::int64_t now) noexcept {
    if (per_ns_ == 0) return;
    std::int64_t since = filled_at_.load(relaxed);
    if (since == never_filled) {
        // The first reading of the clock: the bucket starts full, so no tokens are due.
        filled_at_.compare_exchange_strong(since, now, relaxed);
        return;
    }
    if (now <= since) return;
    const std::uint64_t elapsed =
        static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(since); // exact for any two readings
    const double earned = static_cast<double>(elapsed) * per_ns_;
    std::int64_t parts = capacity_;
    std::int64_t until = now;
    if (earned < static_cast<double>(capacity_)) {
        // Moves filled_at_ only by the time of whole parts, rounded up to 1 ns; the rest is earned later. Compared with
        // one long step, many small steps lose less than 1 ns each, and never earn more.
        parts = static_cast<std::int64_t>(earned);
        if (parts == 0) return;
        until = std::min(now, since + static_cast<std::int64_t>(std::ceil(static_cast<double>(parts) / per_ns_)));
    }
    if (filled_at_.compare_exchange_strong(since, until, relaxed)) put_in(parts);
}

void retry_budget::put_in(std::int64_t parts) noexcept {
    std::int64_t have = parts_.load(relaxed);
    while (!parts_.compare_exchange_weak(have, std::min(capacity_, have + parts), relaxed)) {
    }
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
