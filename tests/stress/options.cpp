// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// See options.hpp.
#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>
#include <vector>

namespace stress {

namespace {

std::uint64_t number(std::string_view text, std::string_view option, std::uint64_t least, std::uint64_t most) {
    std::uint64_t n = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, n);
    if (error != std::errc{} || rest != end || n < least || n > most)
        throw usage_error(fmt::format("bad value '{}' for {}: give a whole number from {} to {}, such as {} {}", text,
                                      option, least, most, option, std::max<std::uint64_t>(least, 8)));
    return n;
}

} // namespace

options parse(int argc, char** argv) {
    options o;
    const std::vector<std::string_view> arguments(argv + 1, argv + std::max(argc, 1));
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string_view name = arguments[i];
        const auto value = [&](std::uint64_t least, std::uint64_t most) {
            if (++i == arguments.size())
                throw usage_error(
                    fmt::format("{} needs a value from {} to {}: give it as the next argument", name, least, most));
            return number(arguments[i], name, least, most);
        };
        if (name == "--threads")
            o.threads = static_cast<unsigned>(value(3, 64));
        else if (name == "--operations")
            o.operations = value(1, 1'000'000'000'000);
        else if (name == "--seed")
            o.seed = value(0, std::numeric_limits<std::uint64_t>::max());
        else if (name == "--seconds-limit")
            o.limit = std::chrono::seconds(value(1, 1'000'000));
        else if (name == "--help" || name == "-h")
            o.help = true;
        else
            throw usage_error(fmt::format("unknown option '{}': give one of --threads, --operations, --seed, "
                                          "--seconds-limit, --help",
                                          name));
    }
    return o;
}

std::string usage() {
    return "timer_stress [--threads N] [--operations N] [--seed N] [--seconds-limit S]\n"
           "\n"
           "  --threads N        threads in all, 3 to 64: a third runs the context, the others play (default 8)\n"
           "  --operations N     calls of the wheel's interface in all (default 1000000)\n"
           "  --seed N           of what each thread draws; how the threads interleave is not repeated (default 1)\n"
           "  --seconds-limit S  ends early, and says so\n";
}

} // namespace stress
