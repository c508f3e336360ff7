// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// cogwheel_bench: what timers cost, on this machine, beside other ways to keep them.
//
// For each workload and size, every contender gets a process of its own, pinned to the same processor (unless threads
// are the point); the repetitions go round the contenders, in random order. Figures are CPU time, medians. It fails
// when results differ between contenders, and never because of a time.
#include "machine.hpp"
#include "options.hpp"
#include "plan.hpp"
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <random>

#include <unistd.h>

namespace {

using namespace bench;

// No names, or only groups: every workload.
bool is_wanted(const options& o, const workload& w) {
    if (std::all_of(o.only.begin(), o.only.end(), [](const std::string& name) { return is_group(name); })) return true;
    return std::find(o.only.begin(), o.only.end(), w.name) != o.only.end();
}

// Of groups, with those that ratios are given against.
bool is_wanted(const options& o, const workload& w, const entrant& e) {
    const auto names_group = [](const std::string& name) { return is_group(name); };
    if (std::none_of(o.only.begin(), o.only.end(), names_group)) return true;
    return std::find(o.only.begin(), o.only.end(), e.group) != o.only.end() ||
           std::find(w.references.begin(), w.references.end(), e.contender) != w.references.end();
}

struct verdict {
    std::vector<row> rows;
    std::string disagreement;
};

// This program's twin, built with a newer Asio.
struct newer_asio {
    std::string program;
    std::string version;
};

// Nothing if there is none: then its rows are missing.
std::optional<newer_asio> find_newer_asio(const std::string& own) {
    const std::string twin = own + "_newer_asio";
    std::string version;
    if (::access(twin.c_str(), X_OK) != 0) return std::nullopt;
    if (const auto pipe =
            std::unique_ptr<FILE, int (*)(FILE*)>(::popen((twin + " --asio-version").c_str(), "r"), ::pclose))
        for (int c = std::fgetc(pipe.get()); c != EOF && c != '\n'; c = std::fgetc(pipe.get()))
            version += static_cast<char>(c);
    return newer_asio{twin, version};
}

constexpr std::string_view not_installed = "not installed:";

struct contestant {
    std::string name;
    std::string baseline;
    std::string missing;
    std::unique_ptr<leg_process> leg;
    std::vector<sample> samples;
};

std::vector<contestant> invite(const options& o, const workload& w, std::size_t timers, const std::string& own,
                               const std::optional<newer_asio>& newer) {
    std::vector<contestant> all;
    const auto add = [&](const entrant& e, const std::string& program, const std::string& version) {
        const std::string suffix = version.empty() ? "" : " (" + version + ")";
        contestant c{std::string(e.contender) + suffix,
                     e.baseline.empty() ? "" : std::string(e.baseline) + suffix,
                     std::string(e.missing),
                     nullptr,
                     {}};
        if (e.missing.empty()) c.leg = std::make_unique<leg_process>(program, w.name, e.contender, timers, e.huge_heap);
        all.push_back(std::move(c));
    };
    const auto beside = [&](std::string_view name) {
        return name.empty() ? own : std::filesystem::path(own).replace_filename(name).string();
    };
    for (const entrant& e : w.contenders)
        if (is_wanted(o, w, e) && e.asio != with::newer) add(e, beside(e.program), e.version);
    for (const entrant& e : w.contenders)
        if (is_wanted(o, w, e) && e.asio != with::own && newer) add(e, newer->program, newer->version);
    return all;
}

sample repeat(contestant& c, std::size_t repetition) {
    if (c.leg) return c.leg->repeat(repetition);
    sample s;
    fmt::format_to_n(s.error, sizeof s.error - 1, "{} {}", not_installed, c.missing);
    return s;
}

verdict run(const options& o, const workload& w, std::size_t timers, std::vector<contestant> all) {
    std::size_t repetitions = o.repeat.value_or(o.quick ? w.quick_repetitions : w.repetitions);
    if (!o.repeat && timers > 1'000'000) repetitions = std::min<std::size_t>(repetitions, 3); // a minute each
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937_64 random(timers);
    for (std::size_t r = 0; r < repetitions; ++r) {
        fmt::print(stderr, "{} with {} timers: {} of {}   \r", w.name, timers, r + 1, repetitions);
        std::shuffle(order.begin(), order.end(), random); // nobody always follows the same neighbour
        for (const std::size_t i : order) all[i].samples.push_back(repeat(all[i], r));
    }
    fmt::print(stderr, "{:60}\r", "");
    verdict v;
    std::vector<std::vector<sample>> samples;
    for (contestant& c : all) {
        v.rows.push_back(summarise(w.name, c.name, timers, c.samples));
        v.rows.back().figure_names = w.figures;
        samples.push_back(std::move(c.samples));
    }
    for (std::size_t i = 0; i < all.size(); ++i)
        for (const row& base : v.rows)
            if (base.contender == all[i].baseline && base.error.empty()) v.rows[i].above = v.rows[i].ns - base.ns;
    v.disagreement = disagreement(samples);
    return v;
}

int run_all(const options& o) {
    if (o.json && !std::ofstream(*o.json)) throw usage_error(fmt::format("cannot write '{}'", *o.json));
    const std::string own = std::filesystem::canonical("/proc/self/exe");
    const auto newer = find_newer_asio(own);
    if (!newer) fmt::print("No twin with a newer Asio: its rows are missing.\n");
    const machine_names machine{cpu_name(), compiler_name(), asio_version() + (newer ? " and " + newer->version : "")};
    const int cpu = pin(o.cpu);
    fmt::print(
        "{}, CPU {}; {}; Asio {}. Nanoseconds of CPU time an operation, medians of interleaved repetitions.\n"
        "above: ns more than the operation without. bytes: all that the heap holds for a timer (mallinfo2); handle:\n"
        "what the user keeps to name it.\n",
        machine.cpu, cpu, machine.compiler, machine.asio);
    bool ok = true;
    std::vector<row> rows;
    for (const workload& w : all_workloads()) {
        if (!is_wanted(o, w)) continue;
        std::vector<std::size_t> sizes = !o.timers.empty() ? o.timers : o.quick ? w.quick_timers : w.timers;
        if (o.full && o.timers.empty()) sizes.insert(sizes.end(), w.more_timers.begin(), w.more_timers.end());
        for (const std::size_t timers : sizes) {
            const verdict v = run(o, w, timers, invite(o, w, timers, own, newer));
            if (v.rows.empty()) continue;
            fmt::print("{}", w.figures.empty() ? table(v.rows, w.what, w.references)
                                               : figures_table(v.rows, w.what, w.figures));
            if (!v.disagreement.empty()) fmt::print("  WRONG: the results differ: {}\n", v.disagreement);
            ok = ok && v.disagreement.empty() && std::all_of(v.rows.begin(), v.rows.end(), [](const row& r) {
                     return r.error.empty() || r.error.starts_with(not_installed); // said, and no failure
                 });
            std::fflush(stdout);
            rows.insert(rows.end(), v.rows.begin(), v.rows.end());
            if (o.json &&
                !(std::ofstream(*o.json) << json(rows, machine) << std::flush)) // what there is, if it is ended
                throw std::runtime_error(fmt::format("cannot write '{}'", *o.json));
        }
    }
    return ok ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN); // a child that died is reported by its leg
    try {
        const bench::options o = bench::parse(argc, argv);
        if (o.asio_version) {
            fmt::print("{}\n", bench::asio_version());
            return 0;
        }
        if (o.leg) {
            bench::serve([&] { return bench::make_leg(o.leg->workload, o.leg->contender, o.leg->timers); });
            return 0;
        }
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
