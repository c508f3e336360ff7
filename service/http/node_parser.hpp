// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Node's parser of HTTP/1.1: llhttp, or http_parser, its predecessor, where there is no llhttp (Debian 12). Both are C:
// an exception must not pass through them. Callbacks return go_on, refuse or pause().
#pragma once

#include <cstddef>
#include <string_view>

#ifdef COGWHEELD_LLHTTP
#include <llhttp.h>
#else
#include <http_parser.h>
#endif

namespace cogwheeld::node {

constexpr int go_on = 0, refuse = -1;

#ifdef COGWHEELD_LLHTTP

using parser = llhttp_t;
using callbacks = llhttp_settings_t;
constexpr auto has_length = F_CONTENT_LENGTH;
constexpr bool takes_whole_head = true;

inline void prepare(callbacks& c) { llhttp_settings_init(&c); }
inline void begin(parser& p, const callbacks& c) { llhttp_init(&p, HTTP_REQUEST, &c); }
/// Stops the parser behind the callback that returns this.
inline int pause(parser&) { return HPE_PAUSED; }
/// Returns how many bytes it took. Goes on after a pause.
inline std::size_t execute(parser& p, const callbacks&, std::string_view bytes) {
    llhttp_resume(&p);
    if (llhttp_execute(&p, bytes.data(), bytes.size()) == HPE_OK) return bytes.size();
    return static_cast<std::size_t>(llhttp_get_error_pos(&p) - bytes.data());
}
/// Returns why it refused the last bytes, as a status of HTTP; else 0.
inline int refusal(const parser& p) {
    const auto error = llhttp_get_errno(&p);
    if (error == HPE_OK || error == HPE_PAUSED) return 0;
    return error == HPE_INVALID_VERSION ? 505 : 400;
}
inline const char* method_name(const parser& p) { return llhttp_method_name(static_cast<llhttp_method_t>(p.method)); }
inline bool keeps_alive(const parser& p) { return llhttp_should_keep_alive(&p) != 0; }

#else

using parser = http_parser;
using callbacks = http_parser_settings;
constexpr auto has_length = F_CONTENTLENGTH;
constexpr bool takes_whole_head = false; // but for its last byte

inline void prepare(callbacks& c) { http_parser_settings_init(&c); }
inline void begin(parser& p, const callbacks&) { http_parser_init(&p, HTTP_REQUEST); }
inline int pause(parser& p) {
    http_parser_pause(&p, 1);
    return go_on;
}
inline std::size_t execute(parser& p, const callbacks& c, std::string_view bytes) {
    http_parser_pause(&p, 0);
    return http_parser_execute(&p, &c, bytes.data(), bytes.size());
}
inline int refusal(const parser& p) {
    const auto error = HTTP_PARSER_ERRNO(&p);
    if (error == HPE_OK || error == HPE_PAUSED) return 0;
    return error == HPE_INVALID_VERSION ? 505 : error == HPE_HEADER_OVERFLOW ? 431 : 400;
}
inline const char* method_name(const parser& p) { return http_method_str(static_cast<http_method>(p.method)); }
inline bool keeps_alive(const parser& p) { return http_should_keep_alive(&p) != 0; }

#endif

} // namespace cogwheeld::node
