// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Writes the JSON of answers. Dates are as in RFC 3339, in UTC, with milliseconds. Bytes that are not UTF-8 become
// U+FFFD.
#pragma once

#include "api/problem.hpp"

#include <cogwheel/durable/durable_queue.hpp>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cogwheeld {

/// {"id":..,"generation":..,"due":..}
std::string receipt_json(std::string_view id, const cogwheel::durable_receipt&);

/// A task: id, state, paused, generation, due, attempt, max_attempts, when, runs_left, url, method, headers, body,
/// result ({"status":..,"body":..}), message, history, traceparent. Members that say nothing are left out. Values of
/// headers named authorization, cookie or like a secret are not shown.
/// `waits_for`: empty, or words.
std::string task_json(const cogwheel::durable_info&, std::string_view waits_for = {});

/// {"tasks":[..],"cursor":..}; an empty cursor is left out.
std::string page_json(const cogwheel::durable_page&);

/// {"waiting":..,"claimed":..,"overdue":..,"done":..,"dead":..,"paused":..,"trouble":..}; the last one only if there is
/// some.
std::string counts_json(const cogwheel::durable_counts&, std::string_view trouble);

/// {"result":..,"count":..,"cursor":..}; an empty cursor is left out.
std::string selected_json(std::string_view result, std::uint64_t count, std::string_view cursor);

/// {"results":[receipt | problem, ..]}, in the order of the request.
std::string bulk_json(const std::vector<std::variant<std::pair<std::string, cogwheel::durable_receipt>, problem>>&);

} // namespace cogwheeld
