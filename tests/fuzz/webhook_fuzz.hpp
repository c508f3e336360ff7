// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Any bytes as what others send to the HTTP side of durable timers: an encoded callback, Retry-After, a signature, a
// network, a URL. A promise that does not hold ends the run.
#pragma once

#include "src/durable/http_url.hpp"
#include "src/durable/retry_after.hpp"

#include <cogwheel/durable/http_callback.hpp>
#include <cogwheel/durable/ssrf_guard.hpp>
#include <cogwheel/durable/webhook_signature.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace cogwheel_tests {

inline void demand(bool holds, const char* promise) {
    if (holds) return;
    std::fprintf(stderr, "fuzz_webhook: %s\n", promise);
    std::abort();
}

/// The first byte chooses what the others are.
inline void fuzz_webhook(std::span<const std::uint8_t> data) {
    using namespace cogwheel;
    if (data.empty()) return;
    const std::string_view text(reinterpret_cast<const char*>(data.data()) + 1, data.size() - 1);
    switch (data[0] % 6) {
    case 0: {
        if (const auto call = http_callback::decode(text)) {
            demand(!call->check(), "a decoded callback is valid");
            demand(call->encode() == text, "a callback has one encoding");
        }
        break;
    }
    case 1: {
        // Fields from the bytes: what check() accepts comes back.
        const auto part = [&](std::size_t i, std::size_t n) {
            return std::string(text.substr(text.size() * i / n, text.size() / n));
        };
        const http_callback call{.url = "http://" + part(0, 5),
                                 .method = "PUT",
                                 .headers = {{part(1, 5), part(2, 5)}},
                                 .body = part(3, 5),
                                 .content_type = part(4, 5)};
        if (!call.check()) demand(http_callback::decode(call.encode()) == call, "a valid callback comes back");
        break;
    }
    case 2: {
        const std::chrono::sys_seconds now(std::chrono::seconds(1'700'000'000));
        if (const auto wait = detail::parse_retry_after(text, now, std::chrono::hours(24)))
            demand(wait->count() >= 0 && *wait <= std::chrono::hours(24), "a delay is within its limits");
        break;
    }
    case 3: {
        static const webhook_key key = webhook_key::from_text("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        const std::size_t a = text.size() / 3, b = text.size() * 2 / 3;
        const std::chrono::system_clock::time_point now(std::chrono::seconds(1'614'265'330));
        demand(
            bool(verify_webhook(
                {&key, 1}, {.id = text.substr(0, a), .timestamp = text.substr(a, b - a), .signature = text.substr(b)},
                "body", now)),
            "a foreign message is refused");
        const std::string id = "x" + webhook_safe(text.substr(0, 600));
        const std::string right = key.sign(id, 1'614'265'330, text);
        demand(!verify_webhook({&key, 1}, {.id = id, .timestamp = "1614265330", .signature = right}, text, now),
               "a signed message is accepted");
        break;
    }
    case 4: {
        try {
            const ip_network net = ip_network::from_text(text);
            demand(ip_network::from_text(net.text()).text() == net.text(), "a network has a text");
        } catch (const std::invalid_argument&) {
        }
        break;
    }
    default: {
        detail::http_url url;
        if (!url.parse(text)) {
            detail::http_url again;
            const std::string origin = url.origin();
            demand(!again.parse(origin), "an origin is a URL");
            demand(again.origin() == origin, "an origin is its own origin");
            demand(url.host.find_first_of("@/?#\\% ") == url.host.npos, "a host is a host");
        }
    }
    }
}

} // namespace cogwheel_tests
