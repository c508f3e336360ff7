// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The answers about tasks and the queue. Each waits for the queue; an error becomes a problem (problem_of).
#include "api/event_writer.hpp"
#include "api/problem.hpp"
#include "api/service_api.hpp"
#include "api/task_reader.hpp"
#include "api/task_writer.hpp"
#include "work/deliveries.hpp"

#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <chrono>

namespace cogwheeld {

namespace {

using cogwheel::durable_state;
using cogwheel::task_trigger;

auto into(std::error_code& ec) { return asio::redirect_error(asio::use_awaitable, ec); }

[[noreturn]] void no_such_task(std::string_view id) {
    throw refusal{problem_of(cogwheel::durable_errc::no_such_task, id)};
}

void check(std::error_code ec, std::string_view id, std::uint64_t generation = 0) {
    if (ec) throw refusal{problem_of(ec, id, generation)};
}

http_response result_of(std::string_view id, std::string_view result) { return {.body = result_json(id, result)}; }

constexpr std::uint32_t page_size = 100;
constexpr int most_pages = 20; // of the queue, for one page of tasks in a state

} // namespace

asio::awaitable<http_response> service_api::add(http_request& request, const target& to) {
    to.allow({});
    auto order = read_task(request.body);
    const std::string id = order.task.id;
    std::error_code ec;
    const auto receipt = co_await queue_.schedule(std::move(order.task), order.policy, into(ec));
    check(ec, id, receipt.generation);
    if (!receipt.existed) hub_.publish("task", happened_json("scheduled", id));
    co_return http_response{.status = receipt.existed ? 200 : 201, .body = receipt_json(id, receipt)};
}

asio::awaitable<http_response> service_api::add_all(http_request& request, const target& to) {
    to.allow({});
    auto orders = read_bulk(request.body);
    std::vector<std::variant<std::pair<std::string, cogwheel::durable_receipt>, problem>> results;
    std::vector<cogwheel::durable_task> tasks;
    for (auto& t : orders.tasks) {
        if (auto* const why = std::get_if<problem>(&t)) {
            results.emplace_back(std::move(*why));
        } else {
            auto& task = std::get<cogwheel::durable_task>(t);
            results.emplace_back(std::pair(task.id, cogwheel::durable_receipt{}));
            tasks.push_back(std::move(task));
        }
    }
    std::error_code ec;
    std::vector<cogwheel::durable_added> added;
    if (!tasks.empty()) {
        const auto sent = tasks.size();
        added = co_await queue_.schedule_all(std::move(tasks), orders.policy, into(ec));
        added.resize(sent, cogwheel::durable_added{.error = ec});
    }
    std::size_t next = 0, scheduled = 0;
    for (auto& r : results) {
        auto* const task = std::get_if<std::pair<std::string, cogwheel::durable_receipt>>(&r);
        if (task == nullptr) continue;
        const auto& answer = added[next++];
        if (answer.error) {
            r = problem_of(answer.error, std::string(task->first), answer.receipt.generation);
        } else {
            task->second = answer.receipt;
            ++scheduled;
        }
    }
    if (scheduled != 0) hub_.publish("bulk", fmt::format(R"({{"scheduled":{}}})", scheduled));
    co_return http_response{.body = bulk_json(results)};
}

asio::awaitable<http_response> service_api::show(http_request&, const target& to) {
    to.allow({});
    std::error_code ec;
    const auto info = co_await queue_.find(to.id, into(ec));
    check(ec, to.id);
    if (!info) no_such_task(to.id);
    co_return http_response{.body = task_json(*info, waits_for(*info))};
}

// Of a task that is due, and has been for longer than a begin takes.
std::string_view service_api::waits_for(const cogwheel::durable_info& task) const {
    const bool waits = task.state == cogwheel::durable_state::waiting && !task.paused && task.when.empty() &&
                       task.due < std::chrono::system_clock::now() - std::chrono::seconds(1);
    const auto call = waits && work_ != nullptr ? cogwheel::http_callback::decode(task.body) : std::nullopt;
    if (!call) return {};
    switch (work_->room(call->url).circuit) {
    case cogwheel::circuit_state::open:
        return "the circuit of its host is open";
    case cogwheel::circuit_state::half_open:
        return "a probe of its host";
    case cogwheel::circuit_state::closed:
        break;
    }
    return "a place at its host, or in the service";
}

asio::awaitable<http_response> service_api::change_due(http_request& request, const target& to) {
    to.allow({});
    const auto when = read_change(request.body);
    std::error_code ec;
    auto receipt = co_await queue_.reschedule(to.id, when, into(ec));
    check(ec, to.id, receipt.generation);
    receipt.existed = false; // of course it did
    hub_.publish("task", happened_json("rescheduled", to.id));
    co_return http_response{.body = receipt_json(to.id, receipt)};
}

asio::awaitable<http_response> service_api::cancel(http_request&, const target& to) {
    to.allow({});
    std::error_code ec;
    const auto result = co_await queue_.cancel(to.id, into(ec));
    check(ec, to.id);
    if (result == cogwheel::durable_cancel_result::not_found) no_such_task(to.id);
    if (result == cogwheel::durable_cancel_result::running)
        throw refusal{{.status = 409,
                       .detail = "an attempt runs; no further attempt begins",
                       .remedy = "the receiver may have been called already: ask it",
                       .id = to.id}};
    hub_.publish("task", happened_json("cancelled", to.id));
    co_return result_of(to.id, "cancelled");
}

service_api::response service_api::hold(const target& to, bool paused) {
    to.allow({});
    std::error_code ec;
    if (paused)
        co_await queue_.pause(to.id, into(ec));
    else
        co_await queue_.resume(to.id, into(ec));
    check(ec, to.id);
    const std::string_view result = paused ? "paused" : "resumed";
    hub_.publish("task", happened_json(result, to.id));
    co_return result_of(to.id, result);
}

// Does it to each chosen task, page by page: some may have changed meanwhile, and do not count.
template <class Wanted, class Do>
service_api::response service_api::each(selection chosen, bool among_dead, std::string_view result, Wanted wanted,
                                        Do act) {
    std::error_code ec;
    std::uint64_t count = 0;
    cogwheel::durable_page page;
    page.cursor = std::move(chosen.cursor);
    bool more = true;
    for (int pages = 0; more && pages < most_pages && count < chosen.count; ++pages) {
        const auto size = std::min<std::uint32_t>(chosen.count - static_cast<std::uint32_t>(count), page_size);
        if (among_dead)
            page = co_await queue_.dead(page.cursor, size, into(ec));
        else
            page = co_await queue_.list(page.cursor, size, into(ec));
        check(ec, {});
        for (const auto& t : page.tasks) {
            if (!t.id.starts_with(chosen.prefix) || !wanted(t)) continue;
            const bool done = co_await act(t.id, ec);
            check(ec, t.id);
            count += done ? 1 : 0;
        }
        more = !page.cursor.empty();
    }
    if (count != 0) hub_.publish("bulk", fmt::format(R"({{"{}":{}}})", result, count));
    co_return http_response{.body = selected_json(result, count, more ? page.cursor : std::string())};
}

asio::awaitable<http_response> service_api::cancel_all(http_request& request, const target& to) {
    to.allow({});
    const auto waits = [](const cogwheel::durable_info& t) { return t.state == durable_state::waiting; };
    const auto act = [this](std::string id, std::error_code& ec) -> asio::awaitable<bool> {
        const auto result = co_await queue_.cancel(std::move(id), into(ec));
        co_return result == cogwheel::durable_cancel_result::cancelled;
    };
    return each(read_selection(request.body, false), false, "cancelled", waits, act);
}

asio::awaitable<http_response> service_api::redrive_all(http_request& request, const target& to) {
    to.allow({});
    const auto act = [this](std::string id, std::error_code& ec) -> asio::awaitable<bool> {
        const bool done = co_await queue_.redrive(std::move(id), into(ec));
        co_return done;
    };
    return each(read_selection(request.body, false), true, "redriven", [](const auto&) { return true; }, act);
}

asio::awaitable<http_response> service_api::purge_all(http_request& request, const target& to) {
    to.allow({});
    auto chosen = read_selection(request.body, true);
    const bool dead = chosen.dead;
    const auto wanted = [dead](const cogwheel::durable_info& t) {
        return t.state == (dead ? durable_state::dead : durable_state::done);
    };
    const auto act = [this](std::string id, std::error_code& ec) -> asio::awaitable<bool> {
        const bool done = co_await queue_.purge(std::move(id), into(ec));
        co_return done;
    };
    return each(std::move(chosen), dead, "purged", wanted, act);
}

service_api::response service_api::pause(http_request&, const target& to) { return hold(to, true); }
service_api::response service_api::resume(http_request&, const target& to) { return hold(to, false); }

// A recurring task keeps its schedule: the run is a task of its own, named as its occurrences are.
asio::awaitable<http_response> service_api::run_now(http_request&, const target& to) {
    to.allow({});
    std::error_code ec;
    const auto info = co_await queue_.find(to.id, into(ec));
    check(ec, to.id);
    if (!info) no_such_task(to.id);
    std::string id = to.id;
    cogwheel::durable_receipt receipt;
    if (info->state == durable_state::dead) {
        const bool found = co_await queue_.redrive(id, into(ec));
        check(ec, id);
        if (!found) no_such_task(id);
        hub_.publish("task", happened_json("redriven", id));
        co_return result_of(id, "redriven");
    }
    if (info->paused)
        throw refusal{{.status = 409, .detail = "the task is paused", .remedy = "resume it first", .id = id}};
    if (info->state != durable_state::waiting)
        throw refusal{{.status = 409,
                       .detail = info->state == durable_state::done ? "the task is done" : "an attempt runs already",
                       .remedy = "schedule a task with another id",
                       .id = id}};
    if (info->when.empty()) {
        receipt = co_await queue_.reschedule(id, task_trigger::once(std::chrono::seconds(0)), into(ec));
    } else {
        const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
        id += '@' + std::to_string(now.time_since_epoch().count());
        // Not within the co_await: GCC 12 destroys such an aggregate twice.
        cogwheel::durable_task task{
            .id = id, .body = info->body, .max_attempts = info->max_attempts, .traceparent = info->traceparent};
        receipt = co_await queue_.schedule(std::move(task), cogwheel::on_duplicate::keep, into(ec));
    }
    check(ec, id, receipt.generation);
    receipt.existed = false;
    hub_.publish("task", happened_json("run", id));
    co_return http_response{.body = receipt_json(id, receipt)};
}

asio::awaitable<http_response> service_api::list(http_request&, const target& to) {
    to.allow({"cursor", "state", "count"});
    const auto count = to.count(page_size);
    const auto state = to.parameter("state");
    if (!state.empty() && state != "waiting" && state != "running" && state != "done" && state != "dead" &&
        state != "paused")
        throw refusal{{.status = 422,
                       .detail = fmt::format("there is no state '{}'", state),
                       .field = "state",
                       .remedy = "give waiting, paused, running, done or dead, or leave it out"}};
    std::error_code ec;
    cogwheel::durable_page found;
    found.cursor = to.parameter("cursor");
    // Few of many tasks may be in the state: a page that is empty but for its cursor is right, and rare.
    for (int page = 0; page == 0 || (page < most_pages && found.tasks.size() < count && !found.cursor.empty());
         ++page) {
        auto next = co_await queue_.list(found.cursor, count, into(ec));
        check(ec, {});
        found.cursor = std::move(next.cursor);
        for (auto& t : next.tasks)
            if (state.empty() || state == (t.paused ? "paused" : to_string(t.state)))
                found.tasks.push_back(std::move(t));
        if (state.empty()) break;
    }
    co_return http_response{.body = page_json(found)};
}

asio::awaitable<http_response> service_api::dead(http_request&, const target& to) {
    to.allow({"cursor", "count"});
    std::error_code ec;
    const auto page = co_await queue_.dead(std::string(to.parameter("cursor")), to.count(page_size), into(ec));
    check(ec, {});
    co_return http_response{.body = page_json(page)};
}

asio::awaitable<http_response> service_api::redrive(http_request&, const target& to) {
    to.allow({});
    std::error_code ec;
    const bool found = co_await queue_.redrive(to.id, into(ec));
    check(ec, to.id);
    if (!found) no_such_task(to.id);
    hub_.publish("task", happened_json("redriven", to.id));
    co_return result_of(to.id, "redriven");
}

asio::awaitable<http_response> service_api::purge(http_request&, const target& to) {
    to.allow({});
    std::error_code ec;
    const bool found = co_await queue_.purge(to.id, into(ec));
    check(ec, to.id);
    if (!found) no_such_task(to.id);
    hub_.publish("task", happened_json("purged", to.id));
    co_return result_of(to.id, "purged");
}

asio::awaitable<http_response> service_api::counts(http_request&, const target& to) {
    to.allow({});
    std::error_code ec;
    const auto counts = co_await queue_.counts(into(ec));
    check(ec, {});
    co_return http_response{.body = counts_json(counts, queue_.trouble())};
}

asio::awaitable<http_response> service_api::pause_queue(http_request&, const target& to) {
    to.allow({});
    std::error_code ec;
    co_await queue_.pause(into(ec));
    check(ec, {});
    hub_.publish("queue", R"({"paused":true})");
    co_return http_response{.body = R"({"paused":true})"};
}

asio::awaitable<http_response> service_api::resume_queue(http_request&, const target& to) {
    to.allow({});
    std::error_code ec;
    co_await queue_.resume(into(ec));
    check(ec, {});
    hub_.publish("queue", R"({"paused":false})");
    co_return http_response{.body = R"({"paused":false})"};
}

} // namespace cogwheeld
