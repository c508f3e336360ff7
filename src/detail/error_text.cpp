// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "error_text.hpp"

#include <cogwheel/detail/assertion.hpp>

namespace cogwheel::COGWHEEL_ABI::detail {

[[gnu::cold]] error_text& error_text::add(const char* text, std::initializer_list<any_integer> numbers) noexcept {
    const any_integer* n = numbers.begin();
    for (; *text != 0; ++text) {
        if (*text != '%') {
            add(*text);
            continue;
        }
        COGWHEEL_ASSERT(n != numbers.end());
        if (n->negative()) add('-');
        std::uint64_t unit = 1;
        while (n->magnitude() / unit >= 10) unit *= 10;
        for (; unit != 0; unit /= 10) add(static_cast<char>('0' + n->magnitude() / unit % 10));
        ++n;
    }
    return *this;
}

} // namespace cogwheel::COGWHEEL_ABI::detail
