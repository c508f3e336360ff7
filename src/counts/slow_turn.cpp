// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include <cogwheel/counts/slow_turn.hpp>

#include <array>
#include <stdexcept>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI {

namespace {

using std::chrono::nanoseconds;

[[noreturn]] void refuse(std::string_view option, const std::string& value, std::string_view range) {
    throw std::invalid_argument("cogwheel: slow_turn_options." + std::string(option) + " is " + value +
                                "; it must be " + std::string(range));
}

// Returns 12000 as "12,000".
std::string grouped(std::uint64_t n) {
    std::string digits = std::to_string(n);
    for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
    return digits;
}

// Returns a duration in a whole unit: "12 s", "1,234 ms", "450 us". Rounds down.
std::string in_words(nanoseconds d) {
    struct unit {
        nanoseconds from, length; // seconds only from 10 s on: "1 s" is too inexact for 1.9 s
        std::string_view name;
    };
    using namespace std::chrono_literals;
    constexpr std::array<unit, 4> units{{{10s, 1s, " s"}, {1ms, 1ms, " ms"}, {1us, 1us, " us"}, {0ns, 1ns, " ns"}}};
    const unit* u = units.data();
    while (d < u->from && u != &units.back()) ++u;
    // If the clock was turned back, the duration may be negative.
    return grouped(d > 0ns ? static_cast<std::uint64_t>(d / u->length) : 0) + std::string(u->name);
}

std::string counted(std::uint64_t n, std::string_view noun) {
    return grouped(n) + " " + std::string(noun) + (n == 1 ? "" : "s");
}

} // namespace

void slow_turn_options::validate() const {
    if (longer_than < nanoseconds::zero())
        refuse("longer_than", std::to_string(longer_than.count()) + " ns", "at least 0; pass the shortest slow turn");
    if (waiting == 0)
        refuse("waiting", "0", "at least 1; pass the largest number to leave reports of waiting timers out");
    if (at_most_every < nanoseconds::zero())
        refuse("at_most_every", std::to_string(at_most_every.count()) + " ns", "at least 0; 0 reports each slow turn");
}

std::string to_string(const slow_turn& t) {
    std::string words = "a turn took " + in_words(t.took) + " and fired " + counted(t.fired, "timer");
    if (t.waiting != 0)
        words += "; " + counted(t.waiting, "timer") + (t.waiting == 1 ? " is due and waits" : " are due and wait");
    if (t.skipped != 0) words += "; " + counted(t.skipped, "slow turn") + " before it not reported";
    return words;
}

} // namespace cogwheel::COGWHEEL_ABI
