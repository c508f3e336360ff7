// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "redis_stream.hpp"

#include COGWHEEL_ASIO_HEADER(ip/address.hpp)
#include COGWHEEL_ASIO_HEADER(ip/tcp.hpp)
#include COGWHEEL_ASIO_HEADER(ssl/host_name_verification.hpp)

#include <stdexcept>

#include <netinet/tcp.h>
#include <openssl/ssl.h>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

void check(const error_code& ec, const char* what, const std::string& file) {
    if (ec)
        throw std::invalid_argument(std::string("redis_options: ") + what + " \"" + file + "\": " + ec.message() +
                                    ": give a readable file in PEM format");
}

} // namespace

std::shared_ptr<asio::ssl::context> make_tls_context(const redis_tls& tls) {
    if (!tls.enabled) return nullptr;
    auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_client);
    error_code ec;
    context->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                         asio::ssl::context::no_tlsv1_1);
    if (tls.ca_file.empty()) {
        context->set_default_verify_paths(ec);
        check(ec, "the system's certificates", "");
    } else {
        context->load_verify_file(tls.ca_file, ec);
        check(ec, "tls.ca_file", tls.ca_file);
    }
    if (!tls.certificate.empty()) {
        context->use_certificate_chain_file(tls.certificate, ec);
        check(ec, "tls.certificate", tls.certificate);
        context->use_private_key_file(tls.key, asio::ssl::context::pem, ec);
        check(ec, "tls.key", tls.key);
    }
    return context;
}

void redis_stream::set_options(bool tcp) noexcept {
    error_code ignored;
    if (!tcp) return;
    socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
    socket_.set_option(asio::socket_base::keep_alive(true), ignored);
    // A peer that is gone is noticed after a minute: 30 s + 3 x 10 s.
    const auto set = [fd = socket_.native_handle()](int name, int value) {
        ::setsockopt(fd, IPPROTO_TCP, name, &value, sizeof value);
    };
    set(TCP_KEEPIDLE, 30);
    set(TCP_KEEPINTVL, 10);
    set(TCP_KEEPCNT, 3);
}

void redis_stream::prepare_tls(const redis_tls& tls, const std::string& host, error_code& ec) {
    tls_.emplace(socket_, *tls_context_);
    const std::string& name = tls.server_name.empty() ? host : tls.server_name;
    error_code not_ip;
    asio::ip::make_address(name, not_ip);
    if (not_ip && !name.empty() && SSL_set_tlsext_host_name(tls_->native_handle(), name.c_str()) != 1)
        ec = asio::error::invalid_argument;
    if (!tls.verify) {
        tls_->set_verify_mode(asio::ssl::verify_none, ec);
        return;
    }
    if (!ec) tls_->set_verify_mode(asio::ssl::verify_peer, ec);
    if (!ec) tls_->set_verify_callback(asio::ssl::host_name_verification(name), ec);
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
