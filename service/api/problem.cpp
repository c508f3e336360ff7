// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "api/problem.hpp"

#include <cogwheel/asio/error.hpp>
#include <cogwheel/durable/error.hpp>
#include <cogwheel/tasks/error.hpp>

#include <asio/error.hpp>

#include <nlohmann/json.hpp>

namespace cogwheeld {

std::string problem::to_json() const {
    nlohmann::ordered_json j{
        {"type", "about:blank"}, {"title", reason(status)}, {"status", status}, {"detail", detail}};
    if (!field.empty()) j["field"] = field;
    if (!remedy.empty()) j["remedy"] = remedy;
    if (!id.empty()) j["id"] = id;
    if (generation != 0) j["generation"] = generation;
    return j.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

http_response problem::to_response() const {
    http_response r{.status = status, .content_type = "application/problem+json", .body = to_json()};
    if (retry_after != 0) r.fields.emplace_back("Retry-After", std::to_string(retry_after));
    if (!allow.empty()) r.fields.emplace_back("Allow", allow);
    return r;
}

namespace {

using cogwheel::durable_errc;
using cogwheel::task_errc;

constexpr const char* again = "try again";
constexpr const char* again_with_keep =
    "repeat it with the same id and \"policy\": \"keep\": that makes no second task";

problem of_durable(durable_errc e, std::string words) {
    switch (e) {
    case durable_errc::not_connected:
        return {
            .status = 503, .detail = "the server of the queue cannot be reached", .remedy = again, .retry_after = 1};
    case durable_errc::server_busy:
        return {.status = 503, .detail = std::move(words), .remedy = again, .retry_after = 1};
    case durable_errc::server_full:
        return {.status = 503,
                .detail = std::move(words),
                .remedy = "wait until tasks have ended, or add memory",
                .retry_after = 10};
    case durable_errc::disconnected:
        return {.status = 503,
                .detail = "the connection to the server of the queue broke: the change may have been made",
                .remedy = again_with_keep,
                .retry_after = 1};
    case durable_errc::durability_unknown:
        return {.status = 503,
                .detail = "the change is made, but not as many replicas as wanted have confirmed it",
                .remedy = again_with_keep,
                .retry_after = 1};
    case durable_errc::no_such_task:
        return {.status = 404,
                .detail = "there is no such task",
                .remedy = "GET /v1/tasks lists them; a task that is done is kept for a time only"};
    case durable_errc::running:
        return {.status = 409,
                .detail = "an attempt runs",
                .remedy = "wait for its end, or schedule a task with another id"};
    case durable_errc::bad_due:
        return {.status = 422,
                .detail = std::move(words),
                .field = "due",
                .remedy = "give a date before 2262, or a shorter delay"};
    case durable_errc::bad_id:
        return {.status = 422,
                .detail = std::move(words),
                .field = "id",
                .remedy = "give an id of 1 to 512 bytes, to a recurring task 1 to 498"};
    case durable_errc::bad_cursor:
        return {.status = 400,
                .detail = std::move(words),
                .field = "cursor",
                .remedy = "give the one of the last page, or none"};
    case durable_errc::bad_body:
        return {.status = 413,
                .detail = std::move(words),
                .field = "body",
                .remedy = "shorten it, or send a reference instead"};
    case durable_errc::access_denied:
        return {.status = 503,
                .detail = std::move(words),
                .remedy = "give the service's user of Redis the rights that docs/durable.md names",
                .retry_after = 10};
    default: // of the server of the queue, or of what lies before it
        return {.status = 503,
                .detail = std::move(words),
                .remedy = "try again; the log of the service, and cogwheeld audit, say more",
                .retry_after = 10};
    }
}

problem of_task(task_errc e, std::string words) {
    switch (e) {
    case task_errc::never:
        return {.status = 422,
                .detail = "it has no run in the future",
                .field = "cron",
                .remedy = "give an expression that has one"};
    case task_errc::bad_period: // of reschedule() alone: the others are checked before
        return {.status = 409,
                .detail = "a recurring task cannot be moved",
                .remedy = "schedule it again with \"policy\": \"replace\""};
    default:
        return {.status = 422, .detail = std::move(words)};
    }
}

} // namespace

problem problem_of(std::error_code ec, std::string_view id, std::uint64_t generation) {
    problem p;
    if (ec == asio::error::operation_aborted)
        p = {.status = 503, .detail = "the service is shutting down", .remedy = again, .retry_after = 1};
    else if (ec == cogwheel::errc::duplicate_key)
        p = {.status = 409,
             .detail = "a task with this id is stored",
             .field = "id",
             .remedy = "give another id, or \"policy\": \"keep\" or \"replace\""};
    else if (ec.category() == cogwheel::task_category())
        p = of_task(static_cast<task_errc>(ec.value()), ec.message());
    else if (ec == std::errc::no_space_on_device || ec == std::errc::io_error ||
             ec == std::errc::read_only_file_system || ec == std::errc::no_such_file_or_directory)
        p = {.status = 503,
             .detail = "the journal cannot be written: " + ec.message(),
             .remedy = "make room on the disk; the log of the service says more",
             .retry_after = 10};
    else if (ec.category() == cogwheel::durable_category())
        p = of_durable(static_cast<durable_errc>(ec.value()), ec.message());
    else
        p = of_durable(durable_errc{}, ec.message());
    p.id = id;
    p.generation = generation;
    return p;
}

} // namespace cogwheeld
