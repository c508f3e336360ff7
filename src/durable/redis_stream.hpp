// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The bytes of a connection: TCP or a unix socket, with TLS on top or without.
#pragma once

#include <cogwheel/detail/which_asio.hpp>
#include <cogwheel/durable/redis_options.hpp>

#include COGWHEEL_ASIO_HEADER(any_io_executor.hpp)
#include COGWHEEL_ASIO_HEADER(generic/stream_protocol.hpp)
#include COGWHEEL_ASIO_HEADER(ssl/context.hpp)
#include COGWHEEL_ASIO_HEADER(ssl/stream.hpp)
#include COGWHEEL_ASIO_HEADER(strand.hpp)
#include COGWHEEL_ASIO_HEADER(write.hpp)

#include <memory>
#include <optional>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

using redis_strand = asio::strand<asio::any_io_executor>;

/// Makes the settings of TLS; nullptr if it is not enabled.
/// Errors: std::invalid_argument that names the file that cannot be used.
std::shared_ptr<asio::ssl::context> make_tls_context(const redis_tls& tls);

/// For one strand. Its operations complete with an error after close().
class redis_stream {
public:
    using socket_type = asio::generic::stream_protocol::socket;

    redis_stream(const redis_strand& executor, std::shared_ptr<asio::ssl::context> tls)
        : tls_context_(std::move(tls)), socket_(executor) {}

    socket_type& socket() noexcept { return socket_; }

    /// Sets what a connected socket needs.
    void set_options(bool tcp) noexcept;
    bool has_tls() const noexcept { return tls_context_ != nullptr; }
    /// Makes TLS ready to shake hands. Preconditions: has_tls(). host: whose certificate the server must have.
    void prepare_tls(const redis_tls& tls, const std::string& host, error_code& ec);

    template <class Token>
    auto async_handshake(Token&& token) {
        return tls_->async_handshake(asio::ssl::stream_base::client, std::forward<Token>(token));
    }
    template <class Token>
    auto async_read_some(asio::mutable_buffer to, Token&& token) {
        return tls_ ? tls_->async_read_some(to, std::forward<Token>(token))
                    : socket_.async_read_some(to, std::forward<Token>(token));
    }
    template <class Token>
    auto async_write(asio::const_buffer from, Token&& token) {
        return tls_ ? asio::async_write(*tls_, from, std::forward<Token>(token))
                    : asio::async_write(socket_, from, std::forward<Token>(token));
    }
    void close() noexcept {
        error_code ignored;
        socket_.close(ignored);
    }

private:
    std::shared_ptr<asio::ssl::context> tls_context_;
    socket_type socket_;
    std::optional<asio::ssl::stream<socket_type&>> tls_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
