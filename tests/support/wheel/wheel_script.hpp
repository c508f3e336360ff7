// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A script is bytes: a header (which wheel, standing where), then one record per operation. Any bytes are a script, so
// that a random generator, a fuzzer and a file of the corpus all drive the same body (wheel_rig.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cogwheel_tests {

namespace script_detail {

inline constexpr std::uint64_t last = ~std::uint64_t{0} >> 1;
inline constexpr std::array<std::size_t, 4> slot_choices{4, 8, 1, 512};
inline constexpr std::array<std::size_t, 4> timer_choices{16, 64, 4000, 6};
inline constexpr std::array<std::uint32_t, 4> sort_limit_choices{1024, 1, 2, 7};
inline constexpr std::array<std::uint64_t, 16> start_choices{
    0,    0,        1,          (1ULL << 31) - 20,   (1ULL << 32) - 20,   (1ULL << 32) + 3,    1ULL << 40,   12345,
    last, last - 1, last - 300, last - (1ULL << 20), last - (1ULL << 31), last - (1ULL << 33), 987654321987, 0};

inline std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) { return b >= last - a ? last : a + b; }

} // namespace script_detail

using script_bytes = std::vector<std::uint8_t>;
using script_view = std::span<const std::uint8_t>;

/// The wheel a script runs on.
struct script_header {
    static constexpr std::size_t size = 4;

    std::size_t slots = 4;
    std::uint64_t start = 0;
    std::size_t timers = 16;         ///< how many the script knows, pending or not
    std::uint32_t sort_limit = 1024; ///< a jump sorts so many timers at once
    std::size_t check_every = 1;     ///< operations between two walks over the invariants

    static script_header decode(script_view bytes);
};

/// One operation.
struct script_op {
    static constexpr std::size_t size = 8;
    static constexpr std::uint64_t last_tick = ~std::uint64_t{0} >> 1;

    enum class verb : std::uint8_t {
        schedule,
        cancel,
        reschedule,
        replace,
        advance,
        drain,
        advance_to_deadline,
        drop,
        burst,
        clear,
        trim,
        advance_to_next
    };

    std::array<std::uint8_t, size> raw{};

    static script_op decode(script_view record);

    verb what() const;
    bool asks_next_due() const { return (raw[0] & 0x40) != 0; }
    bool compares_all() const { return (raw[0] & 0x80) != 0; }
    std::int64_t budget() const; ///< units
    std::size_t timer() const { return raw[1] | std::size_t{raw[2]} << 8; }
    std::uint8_t kind() const { return static_cast<std::uint8_t>(raw[7] >> 4); } ///< where a new timer's node lives
    bool keeps_node() const { return (raw[7] & 1) != 0; }                        ///< does a cancel keep it for later?

    /// What the timer does when it fires: a digit to be read by the rig, and the record of what it does it to.
    std::uint8_t handler() const { return raw[6]; }

    std::uint64_t deadline(std::uint64_t now, std::size_t slots) const;
    std::uint64_t target(std::uint64_t now, std::size_t slots) const; ///< of an advance
};

inline script_header script_header::decode(script_view bytes) {
    script_header h;
    if (bytes.size() < size) return h;
    h.slots = script_detail::slot_choices[bytes[0] % script_detail::slot_choices.size()];
    h.start = script_detail::start_choices[bytes[1] % script_detail::start_choices.size()];
    h.timers = script_detail::timer_choices[bytes[2] % script_detail::timer_choices.size()];
    h.sort_limit = script_detail::sort_limit_choices[bytes[3] / 64];
    h.check_every = h.timers > 1000 ? 64 : 1;
    return h;
}

inline script_op script_op::decode(script_view record) {
    script_op op;
    std::copy_n(record.begin(), std::min(record.size(), size), op.raw.begin());
    return op;
}

inline script_op::verb script_op::what() const {
    switch (raw[0] & 15) {
    case 0:
    case 1:
    case 2:
    case 3:
        return verb::schedule;
    case 4:
        return verb::cancel;
    case 5:
    case 6:
        return verb::reschedule;
    case 7:
        return verb::replace;
    case 8:
    case 9:
    case 10:
        return verb::advance;
    case 11:
        return verb::drain;
    case 12:
        return verb::advance_to_deadline;
    case 13:
        return verb::drop;
    case 14:
        return verb::burst;
    default:
        return raw[7] < 40 ? verb::clear : raw[7] < 80 ? verb::trim : verb::advance_to_next;
    }
}

inline std::int64_t script_op::budget() const {
    switch ((raw[0] >> 4) & 3) {
    case 1:
        return 1;
    case 2:
        return 1 + raw[7] % 100;
    default:
        return std::int64_t{1} << 62;
    }
}

inline std::uint64_t script_op::deadline(std::uint64_t now, std::size_t slots) const {
    const std::uint64_t lo = raw[4], wide = raw[4] | std::uint64_t{raw[5]} << 8;
    const auto in = [&](std::uint64_t d) { return script_detail::saturating_sum(now, d); };
    switch (raw[3] & 15) {
    case 0:
        return now;
    case 1:
        return now - std::min(now, 1 + wide);
    case 2:
        return in(1);
    case 3:
        return in(1 + lo % 8);
    case 4:
        return in(slots - 1 + lo % 3);
    case 5:
        return in(slots * (1 + lo % 4) - 1 + raw[5] % 3);
    case 6:
        return in(1 + lo);
    case 7:
        return in(1 + wide);
    case 8:
        return in((1ULL << 31) - 3 + lo % 6);
    case 9:
        return in((1ULL << 32) - 3 + lo % 6);
    case 10:
        return in((1ULL << 33) + wide);
    case 11:
        return last_tick;
    default:
        return in(1 + lo % 32);
    }
}

inline std::uint64_t script_op::target(std::uint64_t now, std::size_t slots) const {
    const std::uint64_t lo = raw[4], wide = raw[4] | std::uint64_t{raw[5]} << 8;
    const auto to = [&](std::uint64_t d) { return script_detail::saturating_sum(now, d); };
    switch (raw[3] & 15) {
    case 0:
        return now;
    case 1:
        return to(1);
    case 2:
        return to(1 + lo % 4);
    case 3:
        return to(slots - 1);
    case 4:
        return to(slots);
    case 5:
        return to(slots + 1);
    case 6:
        return to(slots * (lo % 8));
    case 7:
        return to(lo);
    case 8:
        return to(raw[6] < 64 ? 2'880'000 : 1); // 8 hours of 10 ms
    case 9:
        return to(raw[6] < 64 ? (1ULL << 31) - 2 + lo % 4 : 2);
    case 10:
        return to(raw[6] < 64 ? (1ULL << 32) - 2 + lo % 4 : 3);
    case 11:
        return to(raw[6] < 64 ? (1ULL << 32) + (wide << 20) : 4);
    case 12:
        return now - std::min<std::uint64_t>(now, 1 + lo); // a clock that steps back
    default:
        return to(1 + lo % 4);
    }
}

} // namespace cogwheel_tests
