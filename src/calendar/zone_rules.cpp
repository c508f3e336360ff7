// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "zone_rules.hpp"

#include <algorithm>
#include <stdexcept>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

using namespace std::chrono;

namespace {

// The years to which the rule applies. std::chrono::year ends at 32,767; the distance keeps sums from overflowing.
constexpr sys_seconds earliest{sys_days{year{-32'000} / 1 / 1}}, latest{sys_days{year{32'000} / 1 / 1}};

class block_reader {
public:
    explicit block_reader(std::string_view bytes) : bytes_(bytes) {}

    std::string_view take(std::size_t size) {
        if (size > bytes_.size()) throw std::invalid_argument("it is cut short");
        const std::string_view taken = bytes_.substr(0, size);
        bytes_.remove_prefix(size);
        return taken;
    }

    // Reads a big-endian number in two's complement.
    std::int64_t number(std::size_t size) {
        std::uint64_t n = 0;
        for (const char c : take(size)) n = n << 8 | static_cast<unsigned char>(c);
        return size == 4 ? static_cast<std::int32_t>(n) : static_cast<std::int64_t>(n);
    }

    unsigned byte() { return static_cast<unsigned char>(take(1).front()); }

    std::string_view rest() const { return bytes_; }

private:
    std::string_view bytes_;
};

struct header {
    explicit header(block_reader& from) {
        if (from.rest().substr(0, 4) != "TZif") throw std::invalid_argument("it is no file of the tz database");
        from.take(4);
        if (from.take(1).front() < '2')
            throw std::invalid_argument(
                "its times have 32 bits and end in 2038; compile it with a zic of this century");
        from.take(15);
        for (std::size_t* n : {&in_utc, &in_standard, &leap_seconds, &changes, &types, &letters})
            *n = static_cast<std::uint32_t>(from.number(4));
    }
    std::size_t size(std::size_t of_time) const {
        return changes * (of_time + 1) + types * 6 + letters + leap_seconds * (of_time + 4) + in_standard + in_utc;
    }

    std::size_t in_utc, in_standard, leap_seconds, changes, types, letters;
};

} // namespace

zone_rules::zone_rules(std::string_view name, std::string_view file) : name_(name) {
    block_reader from(file);
    from.take(header(from).size(4));
    const header h(from);
    block_reader block(from.take(h.size(8)));
    if (h.leap_seconds != 0)
        throw std::invalid_argument("it counts leap seconds, as the system's clock does not; take the zone of the same "
                                    "name without right/");
    block_reader times(block.take(h.changes * 8)), which(block.take(h.changes));
    std::vector<seconds> offsets;
    for (std::size_t i = 0; i < h.types; ++i) {
        offsets.emplace_back(block.number(4));
        block.take(2); // the flag for summer time, and the index of the abbreviation
        if (abs(offsets.back()) > hours(26)) throw std::invalid_argument("it is a day and more from UTC");
    }
    if (offsets.empty()) throw std::invalid_argument("it has no local time");

    seconds offset = first_ = offsets[0];
    for (std::size_t i = 0; i < h.changes; ++i) {
        const sys_seconds at(seconds(times.number(8)));
        const unsigned type = which.byte();
        if (type >= offsets.size() || (i != 0 && at <= rule_from_))
            throw std::invalid_argument("its changes make no sense");
        rule_from_ = at;
        if (offsets[type] != offset) listed_.push_back({at, offsets[type]});
        offset = offsets[type];
    }

    const std::string_view footer = from.rest();
    const std::size_t end = footer.find('\n', 1);
    if (!footer.starts_with('\n') || end == std::string_view::npos)
        throw std::invalid_argument("its rule for later years is cut short");
    if (end == 1) return;
    rule_.emplace(footer.substr(1, end - 1));
    if (!rule_->changes()) rule_.reset();
}

// From the last listed change on, its offset applies until the next change by the rule. The rule alone is wrong where
// zic has left out the change before it, as version 2.36 does for America/Ojinaga in the first week of November 2022.
zone_info::stretch zone_rules::stretch_at(sys_seconds at) const {
    zone_info::stretch s{sys_seconds::min(), sys_seconds::max(), first_};
    const auto next = std::upper_bound(listed_.begin(), listed_.end(), at,
                                       [](sys_seconds t, const clock_change& c) { return t < c.at; });
    if (next != listed_.begin()) {
        s.begin = std::prev(next)->at;
        s.offset = std::prev(next)->offset;
    }
    if (next != listed_.end()) {
        s.end = next->at;
        return s;
    }
    if (!rule_) return s;
    // A change may lie up to a week outside its year. So the loop begins two years ago: both changes of that year have
    // happened, and the later one sets the offset.
    const year around = year_month_day(floor<days>(std::clamp(std::max(at, rule_from_), earliest, latest))).year();
    for (year y = around - years(2); y <= around + years(1); ++y) {
        for (const clock_change& c : rule_->in(y)) {
            if (c.at <= rule_from_ || c.offset == s.offset) continue;
            if (c.at > at) {
                s.end = c.at;
                return s;
            }
            s.begin = c.at;
            s.offset = c.offset;
        }
    }
    return s;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
