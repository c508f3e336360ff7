// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Why a request was refused, and what to do: application/problem+json (RFC 9457).
//
//     throw refusal{{.status = 422, .detail = "bad delay '5 parsecs'", .field = "delay",
//                    .remedy = "give a number and a unit, such as 500ms, 30s or 2h"}};
#pragma once

#include "http/message.hpp"

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace cogwheeld {

struct problem {
    int status = 400;
    std::string detail;           ///< one sentence that names the value
    std::string field{};          ///< the member of the request's JSON, such as "delay"; empty: none alone
    std::string remedy{};         ///< what to do
    std::string allow{};          ///< for the field Allow of a 405
    int retry_after = 0;          ///< seconds, for the field Retry-After too; 0: not sent
    std::string id{};             ///< of the task, where the outcome is unknown
    std::uint64_t generation = 0; ///< the same; 0: not known

    /// Returns {"type":"about:blank","title":..,"status":..,"detail":..,"field":..,"remedy":..}; empty members are left
    /// out.
    std::string to_json() const;
    http_response to_response() const;
};

/// Returns the problem of an operation on the queue that has failed. `id`: of its task, or empty. `generation`: of the
/// task that is stored now, if that is known.
problem problem_of(std::error_code, std::string_view id, std::uint64_t generation = 0);

/// Ends the handling of a request with this problem.
class refusal : public std::exception {
public:
    explicit refusal(problem why) : why_(std::move(why)) {}
    const problem& why() const noexcept { return why_; }
    const char* what() const noexcept override { return why_.detail.c_str(); }

private:
    problem why_;
};

} // namespace cogwheeld
