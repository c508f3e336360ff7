// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "../detail/errc_category.hpp"

#include <cogwheel/durable/callback_error.hpp>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

namespace {

const char* words_of_callback(int code) noexcept {
    switch (static_cast<callback_errc>(code)) {
    case callback_errc::bad_url:
        return "the url of a callback is not http://host[:port]/path in visible ASCII, of at most 2,000 bytes";
    case callback_errc::bad_scheme:
        return "the url of a callback begins neither with http:// nor with https://";
    case callback_errc::bad_method:
        return "the method of a callback is not GET, POST, PUT, PATCH or DELETE";
    case callback_errc::bad_header:
        return "a header of a callback has a wrong name or a control character";
    case callback_errc::reserved_header:
        return "a header of a callback is one that the sender sets itself";
    case callback_errc::too_many_headers:
        return "a callback has more than 32 headers, or more than 8,192 bytes of them";
    case callback_errc::bad_content_type:
        return "the content type of a callback is too long or has a control character";
    case callback_errc::bad_body:
        return "the body of a callback is too long, or its method has none";
    case callback_errc::bad_delivery:
        return "the id of a delivery is empty or too long";
    case callback_errc::too_many_waiting:
        return "too many callbacks wait to be sent";
    case callback_errc::budget_spent:
        return "the host's budget for retries is spent";
    case callback_errc::address_refused:
        return "callbacks may not reach this address";
    case callback_errc::host_not_found:
        return "the name of the host cannot be resolved";
    case callback_errc::cannot_connect:
        return "the host refuses the connection or cannot be reached";
    case callback_errc::bad_certificate:
        return "the receiver's certificate is not trusted";
    case callback_errc::tls_failed:
        return "TLS with the receiver failed";
    case callback_errc::disconnected:
        return "the receiver closed the connection before it answered";
    case callback_errc::answer_cut:
        return "the receiver closed the connection within its answer";
    case callback_errc::bad_answer:
        return "the receiver's answer is not HTTP";
    case callback_errc::refused_by_status:
        return "the receiver answered with a status other than 2xx";
    case callback_errc::transport_failed:
        return "the transfer failed";
    }
    return nullptr;
}

} // namespace

const detail::sys::error_category& callback_category() noexcept {
    static const detail::errc_category category("cogwheel.callback", words_of_callback);
    return category;
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
