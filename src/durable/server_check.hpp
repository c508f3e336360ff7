// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Whether a Redis server can hold a queue, by what it says of itself.
#pragma once

#include <cogwheel/durable/durable_options.hpp>

#include <string>
#include <string_view>
#include <system_error>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// No error: the server will do. Else `words` say what is wrong, what is wanted, and what to do.
struct server_refusal {
    error_code error{};
    std::string words{};
};

/// Judges the reply to INFO.
server_refusal check_server(std::string_view info, durable_durability wanted);

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
