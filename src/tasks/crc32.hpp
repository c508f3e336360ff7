// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// CRC-32 of IEEE 802.3, as in zlib. It detects all damage that spans at most 32 bits, and misses one in four billion of
// all other damage.
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

// One kilobyte. Eight tables would be three times as fast, but a line is short, and writing it takes a system call.
inline constexpr std::array<std::uint32_t, 256> crc32_table = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
        std::uint32_t rest = byte;
        for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1) != 0 ? 0xedb88320U : 0U);
        table[byte] = rest;
    }
    return table;
}();

constexpr std::uint32_t crc32(std::string_view bytes) noexcept {
    std::uint32_t rest = 0xffffffffU;
    const std::uint32_t* table = crc32_table.data(); // not optimised, an element of an array takes two calls
    for (const char c : bytes) rest = (rest >> 8) ^ table[(rest ^ static_cast<unsigned char>(c)) & 0xff];
    return ~rest;
}

// The check value of this CRC in the usual catalogues.
static_assert(crc32("123456789") == 0xcbf43926U);

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
