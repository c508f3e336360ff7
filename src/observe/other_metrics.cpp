// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The metrics of requests, circuit breakers, retries and tasks.
#include "metric_tables.hpp"

#include <cogwheel/resilience/retry_policy.hpp>

#include <array>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

using enum metric_type;
using sink = metric_sink;

constexpr std::array<metric<request_stats>, 5> request_metrics{{
    {{"cogwheel_requests_in_flight", gauge, "requests", "Requests in flight."},
     [](const request_stats& s, sink& to) { to.value(std::uint64_t{s.in_flight}); }},
    {{"cogwheel_requests_started_total", counter, "requests", "Requests that have started."},
     [](const request_stats& s, sink& to) { to.value(s.started); }},
    {{"cogwheel_requests_ended_total", counter, "requests,outcome", "Requests that have ended."},
     [](const request_stats& s, sink& to) {
         to.value("outcome", "answered", s.answered);
         to.value("outcome", "timed_out", s.timed_out);
         to.value("outcome", "failed", s.failed);
         to.value("outcome", "cancelled", s.cancelled);
     }},
    {{"cogwheel_requests_refused_total", counter, "requests", "Requests that were not started."},
     [](const request_stats& s, sink& to) { to.value(s.refused); }},
    {{"cogwheel_answers_late_total", counter, "requests", "Answers to requests that had ended or never started."},
     [](const request_stats& s, sink& to) { to.value(s.late); }},
}};

constexpr std::array<metric<circuit_sample>, 6> circuit_metrics{{
    {{"cogwheel_circuit_state", gauge, "breaker,state", "1 for the state of the breaker, 0 for the other states."},
     [](const circuit_sample& s, sink& to) {
         for (const circuit_state state : {circuit_state::closed, circuit_state::open, circuit_state::half_open})
             to.value("state", to_string(state), std::uint64_t{state == s.state});
     }},
    {{"cogwheel_circuit_calls_allowed_total", counter, "breaker", "Calls that the breaker allowed."},
     [](const circuit_sample& s, sink& to) { to.value(s.stats.allowed); }},
    {{"cogwheel_circuit_calls_refused_total", counter, "breaker", "Calls that the breaker refused."},
     [](const circuit_sample& s, sink& to) { to.value(s.stats.refused); }},
    {{"cogwheel_circuit_calls_ended_total", counter, "breaker,outcome", "Allowed calls that have ended."},
     [](const circuit_sample& s, sink& to) {
         to.value("outcome", "succeeded", s.stats.succeeded);
         to.value("outcome", "failed", s.stats.failed);
         to.value("outcome", "abandoned", s.stats.abandoned);
     }},
    {{"cogwheel_circuit_calls_late_total", counter, "breaker",
      "Calls that succeeded or failed after the state had changed; they also count as ended."},
     [](const circuit_sample& s, sink& to) { to.value(s.stats.late); }},
    {{"cogwheel_circuit_opened_total", counter, "breaker", "How often the breaker has opened."},
     [](const circuit_sample& s, sink& to) { to.value(s.stats.opened); }},
}};

constexpr std::array<metric<retry_stats>, 2> retry_metrics{{
    {{"cogwheel_retries_total", counter, "retries,end", "Retries that have ended, by the reason."},
     [](const retry_stats& s, sink& to) {
         for (std::size_t i = 0; i < retry_ends; ++i) to.value("end", to_string(static_cast<retry_end>(i)), s.ends[i]);
     }},
    {{"cogwheel_retry_attempts_total", counter, "retries", "Attempts of these retries, including first ones."},
     [](const retry_stats& s, sink& to) { to.value(s.attempts); }},
}};

constexpr std::array<metric<retry_budget_stats>, 3> budget_metrics{{
    {{"cogwheel_retry_budget_deposits_total", counter, "budget", "First attempts, each of which adds to the budget."},
     [](const retry_budget_stats& s, sink& to) { to.value(s.deposits); }},
    {{"cogwheel_retry_budget_granted_total", counter, "budget", "Retries that the budget granted."},
     [](const retry_budget_stats& s, sink& to) { to.value(s.granted); }},
    {{"cogwheel_retry_budget_refused_total", counter, "budget", "Retries that the budget refused."},
     [](const retry_budget_stats& s, sink& to) { to.value(s.refused); }},
}};

std::uint64_t wide(std::size_t n) noexcept { return n; }

constexpr std::array<metric<task_stats>, 13> task_metrics{{
    {{"cogwheel_tasks", gauge, "tasks,state", "Tasks by state. Finished ones count until they are forgotten."},
     [](const task_stats& s, sink& to) {
         to.value("state", "pending", wide(s.tasks.pending));
         to.value("state", "queued", wide(s.tasks.queued));
         to.value("state", "running", wide(s.tasks.running));
         to.value("state", "finished", wide(s.tasks.finished));
     }},
    {{"cogwheel_tasks_paused", gauge, "tasks", "Paused tasks. They count in cogwheel_tasks too."},
     [](const task_stats& s, sink& to) { to.value(wide(s.paused)); }},
    {{"cogwheel_tasks_by_level", gauge, "tasks,level",
      "Pending tasks by how far ahead they are due, in levels of the wheel."},
     [](const task_stats& s, sink& to) {
         for (std::size_t l = 0; l < s.by_level.size(); ++l) to.value("level", std::to_string(l), wide(s.by_level[l]));
     }},
    {{"cogwheel_task_runs_under_way", gauge, "tasks", "Runs under way, also those that wait for a thread or a retry."},
     [](const task_stats& s, sink& to) { to.value(wide(s.tasks.jobs)); }},
    {{"cogwheel_task_queue_size", gauge, "tasks", "Runs that wait for a thread of the pool."},
     [](const task_stats& s, sink& to) { to.value(wide(s.queue)); }},
    {{"cogwheel_task_runs_started_total", counter, "tasks", "Runs that have begun."},
     [](const task_stats& s, sink& to) { to.value(s.runs_started); }},
    {{"cogwheel_task_runs_ended_total", counter, "tasks,outcome", "Runs that have ended."},
     [](const task_stats& s, sink& to) {
         to.value("outcome", "completed", s.completed);
         to.value("outcome", "failed", s.failed);
         to.value("outcome", "cancelled", s.cancelled);
     }},
    {{"cogwheel_task_attempts_total", counter, "tasks,attempt",
      "Attempts whose job has begun: first ones and retries."},
     [](const task_stats& s, sink& to) {
         to.value("attempt", "first", s.attempts - s.retries);
         to.value("attempt", "retry", s.retries);
     }},
    {{"cogwheel_task_attempts_timed_out_total", counter, "tasks",
      "Attempts that were told to stop by their time limit."},
     [](const task_stats& s, sink& to) { to.value(s.timed_out); }},
    {{"cogwheel_task_runs_missed_total", counter, "tasks", "Missed runs that did not happen."},
     [](const task_stats& s, sink& to) { to.value(s.missed); }},
    {{"cogwheel_task_runs_dropped_total", counter, "tasks",
      "Runs that did not happen because another run was under way."},
     [](const task_stats& s, sink& to) { to.value(s.dropped); }},
    {{"cogwheel_task_latency_seconds", histogram, "tasks",
      "Time from the point at which an attempt was due to the start of its job."},
     [](const task_stats& s, sink& to) { to.histogram(s.latency); }},
    {{"cogwheel_task_execution_seconds", histogram, "tasks",
      "Time from the start of the job of an attempt to its end."},
     [](const task_stats& s, sink& to) { to.histogram(s.execution); }},
}};

} // namespace

template <>
metric_table<request_stats> table_of() noexcept {
    return {"requests", "requests", request_metrics};
}
template <>
metric_table<circuit_sample> table_of() noexcept {
    return {"breaker", "breakers", circuit_metrics};
}
template <>
metric_table<retry_stats> table_of() noexcept {
    return {"retries", "retries", retry_metrics};
}
template <>
metric_table<retry_budget_stats> table_of() noexcept {
    return {"budget", "budgets", budget_metrics};
}
template <>
metric_table<task_stats> table_of() noexcept {
    return {"tasks", "tasks", task_metrics};
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
