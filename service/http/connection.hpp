// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// One connection of an http_server, from its first byte to its end.
#pragma once

#include "http/server.hpp"
#include "support/steady_write.hpp"

#include <array>

namespace cogwheeld {

class http_server::connection {
public:
    connection(http_server& server, asio::ip::tcp::socket socket);
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    ~connection();

    /// Serves requests until the client leaves, a limit ends it, or the server stops.
    asio::awaitable<void> serve();
    /// Answers 503 and closes.
    asio::awaitable<void> turn_away();

    /// Closes it, unless a request is under way.
    void close_if_idle() noexcept;
    void close() noexcept;

private:
    using clock = std::chrono::steady_clock;
    using stage = request_parser::stage;
    enum class result : std::uint8_t { ok, refused, gone };

    asio::awaitable<result> read_head();
    asio::awaitable<result> read_body();
    /// Returns false if the client has left or the time is over.
    asio::awaitable<bool> read_some(clock::time_point until);
    asio::awaitable<http_response> respond();
    /// Returns false if the client does not take it all.
    asio::awaitable<bool> write(http_response, bool keep);
    asio::awaitable<bool> send(std::string_view bytes);
    asio::awaitable<void> linger();
    void parse();
    void account_body();

    http_server& server_;
    asio::ip::tcp::socket socket_;
    steady_writer<asio::ip::tcp::socket> writer_;
    request_parser parser_;
    std::array<char, 4096> piece_;
    std::string_view rest_; // of the piece: not yet parsed
    int refusal_ = 0;       // the status, if it is none of the parser's
    std::size_t body_ = 0;  // bytes, as counted in the server
    bool busy_ = false;     // a request is under way
    bool timed_out_ = false;
};

} // namespace cogwheeld
