// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The grid of an interval. Each point is an integer sum, so a million periods do not drift.
#include <cogwheel/schedule/detail/interval_machine.hpp>
#include <cogwheel/schedule/repetition.hpp>

#include <algorithm>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

interval_machine::interval_machine(const interval_options& options, nanoseconds start, nanoseconds end)
    : options_(options),
      due_(saturating_add(start, options.first_delay.value_or(options.period))),
      end_(end),
      own_(options.jitter != nanoseconds::zero() && !options.random ? fresh_seed(this, start) : 0) {}

std::optional<interval_machine::nanoseconds> interval_machine::next(nanoseconds now) {
    if (options_.pace == interval_pace::fixed_delay && !first_) due_ = saturating_add(now, options_.period);
    if (count_ >= static_cast<std::uint64_t>(options_.times) || due_ > end_) return std::nullopt;
    if (options_.jitter == nanoseconds::zero()) return due_;
    const std::uint64_t bits = options_.random ? options_.random() : own_();
    const auto later = scale_bits(bits, static_cast<std::uint64_t>(options_.jitter.count()));
    const nanoseconds room = saturating_add(end_, -std::max(due_, -nanoseconds::max())); // due_ may be negative
    drawn_ = std::min(nanoseconds(static_cast<std::int64_t>(later)), room);
    return saturating_add(due_, drawn_);
}

interval_machine::nanoseconds interval_machine::ticked(nanoseconds now) noexcept {
    const nanoseconds was_due = due_;
    ++count_;
    first_ = false;
    if (options_.pace == interval_pace::fixed_rate) due_ = after_missed(now);
    return was_due;
}

interval_machine::nanoseconds interval_machine::after_missed(nanoseconds now) noexcept {
    const std::int64_t passed =
        options_.misfire == interval_misfire::burst ? 0 : points_passed(due_, options_.period, now - drawn_);
    missed_ += static_cast<std::uint64_t>(passed); // these ticks do not come
    if (passed == 0) return saturating_add(due_, options_.period);
    if (options_.misfire == interval_misfire::delay) return saturating_add(now, options_.period);
    return point_ahead(due_, options_.period, now - drawn_);
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
