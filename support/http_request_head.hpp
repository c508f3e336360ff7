// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Reads the head of an HTTP/1.x request, as far as it has come: RFC 9112. Knows a few resources, which only GET may
// have. No I/O. It looks at each byte about once, however small the pieces are in which the head comes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

class http_request_head {
public:
    /// Lifetime: the texts of `paths` outlive it.
    explicit http_request_head(std::vector<std::string_view> paths) : paths_{std::move(paths)} {}

    /// Looks at all that has come, from the first byte on. Returns 0 if more has to come. Else the head is judged:
    /// 200, 400 (no request), 404 (another path) or 405 (another method).
    int look(std::string_view received) {
        const std::size_t begin = scanned_ - std::min<std::size_t>(scanned_, end_of_head.size() - 1);
        // What is no request is refused at once: it may never have an end.
        if (!line_complete_ && !look_at_first_line(received)) return 400;
        scanned_ = received.size();
        const std::size_t end = received.find(end_of_head, begin);
        if (end == received.npos) return 0;
        if (!read_fields(received.substr(0, end + 2))) return 400; // each line has its own end
        return path_.empty() ? 404 : !gets_ ? 405 : 200;
    }

    /// The path, one of `paths`. Call it after look() has returned 200.
    std::string_view path() const { return path_; }

    /// True if a browser says that a page of another site makes the request. Call it after look() has returned 200.
    bool is_cross_site() const { return cross_site_; }

    /// The value of the field Host. Call it after look() has returned 200.
    const std::string& host() const { return host_; }

    /// The values of the fields Accept, joined as RFC 9110 allows. Call it after look() has returned 200.
    const std::string& accept() const { return accept_; }

private:
    static constexpr std::string_view end_of_line = "\r\n", end_of_head = "\r\n\r\n";

    static bool is_visible(char c) { return c > ' ' && c <= '~'; }
    static bool is_token(std::string_view text) {
        return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
            return is_visible(c) && std::string_view{"\"(),/:;<=>?@[\\]{}"}.find(c) == std::string_view::npos;
        });
    }
    static char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
    static bool is_name(std::string_view text, std::string_view lower_case) {
        return std::equal(text.begin(), text.end(), lower_case.begin(), lower_case.end(),
                          [](char a, char b) { return lower(a) == b; });
    }

    bool look_at_first_line(std::string_view received) {
        const std::size_t end = received.find('\n', scanned_);
        const auto rest = received.substr(scanned_, end - scanned_);
        if (!std::all_of(rest.begin(), rest.end(), [](char c) { return is_visible(c) || c == ' ' || c == '\r'; }))
            return false; // TLS, for instance
        if (end == received.npos) return true;
        line_complete_ = true;
        return end != 0 && received[end - 1] == '\r' && read_first_line(received.substr(0, end - 1));
    }

    bool read_first_line(std::string_view line) {
        const std::size_t first = line.find(' ');
        const std::size_t last = line.rfind(' ');
        if (first == line.npos || first == last) return false;
        const auto method = line.substr(0, first);
        const auto target = line.substr(first + 1, last - first - 1);
        const auto version = line.substr(last + 1);
        needs_host_ = version == "HTTP/1.1";
        gets_ = method == "GET";
        const auto known = std::find(paths_.begin(), paths_.end(), target.substr(0, target.find('?')));
        if (known != paths_.end()) path_ = *known;
        return is_token(method) && std::all_of(target.begin(), target.end(), is_visible) && !target.empty() &&
               (needs_host_ || version == "HTTP/1.0");
    }

    // `lines` has the first line, too.
    bool read_fields(std::string_view lines) {
        int hosts = 0;
        for (;;) {
            lines.remove_prefix(lines.find(end_of_line) + end_of_line.size());
            if (lines.empty()) break;
            const auto line = lines.substr(0, lines.find(end_of_line));
            const std::size_t colon = line.find(':');
            if (colon == line.npos || !is_token(line.substr(0, colon))) return false;
            auto value = line.substr(colon + 1);
            if (std::any_of(value.begin(), value.end(),
                            [](char c) { return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == 127; }))
                return false;
            value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
            if (is_name(line.substr(0, colon), "host")) {
                ++hosts;
                host_ = value.substr(0, value.find_last_not_of(" \t") + 1);
            }
            if (is_name(line.substr(0, colon), "sec-fetch-site")) cross_site_ = value.starts_with("cross-site");
            if (is_name(line.substr(0, colon), "accept")) (accept_ += accept_.empty() ? "" : ", ") += value;
        }
        return hosts == 1 || (hosts == 0 && !needs_host_);
    }

    std::vector<std::string_view> paths_;
    std::string_view path_; // empty: an unknown one
    std::string accept_, host_;
    std::size_t scanned_ = 0;
    bool line_complete_ = false;
    bool needs_host_ = false, gets_ = false, cross_site_ = false;
};
