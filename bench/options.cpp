// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// See options.hpp.
#include "options.hpp"

#include "plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace bench {

namespace {

constexpr std::size_t most_timers = 100'000'000;

std::vector<std::string_view> split(std::string_view list) {
    std::vector<std::string_view> parts;
    for (;;) {
        const auto comma = list.find(',');
        parts.push_back(list.substr(0, comma));
        if (comma == list.npos) return parts;
        list.remove_prefix(comma + 1);
    }
}

// 1000, 1k, 4M.
std::size_t count(std::string_view text, std::string_view option, std::size_t most, std::size_t least = 1) {
    std::size_t n = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    const std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
    const std::size_t factor = unit.empty() ? 1 : unit == "k" ? 1000 : unit == "M" ? 1'000'000 : 0;
    if (error != std::errc{} || factor == 0 || n < least || n > most / factor)
        throw usage_error(fmt::format("bad value '{}' for {}: give a whole number from {} to {}, such as 20, 1k or 4M",
                                      text, option, least, most));
    return n * factor;
}

std::string checked_name(std::string_view name) {
    const auto all = all_workloads();
    if (!is_group(name) && std::none_of(all.begin(), all.end(), [&](const workload& w) { return w.name == name; }))
        throw usage_error(fmt::format("unknown workload '{}' (see --help)", name));
    return std::string(name);
}

} // namespace

options parse(int argc, char** argv) {
    options o;
    const std::vector<std::string_view> arguments(argv + 1, argv + std::max(argc, 1));
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        std::string_view name = arguments[i];
        std::optional<std::string_view> inline_value;
        if (const auto equals = name.find('='); name.starts_with("--") && equals != name.npos) {
            inline_value = name.substr(equals + 1);
            name = name.substr(0, equals);
        }
        const auto value = [&]() -> std::string_view {
            if (inline_value) return *inline_value;
            if (++i == arguments.size()) throw usage_error(fmt::format("{} needs a value (see --help)", name));
            return arguments[i];
        };
        if (name == "--quick") {
            o.quick = true;
        } else if (name == "--full") {
            o.full = true;
        } else if (name == "--help" || name == "-h") {
            o.help = true;
        } else if (name == "--asio-version") {
            o.asio_version = true;
        } else if (name == "--leg") {
            const auto workload = value(), contender = value();
            o.leg = {std::string(workload), std::string(contender), count(value(), name, most_timers, 0)};
        } else if (name == "--only") {
            for (const auto part : split(value())) o.only.push_back(checked_name(part));
        } else if (name == "--timers") {
            for (const auto part : split(value())) o.timers.push_back(count(part, name, most_timers));
        } else if (name == "--repeat") {
            o.repeat = count(value(), name, 1000);
        } else if (name == "--json") {
            o.json = value();
        } else if (name == "--cpu") {
            const auto text = value();
            const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), o.cpu);
            if (error != std::errc{} || rest != text.data() + text.size() || o.cpu < 0)
                throw usage_error(fmt::format("bad value '{}' for --cpu: give a processor's number, from 0", text));
        } else if (!name.starts_with("-")) {
            o.only.push_back(checked_name(name));
        } else {
            throw usage_error(fmt::format("unknown option '{}' (see --help)", name));
        }
    }
    return o;
}

std::string usage() {
    std::string text =
        "cogwheel_bench [--quick|--full] [--only LIST] [--timers LIST] [--repeat N] [--json FILE] [--cpu N] [NAME...]\n"
        "\n"
        "  --quick        fewer sizes and repetitions: a quarter of an hour\n"
        "  --full         more sizes: up to 4M timers; an hour and a half\n"
        "  --only LIST    these workloads, or a group of contenders: core, binding, loops, foreign; a bare NAME does "
        "the same\n"
        "  --timers LIST  this many live timers instead of each workload's own: 1k,100k,4M\n"
        "  --repeat N     this many repetitions\n"
        "  --json FILE    the figures, as an array of rows\n"
        "  --cpu N        run there; the last one allowed if not given\n"
        "\n"
        "Workloads:\n";
    for (const workload& w : all_workloads()) text += fmt::format("  {:16} {}\n", w.name, w.what);
    return text;
}

} // namespace bench
