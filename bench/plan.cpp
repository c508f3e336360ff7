// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// See plan.hpp.
#include "plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace bench {

namespace {

constexpr std::array<std::string_view, 4> groups{"core", "binding", "loops", "foreign"};

// The twin with a newer Asio has Asio's alone.
entrants entrants_of([[maybe_unused]] std::string_view group, std::string_view workload) {
    static const participation nobody;
    const participation* all = group == "binding" ? &binding_plan() : &nobody;
#ifndef COGWHEEL_BENCH_ASIO_ONLY
    if (group == "core") all = &core_plan();
    if (group == "loops") all = &loop_plan();
    if (group == "foreign") all = &foreign_plan();
#endif
    const auto at = all->find(workload);
    return at == all->end() ? entrants() : at->second;
}

std::vector<workload> workloads() {
    const std::size_t k = 1000, m = 1'000'000;
    const std::vector<std::size_t> ends{k, m}, sizes{k, 100 * k, m}, decades{k, 10 * k, 100 * k, m}, four{4 * m};
    const std::vector<std::string_view> first_rows{"asio::steady_timer, one"};
    const std::vector<std::string_view> single{"p50 ns", "p99 ns", "p99.99 ns", "max ns", "own max ns", "switched %"};
    const std::vector<std::string_view> turns{"p50 us",     "p99 us",     "p99.99 us", "max us",
                                              "own max us", "switched %", "turns"};
    const auto longest = [&](std::string_view name, std::string_view what,
                             const std::vector<std::string_view>& figures) {
        return workload{name, what, {100 * k}, sizes, {}, 1, 3, figures};
    };
    return {
        {"request", "cancel the oldest of the live ones, schedule one at +30 s", {k}, sizes, four, 5, 5},
        {"churn", "cancel a random one, schedule one at +30 s", ends, decades, four, 5, 5},
        {"touch", "push a random one back to +30 s", ends, decades, four, 5, 5},
        {"churn_huge",
         "churn, in huge pages: wheels by their option, the others by glibc's (glibc.malloc.hugetlb)",
         {m},
         {100 * k, m},
         {},
         5,
         5},
        {"touch_huge", "touch, in huge pages", {m}, {100 * k, m}, {}, 5, 5},
        {"mixed_huge", "mixed, in huge pages", {m}, {m}, {}, 3, 5},
        {"touch_earlier", "move a random one to earlier than all before it", {m}, sizes, {}, 5, 7},
        {"rearm",
         "expires_after(30 s) and async_wait on a random one, whose wait is aborted; its handler runs",
         {k, 100 * k, m},
         sizes,
         {},
         5,
         5},
        {"activity", "activity on a random connection that is idle after 30 s without", {k, 100 * k}, sizes, {}, 5, 5},
        {"fire_one_tick", "all expire within one millisecond, in random order of memory", {m}, sizes, four, 3, 5},
        {"fire_spread", "all expire, at random within 1 s", {100 * k}, {100 * k, m}, {}, 3, 5},
        {"fire_minute", "all expire, at random within 60 s; ticks of 1 ms", {}, {m}, {}, 1, 1},
        {"month", "all expire, at random within 30 days in ticks of 1 ms; looked at every minute", {}, {m}, {}, 1, 3},
        {"mixed",
         "90 % cancelled and scheduled anew, 9 % pushed back, 1 % fired; delays of 1 ms to 1 h",
         {m},
         {100 * k, m},
         four,
         3,
         5},
        {"schedule", "schedule one at +30 s, until all are live", {m}, sizes, {}, 3, 5},
        {"cancel", "cancel a random one, until none is live", {m}, sizes, four, 3, 5},
        {"async_wait_slot",
         "emit a random one's cancellation slot, async_wait at +30 s again; both handlers run",
         ends,
         sizes,
         {},
         5,
         5},
        {"wait_fire",
         "all expire within one millisecond: async_wait handlers, each with a cancellation slot",
         {m},
         sizes,
         {},
         3,
         5},
        {"timers_fire", "all expire within one millisecond: timer objects with a wait each", {m}, sizes, {}, 3, 5},
        {"two_threads_churn", "churn, on two threads at once", ends, sizes, {}, 5, 5},
        {"two_threads_rearm", "rearm, on two threads at once", ends, sizes, {}, 5, 5},
        {"two_threads_touch", "touch, on two threads at once", ends, sizes, {}, 5, 5},
        {"four_threads_churn", "churn, on four threads at once", {}, {k, m}, {}, 3, 5},
        {"four_threads_rearm", "rearm, on four threads at once", {}, {k, m}, {}, 3, 5},
        {"four_threads_touch", "touch, on four threads at once", {}, {k, m}, {}, 3, 5},
        {"shared_churn",
         "churn, on timers that all threads share, each guarded by a flag: compare the wall times of one thread and "
         "two",
         {m},
         sizes,
         {},
         5,
         5,
         {},
         first_rows},
        {"shared_touch", "touch, the same way as shared_churn", {m}, sizes, {}, 5, 5, {}, first_rows},
        {"per_thread_churn",
         "churn, a loop, wheel and timers for each thread; beside two threads on one loop: compare the wall times",
         {m},
         sizes,
         {},
         5,
         5,
         {},
         first_rows},
        {"per_thread_touch", "touch, the same way as per_thread_churn", {m}, sizes, {}, 5, 5, {}, first_rows},
        {"remote", "churn of timers that live on another thread's loop, both ways at once", {m}, {k, m}, {}, 3, 5},
        {"limit",
         "an operation that completes at once, with a limit of 5 s (timers: in flight)",
         {k},
         {k},
         {},
         9,
         9,
         {},
         {"asio::cancel_after", "operation || timer"}},
        {"lone",
         "start one timer of 30 s, cancel it or complete what it limits, run() returns; as a synchronous client does",
         {1},
         {1},
         {},
         9,
         9,
         {"syscalls/op"},
         {"asio::steady_timer", "operation, steady_timer beside it"}},
        {"add_tasks", "add one that runs every second", {}, {k, 10 * k, 20 * k, 50 * k, 100 * k}, {}, 3, 5},
        {"jump", "8 h pass at once, and all are due later", {m}, {100 * k, m}, {}, 3, 5},
        {"idle",
         "a second in which nothing is due",
         {0, m},
         {0, 1, m},
         {},
         3,
         5,
         {"wake-ups/s", "CPU us/s", "syscalls/s"}},
        {"kept",
         "60 s of virtual time in which each timer of 30 s is pushed back every second, beside the push-backs",
         {m},
         {100 * k, m},
         {},
         1,
         3,
         {"% of a core"}},
        {"burst",
         "all expire within one millisecond; a byte goes to and fro on the same loop meanwhile",
         {m},
         {2 * m},
         {},
         1,
         3,
         {"echo p50 ms", "echo p99 ms", "echo max ms", "late p99 ms", "echoes"}},
        longest("worst_schedule", "the longest single schedule, while timers grow in number and then keep it", single),
        longest("worst_cancel", "the longest single cancel, while timers keep their number and then go", single),
        longest("worst_touch", "the longest single push-back to +30 s of a random one", single),
        longest("worst_turn", "the longest turn: how long one poll_one() takes, when all expire within one millisecond",
                turns),
        longest("worst_turn_kept",
                "the same, when all were due within one millisecond and have been pushed back to +30 s", turns),
        {"lateness",
         "all expire at random within 1 s of real time, ticks of 1 ms",
         {100 * k},
         {100 * k},
         {},
         3,
         5,
         {"early", "p50 us", "p99 us", "max us"}},
        {"echo",
         "a message of 64 bytes to and fro, connections with an idle limit of 30 s",
         {k},
         {10 * k},
         {},
         5,
         41,
         {"requests/s", "p50 us", "p99 us", "max us"}},
        {"memory", "all live", {m}, sizes, four, 1, 1},
        {"drain",
         "all expire within one millisecond, then trim(); MB of memory that is resident",
         {m},
         {4 * m},
         {},
         1,
         3,
         {"empty", "live", "drained", "trimmed"}},
    };
}

} // namespace

std::vector<workload> all_workloads() {
    auto all = workloads();
    for (workload& w : all)
        for (const std::string_view group : groups)
            for (entrant& e : entrants_of(group, w.name)) {
                e.group = group;
                w.contenders.push_back(std::move(e));
            }
    return all;
}

bool is_group(std::string_view name) { return std::find(groups.begin(), groups.end(), name) != groups.end(); }

std::unique_ptr<leg> make_leg(std::string_view workload, std::string_view contender, std::size_t timers) {
    for (const auto& w : all_workloads())
        if (w.name == workload)
            for (const entrant& e : w.contenders)
                if (e.contender == contender && e.make != nullptr) return e.make(timers);
    throw std::invalid_argument(fmt::format("no contender '{}' in workload '{}'", contender, workload));
}

} // namespace bench
