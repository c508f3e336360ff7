// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include <cogwheel/detail/visible_text.hpp>

#include <algorithm>
#include <array>

namespace cogwheel::COGWHEEL_ABI::detail {

namespace {

// Preconditions: `sequence` is one valid UTF-8 sequence.
char32_t code_point(std::string_view sequence) noexcept {
    const auto first = static_cast<unsigned char>(sequence[0]);
    if (sequence.size() == 1) return first;
    char32_t c = first & (0x7fU >> sequence.size());
    for (const char next : sequence.substr(1)) c = c << 6 | (static_cast<unsigned char>(next) & 0x3fU);
    return c;
}

bool is_control(char32_t c) noexcept { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

struct range {
    char32_t first, last;
};
bool in(const auto& ranges, char32_t c) noexcept {
    return std::any_of(ranges.begin(), ranges.end(), [c](const range& r) { return r.first <= c && c <= r.last; });
}

// Characters of two columns: the large wide blocks of Unicode's EastAsianWidth.txt, and emoji.
constexpr std::array<range, 11> wide{{{0x1100, 0x115f},
                                      {0x2e80, 0x303e},
                                      {0x3041, 0xa4cf},
                                      {0xac00, 0xd7a3},
                                      {0xf900, 0xfaff},
                                      {0xfe30, 0xfe6f},
                                      {0xff00, 0xff60},
                                      {0xffe0, 0xffe6},
                                      {0x1f300, 0x1f64f},
                                      {0x1f900, 0x1f9ff},
                                      {0x20000, 0x3fffd}}};

// Characters without a column: marks on the character before them, and those of zero width.
constexpr std::array<range, 4> marks{{{0x300, 0x36f}, {0x200b, 0x200f}, {0x20d0, 0x20f0}, {0xfe00, 0xfe0f}}};

} // namespace

std::size_t utf8_length(std::string_view text) noexcept {
    const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const unsigned first = at(0);
    if (first < 0x80) return text.empty() ? 0 : 1;
    const std::size_t n = first >= 0xc2 && first <= 0xdf   ? 2
                          : (first & 0xf0) == 0xe0         ? 3
                          : first >= 0xf0 && first <= 0xf4 ? 4
                                                           : 0;
    for (std::size_t i = 1; i < n; ++i)
        if ((at(i) & 0xc0) != 0x80) return 0;
    const unsigned second = at(1);
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) || (first == 0xf0 && second < 0x90) ||
        (first == 0xf4 && second > 0x8f))
        return 0;
    return n;
}

std::string visible_text(std::string_view text) {
    std::string visible;
    while (!text.empty()) {
        const std::size_t n = utf8_length(text);
        if (n == 0)
            visible += '?';
        else if (is_control(code_point(text.substr(0, n))))
            visible += ' ';
        else
            visible += text.substr(0, n);
        text.remove_prefix(std::max<std::size_t>(n, 1));
    }
    return visible;
}

std::size_t text_width(std::string_view text) noexcept {
    std::size_t columns = 0;
    while (!text.empty()) {
        const std::size_t n = std::max<std::size_t>(utf8_length(text), 1);
        const char32_t c = code_point(text.substr(0, n));
        columns += in(wide, c) ? 2 : in(marks, c) ? 0 : 1;
        text.remove_prefix(n);
    }
    return columns;
}

} // namespace cogwheel::COGWHEEL_ABI::detail
