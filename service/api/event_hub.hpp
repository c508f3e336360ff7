// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Sends what happens to all viewers, as server-sent events (WHATWG HTML, 9.2):
//
//     event: task
//     data: {"at":"2026-11-27T10:00:00.250Z","kind":"done","id":"order-17","attempt":1}
//
// Events of a tenth of a second make one piece, which all viewers share. A viewer that is slow misses pieces, and hears
// how many; memory does not grow.
#pragma once

#include "http/message.hpp"

#include <cogwheel/asio/timer_token.hpp>
#include <cogwheel/asio/timer_wheel.hpp>

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

namespace cogwheeld {

/// For one thread or strand. Lifetime: the wheel outlives it.
class event_hub {
public:
    static constexpr std::size_t max_viewers = 256;
    static constexpr std::size_t kept = 64;                          ///< pieces for viewers that are slow
    static constexpr std::size_t recent = 50;                        ///< events that a new viewer gets first
    static constexpr std::size_t max_piece = std::size_t{256} << 10; ///< bytes; further events of a piece are left out

    event_hub(asio::io_context& io, cogwheel::timer_wheel& wheel);
    event_hub(const event_hub&) = delete;
    event_hub& operator=(const event_hub&) = delete;

    /// `name`: of the event, one line. `data`: one line of JSON.
    void publish(std::string_view name, std::string_view data);
    /// The same for an event that is not worth keeping for later viewers.
    void publish_now(std::string_view name, std::string_view data);

    std::size_t viewers() const noexcept { return viewers_; }
    /// Returns the answer for a new viewer: 200, or 503 if there are too many.
    http_response subscribe();
    /// Ends all streams.
    void close();

private:
    class viewer;

    void add(std::string_view name, std::string_view data);
    void flush();
    asio::awaitable<http_piece> next(std::uint64_t& position);

    cogwheel::timer_wheel& wheel_;
    asio::steady_timer news_; // never expires; cancelled for each piece: all viewers wait for it
    cogwheel::timer_token flushing_;
    bool flush_due_ = false, closed_ = false;
    std::string batch_;
    std::uint64_t left_out_ = 0;    // of the batch
    std::deque<http_piece> pieces_; // the last ones
    std::uint64_t ended_ = 0;       // pieces ever made
    std::deque<std::string> recent_;
    std::size_t viewers_ = 0;
};

} // namespace cogwheeld
