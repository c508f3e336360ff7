// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a file of the tz database says (TZif, RFC 9636): the changes of the clocks that are listed, and a rule for those after the last.
//
// Both layouts that zic writes: "fat" lists changes up to 2037, "slim" leaves to the rule what follows from it. Nothing is taken from the
// first block, whose 32 bits end in 2038.
#pragma once

#include <cogwheel/schedule/detail/yearly_rule.hpp>
#include <cogwheel/schedule/time_zone.hpp>

#include <optional>
#include <vector>

namespace cogwheel::detail {

class zone_rules {
public:
    /// `file`: its bytes. Errors: std::invalid_argument that says what is wrong with them; std::bad_alloc.
    zone_rules(std::string_view name, std::string_view file);

    const std::string& name() const noexcept { return name_; }

    /// Complexity: O(log changes listed).
    zone_stretch stretch_at(std::chrono::sys_seconds) const;

private:
    std::string name_;
    std::chrono::seconds first_{};     // before all changes
    std::vector<clock_change> listed_; // in order, none to the same offset
    std::chrono::sys_seconds rule_from_ = std::chrono::sys_seconds::min();
    std::optional<yearly_rule> rule_; // nothing: it stays as listed last
};

} // namespace cogwheel::detail
