// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// cogwheel_bench: what timers cost, on this machine, beside other ways to keep them.
//
// For each workload and size, every contender gets a process of its own, pinned to the same processor; the repetitions
// go round the contenders. Figures are CPU time, medians. It fails when results differ between contenders, and never
// because of a time.
#include "machine.hpp"
#include "options.hpp"
#include "plan.hpp"
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fstream>

namespace {

using namespace bench;

// No names, or only groups: every workload.
bool is_wanted(const options& o, const workload& w) {
    if (std::all_of(o.only.begin(), o.only.end(), [](const std::string& name) { return is_group(name); })) return true;
    return std::find(o.only.begin(), o.only.end(), w.name) != o.only.end();
}

bool is_wanted(const options& o, const entrant& e) {
    if (std::none_of(o.only.begin(), o.only.end(), [](const std::string& name) { return is_group(name); })) return true;
    return std::any_of(o.only.begin(), o.only.end(),
                       [&](const std::string& name) { return is_group(name) && in_group(name, e.contender); });
}

struct verdict {
    std::vector<row> rows;
    std::string disagreement;
};

verdict run(const options& o, const workload& w, std::size_t timers) {
    std::vector<std::string_view> names;
    std::vector<std::unique_ptr<leg_process>> legs;
    for (const entrant& e : w.entrants) {
        if (!is_wanted(o, e)) continue;
        names.push_back(e.contender);
        legs.push_back(std::make_unique<leg_process>([make = e.make, timers] { return make(timers); }));
    }
    std::vector<std::vector<sample>> samples(legs.size());
    const std::size_t repetitions = o.repeat.value_or(o.quick ? w.quick_repetitions : w.repetitions);
    for (std::size_t r = 0; r < repetitions; ++r) {
        fmt::print(stderr, "{} with {} timers: {} of {}   \r", w.name, timers, r + 1, repetitions);
        for (std::size_t i = 0; i < legs.size(); ++i) samples[i].push_back(legs[i]->repeat(r));
    }
    fmt::print(stderr, "{:60}\r", "");
    verdict v;
    for (std::size_t i = 0; i < legs.size(); ++i) v.rows.push_back(summarise(w.name, names[i], timers, samples[i]));
    v.disagreement = disagreement(samples);
    return v;
}

int run_all(const options& o) {
    std::ofstream file;
    if (o.json) {
        file.open(*o.json);
        if (!file) throw usage_error(fmt::format("cannot write '{}'", *o.json));
    }
    const machine_names machine{cpu_name(), compiler_name(), asio_version()};
    const int cpu = pin(o.cpu);
    fmt::print("{}, CPU {}; {}; Asio {}. Nanoseconds of CPU time an operation, medians of interleaved repetitions.\n"
               "bytes: all that the heap holds for a timer (mallinfo2); handle: what the user keeps to name it.\n",
               machine.cpu, cpu, machine.compiler, machine.asio);
    bool ok = true;
    std::vector<row> rows;
    for (const workload& w : all_workloads()) {
        if (!is_wanted(o, w)) continue;
        for (const std::size_t timers : !o.timers.empty() ? o.timers : o.quick ? w.quick_timers : w.timers) {
            const verdict v = run(o, w, timers);
            if (v.rows.empty()) continue;
            fmt::print("{}", table(v.rows, w.what, reference));
            if (!v.disagreement.empty()) fmt::print("  WRONG: the results differ: {}\n", v.disagreement);
            ok = ok && v.disagreement.empty() &&
                 std::all_of(v.rows.begin(), v.rows.end(), [](const row& r) { return r.error.empty(); });
            std::fflush(stdout);
            rows.insert(rows.end(), v.rows.begin(), v.rows.end());
        }
    }
    fmt::print("{}", summary(rows, reference));
    if (o.json && !(file << json(rows, machine) << std::flush)) {
        fmt::print(stderr, "cogwheel_bench: cannot write '{}'\n", *o.json);
        ok = false;
    }
    return ok ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN); // a child that died is reported by its leg
    try {
        const bench::options o = bench::parse(argc, argv);
        if (o.help) {
            fmt::print("{}", bench::usage());
            return 0;
        }
        return run_all(o);
    } catch (const bench::usage_error& e) {
        fmt::print(stderr, "cogwheel_bench: {}\n", e.what());
        return 2;
    } catch (const std::exception& e) {
        fmt::print(stderr, "cogwheel_bench: {}\n", e.what());
        return 1;
    }
}
