// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Decides what the end of a transfer means: pure functions.
#pragma once

#include <cogwheel/durable/callback_options.hpp>
#include <cogwheel/durable/http_callback.hpp>

#include <string_view>

#include <curl/curl.h>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// What is known at the end of a transfer.
struct transfer_end {
    CURLcode code = CURLE_OK;
    bool head_complete = true;
    bool address_refused = false; // by the guard; and there was no other address
    error_code local{};           // a fault of this process
    std::string_view detail{};    // libcurl's words, or the guard's
    std::string_view retry_after{};
    std::string_view origin{};
};

/// Sets outcome, error, retry_after and message of a result whose other members are set.
void judge(callback_result& result, const transfer_end& end, const callback_options& options,
           std::chrono::sys_seconds now);

enum class peer_verdict : std::uint8_t { alive, failed, unknown };

/// Returns what the result says about the receiver, for its circuit.
peer_verdict verdict_of(const callback_result& result) noexcept;

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
