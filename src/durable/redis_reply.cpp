// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include <cogwheel/detail/constant_name.hpp>
#include <cogwheel/durable/redis_reply.hpp>

#include <array>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

error_code redis_reply::error() const noexcept {
    static constexpr auto codes = std::to_array<std::pair<std::string_view, durable_errc>>({
        {"OOM", durable_errc::server_full},
        {"WRONGTYPE", durable_errc::wrong_type},
        {"NOAUTH", durable_errc::access_denied},
        {"WRONGPASS", durable_errc::access_denied},
        {"NOPERM", durable_errc::access_denied},
        {"DENIED", durable_errc::access_denied}, // protected mode
        {"LOADING", durable_errc::server_busy},
        {"BUSY", durable_errc::server_busy},
        {"MASTERDOWN", durable_errc::server_busy},
        {"READONLY", durable_errc::server_busy}, // a replica, after a failover
        {"NOREPLICAS", durable_errc::server_busy},
        {"TRYAGAIN", durable_errc::server_busy},
        {"CLUSTERDOWN", durable_errc::server_busy},
        {"MISCONF", durable_errc::server_busy}, // it cannot save to its disk, and refuses writes until it can
        {"MOVED", durable_errc::server_busy},
        {"ASK", durable_errc::server_busy},
    });
    if (kind_ != kind::error) return {};
    const std::string_view word = std::string_view(text_).substr(0, text_.find(' '));
    for (const auto& [name, code] : codes)
        if (word == name) return code;
    return durable_errc::server_error;
}

std::string_view to_string(redis_reply::kind kind) noexcept {
    return detail::constant_name(kind, {"nil", "integer", "string", "status", "error", "array"});
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
