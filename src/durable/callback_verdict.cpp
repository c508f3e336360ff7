// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "callback_verdict.hpp"

#include "retry_after.hpp"

#include <cogwheel/asio/error.hpp>
#include <cogwheel/detail/visible_text.hpp>

#include COGWHEEL_ASIO_HEADER(error.hpp)

#include <algorithm>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

bool is_of_system(const error_code& ec) noexcept {
    return ec.category() == sys::generic_category() || ec.category() == sys::system_category() ||
           ec.category() == asio::error::get_system_category();
}

// CURLE_TOO_LARGE, since 8.6: a line of the head is too long. Releases before reported CURLE_OUT_OF_MEMORY.
constexpr CURLcode too_large = static_cast<CURLcode>(100);

error_code error_of(const transfer_end& end, int status) noexcept {
    if (end.local) return end.local;
    if (end.address_refused) return callback_errc::address_refused;
    if (end.code == too_large) return callback_errc::bad_answer;
    switch (end.code) {
    case CURLE_OK: // libcurl takes a head without an end for an answer
        return callback_errc::answer_cut;
    case CURLE_OPERATION_TIMEDOUT:
        return asio::error::timed_out;
    case CURLE_COULDNT_RESOLVE_HOST:
        return callback_errc::host_not_found;
    case CURLE_COULDNT_CONNECT:
        return callback_errc::cannot_connect;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
        return callback_errc::bad_certificate;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
        return callback_errc::tls_failed;
    case CURLE_GOT_NOTHING:
        return callback_errc::disconnected;
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
        return status == 0 ? callback_errc::disconnected : callback_errc::answer_cut;
    case CURLE_PARTIAL_FILE:
        return callback_errc::answer_cut;
    case CURLE_UNSUPPORTED_PROTOCOL: // what is no HTTP/1.x counts as HTTP/0.9, which is off
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
        return callback_errc::bad_answer;
    case CURLE_URL_MALFORMAT:
        return callback_errc::bad_url;
    case CURLE_OUT_OF_MEMORY:
        return status == 0 ? make_error_code(sys::errc::not_enough_memory) : callback_errc::bad_answer;
    default:
        return callback_errc::transport_failed;
    }
}

bool is_final(int status, const callback_options& options) {
    if (status < 400) return true; // 3xx: the receiver is elsewhere, and will be the next time
    return std::find(options.final_statuses.begin(), options.final_statuses.end(), status) !=
           options.final_statuses.end();
}

} // namespace

void judge(callback_result& result, const transfer_end& end, const callback_options& options,
           std::chrono::sys_seconds now) {
    // A body that is too long ends the transfer, but the status has come.
    const bool answered =
        (end.code == CURLE_OK && end.head_complete) || (end.code == CURLE_WRITE_ERROR && result.body_cut);
    if (answered && result.status >= 200 && result.status < 300) {
        result.outcome = callback_outcome::succeeded;
        result.error = {};
        return;
    }
    result.message = std::string(end.origin) + ": ";
    if (answered) {
        result.error = callback_errc::refused_by_status;
        result.outcome =
            is_final(result.status, options) ? callback_outcome::failed_for_good : callback_outcome::try_again;
        if (result.outcome == callback_outcome::try_again)
            result.retry_after = parse_retry_after(end.retry_after, now, options.max_retry_after);
        result.message += "answered with status " + std::to_string(result.status);
        return;
    }
    result.error = error_of(end, result.status);
    const bool useless = result.error == callback_errc::address_refused || result.error == callback_errc::bad_url;
    result.outcome = useless ? callback_outcome::failed_for_good : callback_outcome::try_again;
    result.message += result.error.message();
    if (!end.detail.empty()) result.message += " (" + visible_text(end.detail) + ")";
}

peer_verdict verdict_of(const callback_result& result) noexcept {
    if (result.status >= 500) return peer_verdict::failed;
    if (result.error == asio::error::timed_out) return peer_verdict::failed;
    if (result.error == callback_errc::address_refused || result.error == callback_errc::bad_url ||
        refused_by_wheel(result.error))
        return peer_verdict::unknown;
    if (result.error && is_of_system(result.error)) return peer_verdict::unknown; // a fault of this process, or aborted
    return result.error && result.error != callback_errc::refused_by_status ? peer_verdict::failed
                                                                            : peer_verdict::alive;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
