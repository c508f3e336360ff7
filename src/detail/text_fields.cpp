// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "text_fields.hpp"

#include <algorithm>
#include <stdexcept>

namespace cogwheel::COGWHEEL_ABI::detail {

namespace {

using namespace std::string_view_literals;

constexpr std::string_view special = "\\\t\n\r\0"sv, letters = "\\tnr0"; // the letter after the backslash for each
constexpr std::string_view hex = "0123456789abcdef";

} // namespace

void add_escaped(std::string& to, std::string_view bytes) {
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (const std::size_t plain = special.find(c); plain != special.npos) {
            to += {'\\', letters[plain]};
        } else if (byte < 0x20 || byte == 0x7f) {
            to += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
        } else {
            to += c;
        }
    }
}

std::string unescaped(std::string_view text) {
    std::string bytes;
    bytes.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\') {
            bytes += text[i];
            continue;
        }
        const char c = ++i < text.size() ? text[i] : ' ';
        if (const std::size_t plain = letters.find(c); plain != letters.npos) {
            bytes += special[plain];
            continue;
        }
        const std::string_view digits = text.substr(std::min(i + 1, text.size()), 2);
        const std::size_t high = digits.size() == 2 ? hex.find(digits[0]) : hex.npos;
        const std::size_t low = digits.size() == 2 ? hex.find(digits[1]) : hex.npos;
        if (c != 'x' || high == hex.npos || low == hex.npos)
            throw std::invalid_argument("a \\ must be followed by \\, t, n, r, 0 or x and two digits in '" +
                                        std::string(text) + "'");
        bytes += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return bytes;
}

void refuse_field(const char* field, std::string_view text, const std::string& wanted) {
    throw std::invalid_argument(std::string(field) + " is '" + std::string(text) + "', but must be " + wanted);
}

std::string_view field_reader::raw(const char* field) {
    if (!rest_) throw std::invalid_argument(std::string(field) + " and what follows it are missing");
    const std::size_t tab = rest_->find('\t');
    const std::string_view found = rest_->substr(0, tab);
    if (tab == std::string_view::npos) {
        rest_.reset();
    } else {
        rest_->remove_prefix(tab + 1);
    }
    return found;
}

void field_reader::end() const {
    if (rest_) throw std::invalid_argument("there are more fields than this version knows");
}

} // namespace cogwheel::COGWHEEL_ABI::detail
