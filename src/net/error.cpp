// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The error category of net/.
#include "../detail/errc_category.hpp"

#include <cogwheel/net/error.hpp>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

namespace {

const char* words_of_net(int code) noexcept {
    switch (static_cast<net_errc>(code)) {
    case net_errc::duplicate_key:
        return "a request with this key is in flight already";
    case net_errc::too_many_requests:
        return "too many requests in flight (request_options::max_in_flight)";
    }
    return nullptr;
}

} // namespace

const detail::sys::error_category& net_category() noexcept {
    static const detail::errc_category category("cogwheel.net", words_of_net);
    return category;
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
