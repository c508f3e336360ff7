// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The sums of the counts of all pending_requests on one wheel: an extension of the engine.
#pragma once

#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/net/detail/request_table.hpp>
#include <cogwheel/net/request_options.hpp>

#include <cstdint>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Needs the engine's lock.
class request_totals final : public wheel_extension {
public:
    request_stats counts;

    void shut_down() noexcept override {}

    void started() noexcept {
        ++counts.started;
        ++counts.in_flight;
    }
    void ended(ending how) noexcept {
        ++count_of(counts, how);
        --counts.in_flight;
    }
};

/// How much one pending_requests has added of the counts that it changes without the lock.
class rare_counts {
public:
    void add(request_totals& to, const request_stats& now) noexcept {
        to.counts.refused += now.refused - refused_;
        to.counts.late += now.late - late_;
        refused_ = now.refused;
        late_ = now.late;
    }

private:
    std::uint64_t refused_ = 0, late_ = 0;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
