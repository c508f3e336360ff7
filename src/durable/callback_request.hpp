// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// One callback on its way through a sender.
#pragma once

#include <cogwheel/durable/detail/completion.hpp>
#include <cogwheel/durable/http_callback.hpp>
#include <cogwheel/resilience/circuit_breaker.hpp>

#include <list>
#include <memory>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

class callback_transfer;
struct callback_host;

struct callback_request {
    using ptr = std::shared_ptr<callback_request>;
    enum class place : std::uint8_t { fresh, waiting, in_flight, over };

    http_callback call;
    callback_delivery delivery;
    completion<callback_result> done{};

    // On the strand:
    place where = place::fresh;
    bool cancelled = false; // while fresh
    callback_host* host = nullptr;
    std::list<ptr>::iterator position{}; // in the host's list of waiting ones, or in the list of those in flight
    std::unique_ptr<callback_transfer> transfer{};
    circuit_breaker<>::call permit{};
    std::chrono::steady_clock::time_point submitted{}, started{};
    callback_result result{};
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
