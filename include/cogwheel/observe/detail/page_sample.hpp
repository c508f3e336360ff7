// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a wheel delivers for an update of the page.
#pragma once

#include <cogwheel/observe/detail/metric_samples.hpp>
#include <cogwheel/observe/handler_times.hpp>

#include <optional>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

struct page_sample : wheel_sample {
    std::optional<std::vector<handler_times::entry>> handlers; // only of a wheel with the observer
};

using page_source = metric_source<page_sample>;

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
