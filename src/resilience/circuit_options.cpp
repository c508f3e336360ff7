// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Checks the options of a circuit breaker.
#include <cogwheel/detail/constant_name.hpp>
#include <cogwheel/resilience/circuit_options.hpp>

#include <stdexcept>
#include <string>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

std::string_view to_string(circuit_state s) noexcept {
    return detail::constant_name(s, {"closed", "open", "half_open"});
}

void circuit_breaker_options::validate() const {
    const auto refuse = [](const std::string& why) {
        throw std::invalid_argument("cogwheel::circuit_breaker_options: " + why);
    };
    if (!(failure_rate >= 0 && failure_rate <= 1)) // refuses NaN, too
        refuse("failure_rate is " + std::to_string(failure_rate) +
               ", but must be 0 (off) .. 1; 0.5 suits most clients");
    if (failures_in_a_row == 0 && failure_rate == 0)
        refuse("failures_in_a_row and failure_rate are both 0, but one must be above zero, or it would never open; "
               "5 failures in a row suit most clients");
    if (window < std::chrono::milliseconds(1))
        refuse("window is " + std::to_string(window.count()) +
               " ns, but must be at least 1 ms; 10 s suit most clients");
    if (min_calls < 1) refuse("min_calls is 0, but must be at least 1; 20 suit most clients");
    if (open_for.without_jitter(1) <= std::chrono::nanoseconds::zero())
        refuse("open_for begins with " + std::to_string(open_for.without_jitter(1).count()) +
               " ns, but must be above zero; 5 s suit most clients");
    if (probes < 1) refuse("probes is 0, but must be at least 1, or it would never close again");
    if (probes_to_close < 1) refuse("probes_to_close is 0, but must be at least 1, the one that closes it");
    if (probe_timeout <= std::chrono::nanoseconds::zero())
        refuse("probe_timeout is " + std::to_string(probe_timeout.count()) +
               " ns, but must be above zero; 60 s suit most clients, nanoseconds::max() waits for ever");
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
