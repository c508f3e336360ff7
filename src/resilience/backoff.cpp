// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The growth of a backoff, and the checks of its parameters.
#include <cogwheel/detail/assertion.hpp>
#include <cogwheel/detail/constant_name.hpp>
#include <cogwheel/resilience/backoff.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

namespace {

void refuse(const std::string& why) { throw std::invalid_argument("cogwheel::backoff: " + why); }

std::string in_ns(std::chrono::nanoseconds d) { return std::to_string(d.count()) + " ns"; }

// Returns base^n, by squaring: O(log n), and the same result on every platform. std::pow() may differ.
double power(double base, std::uint32_t n) noexcept {
    double result = 1;
    for (; n != 0; n >>= 1) {
        if ((n & 1) != 0) result *= base;
        base *= base;
    }
    return result;
}

} // namespace

backoff::backoff(nanoseconds first, nanoseconds step, double factor) : first_(first), step_(step), factor_(factor) {
    if (first < nanoseconds::zero())
        refuse("the first delay is " + in_ns(first) + ", but must be zero or more; 100ms suits most clients");
    if (step < nanoseconds::zero())
        refuse("the step is " + in_ns(step) + ", but must be zero or more; zero keeps all delays equal");
    if (!(factor >= 1) || std::isinf(factor))
        refuse("the factor is " + std::to_string(factor) + ", but must be 1 or more and finite; 2 suits most clients");
}

backoff backoff::growing(nanoseconds first, double factor) {
    if (first == nanoseconds::zero())
        refuse("the first delay of an exponential backoff is 0 ns, but must be above zero to grow; 100ms suits most "
               "clients");
    return backoff(first, nanoseconds::zero(), factor);
}

backoff backoff::capped(nanoseconds longest) const {
    if (longest < first_)
        refuse("the cap is " + in_ns(longest) + ", but must be at least the first delay, " + in_ns(first_) +
               "; raise the one or lower the other");
    backoff b = *this;
    b.cap_ = longest;
    return b;
}

backoff backoff::jitter(backoff_jitter kind) const {
    if (kind < backoff_jitter::none || kind > backoff_jitter::decorrelated)
        refuse("the jitter is " + std::to_string(static_cast<int>(kind)) +
               ", but must be one of backoff_jitter; full suits most clients");
    if (kind == backoff_jitter::decorrelated && first_ == nanoseconds::zero())
        refuse("the first delay is 0 ns, but must be above zero for decorrelated jitter; full jitter takes any");
    backoff b = *this;
    b.jitter_ = kind;
    return b;
}

std::chrono::nanoseconds backoff::without_jitter(std::uint32_t retry) const noexcept {
    COGWHEEL_ASSERT(retry >= 1 && "retries are counted from 1");
    const std::uint32_t before = retry - 1;
    if (factor_ > 1) {
        // In floating point, an overflow is infinite, not negative. 2^63 itself does not fit into the integer.
        const double delay = static_cast<double>(first_.count()) * power(factor_, before);
        if (!(delay < 9223372036854775808.0)) return cap_;
        return std::min(cap_, nanoseconds(static_cast<std::int64_t>(delay)));
    }
    if (step_ == nanoseconds::zero() || before == 0) return std::min(cap_, first_);
    if (before > (nanoseconds::max() - first_) / step_) return cap_;
    return std::min(cap_, first_ + step_ * static_cast<std::int64_t>(before));
}

std::string_view to_string(backoff_jitter kind) noexcept {
    return detail::constant_name(kind, {"none", "full", "equal", "decorrelated"});
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
