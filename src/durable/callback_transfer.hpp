// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An easy handle of libcurl, which serves one callback after another. The options that all callbacks share are set
// once.
#pragma once

#include "callback_request.hpp"
#include "callback_verdict.hpp"
#include "curl_driver.hpp"
#include "http_url.hpp"

#include <array>
#include <string>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

class callback_transfer {
public:
    /// Lifetime: options and driver must outlive it. Errors: std::bad_alloc.
    callback_transfer(const callback_options& options, curl_driver& driver);
    callback_transfer(const callback_transfer&) = delete;
    callback_transfer& operator=(const callback_transfer&) = delete;
    ~callback_transfer() { curl_easy_cleanup(easy_); }

    CURL* handle() const noexcept { return easy_; }
    callback_request* request() const noexcept { return request_; }

    /// Sets the request. Preconditions: it was checked.
    /// Lifetime: the request stays in place until finish() or forget().
    /// Errors: std::bad_alloc.
    void begin(callback_request& request, std::chrono::sys_seconds now);

    /// Returns whether the transfer ended because its idle connection had, and makes it take a new one. Nothing was
    /// sent.
    bool takes_another_connection();

    /// Fills the request's result.
    void finish(CURLcode code, std::string_view origin, std::chrono::sys_seconds now);

    /// Lets go of the request. `sent` of its result is set.
    void forget() noexcept;

private:
    static std::size_t take_head(char* bytes, std::size_t one, std::size_t count, void* transfer) noexcept;
    static std::size_t take_body(char* bytes, std::size_t one, std::size_t count, void* transfer) noexcept;
    static int before_request(void* transfer, char*, char*, int, int) noexcept;
    static curl_socket_t open_socket(void* transfer, curlsocktype, curl_sockaddr* address) noexcept;

    template <class T>
    void set(CURLoption option, T value);
    void set_headers(std::chrono::sys_seconds now);
    void add_header(std::string_view name, std::string_view value);
    long bytes_sent() const noexcept;
    bool connection_has_ended() const noexcept;

    const callback_options& options_;
    curl_driver& driver_;
    CURL* easy_;
    callback_request* request_ = nullptr;
    std::string_view host_;
    std::string header_bytes_;
    std::vector<std::size_t> header_starts_;
    std::vector<curl_slist> header_list_; // points into header_bytes_: libcurl's own lists copy each line
    std::array<char, CURL_ERROR_SIZE> words_{};
    std::string refusal_;
    bool head_complete_ = false;
    bool has_socket_ = false; // for an address that the guard allows
    error_code socket_error_; // there was none for such an address
    bool sent_again_ = false; // libcurl wanted it
    bool stale_ = false;      // the peer had closed the idle connection
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
