// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The contents of a file of the tz database (TZif, RFC 9636): a list of changes of the clocks, and a rule for later
// ones.
//
// Reads both layouts of zic: "fat" lists changes up to 2037, "slim" lists only those that do not follow from the rule.
// Skips the first block, because its 32-bit times end in 2038.
#pragma once

#include "yearly_rule.hpp"

#include <cogwheel/calendar/zone_info.hpp>

#include <optional>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

class zone_rules {
public:
    /// Parses the bytes of a file. Errors: std::invalid_argument that says what is wrong with them; std::bad_alloc.
    zone_rules(std::string_view name, std::string_view file);

    const std::string& name() const noexcept { return name_; }

    /// Returns the stretch that contains this moment. Complexity: O(log listed changes).
    zone_info::stretch stretch_at(std::chrono::sys_seconds) const;

private:
    std::string name_;
    std::chrono::seconds first_{};     // the offset before all changes
    std::vector<clock_change> listed_; // in order of time; each changes the offset
    std::chrono::sys_seconds rule_from_ = std::chrono::sys_seconds::min();
    std::optional<yearly_rule> rule_; // nothing: the last listed offset stays
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
