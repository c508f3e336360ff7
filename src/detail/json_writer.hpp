// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Writes JSON (RFC 8259) into a string.
#pragma once

#include <cogwheel/detail/visible_text.hpp>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::detail {

/// The caller calls key() and a function for its value in turn. Bytes that are not UTF-8 become U+FFFD.
class json_writer {
public:
    void open(char bracket) {
        separate();
        out_ += bracket;
        first_ = true;
    }
    void close(char bracket) {
        out_ += bracket;
        first_ = false;
    }
    void key(std::string_view name) {
        string(name);
        out_ += ':';
        first_ = true; // no comma before its value
    }
    void raw(std::string_view value) {
        separate();
        out_ += value;
    }
    void string(std::string_view text) {
        separate();
        out_ += '"';
        while (!text.empty()) {
            const std::size_t n = utf8_length(text);
            const auto c = static_cast<unsigned char>(text[0]);
            if (n == 0) {
                out_ += "\\ufffd";
            } else if (c < 0x20) {
                std::array<char, 8> code{};
                std::snprintf(code.data(), code.size(), "\\u%04x", unsigned{c});
                out_ += code.data();
            } else {
                if (c == '"' || c == '\\') out_ += '\\';
                out_ += text.substr(0, n);
            }
            text.remove_prefix(n == 0 ? 1 : n);
        }
        out_ += '"';
    }
    template <class T>
    void number(std::string_view name, T value) {
        key(name);
        raw(std::to_string(value));
    }
    void text(std::string_view name, std::string_view value) {
        key(name);
        string(value);
    }
    std::string take() { return std::move(out_); }

private:
    void separate() {
        if (!first_) out_ += ',';
        first_ = false;
    }

    std::string out_;
    bool first_ = true;
};

} // namespace cogwheel::COGWHEEL_ABI::detail
