// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The errors of HTTP callbacks.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <system_error>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

enum class callback_errc {
    bad_url = 1,       ///< empty, too long, or not "http://host[:port]/path" in visible ASCII
    bad_scheme,        ///< neither http nor https
    bad_method,        ///< not GET, POST, PUT, PATCH or DELETE
    bad_header,        ///< the name of a header is no token, or its value has a control character
    reserved_header,   ///< the sender sets this header itself, or it would change how the request is framed
    too_many_headers,  ///< more than http_callback::max_headers, or more than max_header_bytes together
    bad_content_type,  ///< too long, or has a control character
    bad_body,          ///< too long, or there is one with GET
    bad_delivery,      ///< callback_delivery::id is empty or too long
    too_many_waiting,  ///< callback_options::max_waiting callbacks wait already: it was not sent
    budget_spent,      ///< the host's retry budget is spent: this retry was not sent
    address_refused,   ///< the host has an address that the guard refuses; the message names it
    host_not_found,    ///< the name of the host cannot be resolved
    cannot_connect,    ///< the host refuses the connection, or cannot be reached
    bad_certificate,   ///< TLS: the receiver's certificate is not one for its name, or nobody known has signed it
    tls_failed,        ///< TLS: any other failure
    disconnected,      ///< the receiver closed the connection before the answer
    answer_cut,        ///< the receiver closed the connection within the answer
    bad_answer,        ///< the answer is not HTTP
    refused_by_status, ///< the answer has a status other than 2xx
    transport_failed,  ///< any other failure of libcurl; the message has its words
};

/// Returns the category "cogwheel.callback". Thread safety: any thread.
const detail::sys::error_category& callback_category() noexcept;

inline error_code make_error_code(callback_errc e) noexcept { return {static_cast<int>(e), callback_category()}; }

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

template <>
struct cogwheel::detail::sys::is_error_code_enum<cogwheel::callback_errc> : std::true_type {};
