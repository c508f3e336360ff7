// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// See report.hpp.
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bench {

namespace {

template <class Projection>
std::vector<double> sorted(const std::vector<sample>& samples, Projection p) {
    std::vector<double> values;
    values.reserve(samples.size());
    for (const sample& s : samples) values.push_back(p(s));
    std::sort(values.begin(), values.end());
    return values;
}

double median(const std::vector<double>& values) {
    const std::size_t half = values.size() / 2;
    return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::string describe(const outcome& o) {
    return fmt::format("{} cancelled, {} pending, {} fired (sum {:x})", o.cancelled, o.pending, o.fired.fired,
                       o.fired.sum);
}

std::string grouped(std::size_t n) {
    std::string digits = fmt::format("{}", n);
    for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
    return digits;
}

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out;
}

// "18.3x faster", "1.4x slower"; of bytes: "less", "more".
std::string against(const row& r, const row& reference) {
    if (&reference == &r || r.above.has_value() != reference.above.has_value()) return "-";
    const double ours = r.timed ? r.above.value_or(r.ns) : r.bytes;
    const double theirs = r.timed ? reference.above.value_or(reference.ns) : reference.bytes;
    if (ours <= 0 || theirs <= 0) return "-";
    const double ratio = theirs / ours;
    const char* better = r.timed ? "faster" : "less";
    const char* worse = r.timed ? "slower" : "more";
    return ratio >= 1 ? fmt::format("{:.1f}x {}", ratio, better) : fmt::format("{:.1f}x {}", 1 / ratio, worse);
}

} // namespace

row summarise(std::string_view workload, std::string contender, std::size_t timers,
              const std::vector<sample>& samples) {
    row r;
    r.workload = workload;
    r.contender = std::move(contender);
    r.timers = timers;
    r.repetitions = samples.size();
    for (const sample& s : samples)
        if (s.error[0] != '\0') r.error = s.error;
    if (!r.error.empty()) return r;
    r.timed = samples.front().operations != 0;
    const auto cpu = sorted(samples, [](const sample& s) { return s.cpu_ns; });
    r.ns = median(cpu);
    r.min = cpu.front();
    r.max = cpu.back();
    r.wall_ns = median(sorted(samples, [](const sample& s) { return s.wall_ns; }));
    r.bytes = median(sorted(samples, [](const sample& s) { return s.bytes; }));
    r.handle_bytes = samples.front().handle_bytes;
    for (std::size_t i = 0; i < r.figures.size(); ++i)
        r.figures[i] = median(sorted(samples, [i](const sample& s) { return s.figures[i]; }));
    r.mallocs = sorted(samples, [](const sample& s) { return s.mallocs; }).front();
    return r;
}

std::string disagreement(const std::vector<std::vector<sample>>& samples) {
    for (std::size_t repetition = 0; !samples.empty() && repetition < samples.front().size(); ++repetition) {
        const outcome* first = nullptr;
        for (const auto& contender : samples) {
            const sample& s = contender[repetition];
            if (s.error[0] != '\0') continue; // reported by its row
            if (first == nullptr) first = &s.result;
            if (!(s.result == *first)) return fmt::format("{} against {}", describe(*first), describe(s.result));
        }
    }
    return {};
}

std::string table(const std::vector<row>& rows, std::string_view what,
                  const std::vector<std::string_view>& references) {
    std::vector<const row*> others;
    for (const row& r : rows)
        if (r.error.empty() && std::any_of(references.begin(), references.end(),
                                           [&](std::string_view name) { return r.contender.starts_with(name); }))
            others.push_back(&r);
    const row& first = rows.front();
    std::string text = fmt::format("\n{}, {} timers: {}\n", first.workload, grouped(first.timers), what);
    for (std::size_t i = 0; i < others.size(); ++i) text += fmt::format("  [{}] {}\n", i + 1, others[i]->contender);
    text += fmt::format("  {:<38}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>15}", "", "ns/op", "min", "max", "wall", "above",
                        "mallocs", "bytes+handle");
    for (std::size_t i = 0; i < others.size(); ++i) text += fmt::format("{:>15}", fmt::format("against [{}]", i + 1));
    for (const row& r : rows) {
        if (!r.error.empty()) {
            text += fmt::format("\n  {:<38}  FAILED: {}", r.contender, r.error);
            continue;
        }
        const auto figure = [&](double value) { return r.timed ? fmt::format("{:.1f}", value) : std::string("-"); };
        const std::string bytes = r.handle_bytes > 0 ? fmt::format("{:.1f}+{:.0f}", r.bytes, r.handle_bytes)
                                                     : fmt::format("{:.1f}   ", r.bytes);
        text += fmt::format("\n  {:<38}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>15}", r.contender, figure(r.ns), figure(r.min),
                            figure(r.max), figure(r.wall_ns), r.above ? fmt::format("{:+.1f}", *r.above) : "-",
                            r.timed ? fmt::format("{:.3f}", r.mallocs) : "-", bytes);
        for (const row* other : others) text += fmt::format("{:>15}", against(r, *other));
    }
    return text + "\n";
}

std::string figures_table(const std::vector<row>& rows, std::string_view what,
                          const std::vector<std::string_view>& names) {
    const row& first = rows.front();
    std::string text = fmt::format("\n{}, {} timers: {}\n", first.workload, grouped(first.timers), what);
    text += fmt::format("  {:<38}{:>9}{:>9}", "", "ns/op", "above");
    for (const std::string_view name : names) text += fmt::format("{:>13}", name);
    for (const row& r : rows) {
        if (!r.error.empty()) {
            text += fmt::format("\n  {:<38}  FAILED: {}", r.contender, r.error);
            continue;
        }
        text += fmt::format("\n  {:<38}{:>9}{:>9}", r.contender, r.timed ? fmt::format("{:.1f}", r.ns) : "-",
                            r.above ? fmt::format("{:+.1f}", *r.above) : "-");
        for (std::size_t i = 0; i < names.size(); ++i)
            text += std::isnan(r.figures[i]) ? fmt::format("{:>13}", "-") : fmt::format("{:>13.2f}", r.figures[i]);
    }
    return text + "\n";
}

std::string json(const std::vector<row>& rows, const machine_names& machine) {
    std::string text = "[";
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const row& r = rows[i];
        const auto figure = [&](double value) {
            return r.timed && r.error.empty() ? fmt::format("{:.3f}", value) : std::string("null");
        };
        text += fmt::format(
            R"({}{{"workload":"{}","contender":"{}","timers":{},"ns_per_op":{},"min_ns":{},"max_ns":{},)"
            R"("wall_ns_per_op":{},"repeats":{},"bytes_per_timer":{},"handle_bytes":{},)"
            R"("mallocs_per_op":{:.4f},"above_baseline_ns":{},"cpu":"{}","compiler":"{}","asio":"{}")",
            i == 0 ? "\n" : ",\n", r.workload, r.contender, r.timers, figure(r.ns), figure(r.min), figure(r.max),
            figure(r.wall_ns), r.repetitions, r.error.empty() ? fmt::format("{:.2f}", r.bytes) : "null", r.handle_bytes,
            r.mallocs, r.above ? fmt::format("{:.3f}", *r.above) : "null", escaped(machine.cpu),
            escaped(machine.compiler), escaped(machine.asio));
        for (std::size_t f = 0; f < r.figure_names.size() && r.error.empty(); ++f)
            text += fmt::format(R"(,"{}":{})", r.figure_names[f],
                                std::isnan(r.figures[f]) ? "null" : fmt::format("{:.3f}", r.figures[f]));
        if (!r.error.empty()) text += fmt::format(R"(,"error":"{}")", escaped(r.error));
        text += '}';
    }
    return text + "\n]\n";
}

} // namespace bench
