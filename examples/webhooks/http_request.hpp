// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A request of HTTP/1.1 with a body of known length: RFC 9112, as much of it as senders of webhooks use. No I/O.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

struct http_request {
    std::string method;
    std::map<std::string, std::string, std::less<>> headers; // names in lower case
    std::string body;
    std::size_t body_size = 0; // that the head announces
    bool keep_alive = true;

    std::string_view header(std::string_view name) const {
        const auto found = headers.find(name);
        return found == headers.end() ? std::string_view{} : found->second;
    }

    /// Reads the head, with the empty line at its end. Returns 0, or the status of the answer.
    int read_head(std::string_view head) {
        const auto take_line = [&head] {
            const auto line = head.substr(0, head.find("\r\n"));
            head.remove_prefix(line.size() + 2);
            return line;
        };
        const auto first = take_line();
        const auto end_of_method = first.find(' ');
        if (end_of_method == first.npos || !is_text(first)) return 400;
        if (!first.ends_with(" HTTP/1.1")) return 505;
        method = first.substr(0, end_of_method);
        while (head != "\r\n") {
            const auto line = take_line();
            const auto colon = line.find(':');
            if (colon == line.npos || colon == 0 || line.find_first_of(" \t") < colon || !is_text(line)) return 400;
            std::string name{line.substr(0, colon)};
            std::transform(name.begin(), name.end(), name.begin(), lower);
            // Two of a kind: the sender and this program might look at different ones.
            if (!headers.emplace(std::move(name), trimmed(line.substr(colon + 1))).second) return 400;
        }
        if (header("host").empty()) return 400;
        if (method != "POST") return 405;
        if (headers.contains("transfer-encoding")) return 501; // also an empty one: others may take it for chunks
        keep_alive = header("connection") != "close";
        const auto length = header("content-length");
        if (length.empty()) return 411;
        const auto [rest, error] = std::from_chars(length.data(), length.data() + length.size(), body_size);
        return error == std::errc{} && rest == length.data() + length.size() ? 0 : 400;
    }

private:
    static char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
    static bool is_text(std::string_view line) { // so that it can be printed
        return std::all_of(line.begin(), line.end(), [](char c) { return (c >= ' ' && c <= '~') || c == '\t'; });
    }
    static std::string_view trimmed(std::string_view text) {
        text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
        return text.substr(0, text.find_last_not_of(" \t") + 1);
    }
};
