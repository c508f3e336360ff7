// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// From the arguments to the exit code. Reads "--name value" and "--name=value". Whatever is wrong becomes a usage_error
// whose text is one line that names the option, what was given and what would be right.
#pragma once

#include "support/output.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace command_line {

class usage_error : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Walks over the arguments: next() moves to the next option; name() and value() belong to that one.
class reader {
public:
    reader(int argc, char** argv) : argument_{argv + 1}, end_{argv + (argc > 0 ? argc : 1)} {}

    bool next() {
        if (argument_ == end_) return false;
        name_ = *argument_++;
        inline_value_ = {};
        if (!name_.starts_with("--") && name_ != "-h")
            throw usage_error{fmt::format("unexpected argument '{}' (see --help)", name_)};
        if (const auto equals = name_.find('='); equals != name_.npos) {
            inline_value_ = name_.substr(equals + 1);
            name_ = name_.substr(0, equals);
        }
        return true;
    }

    std::string_view name() const { return name_; }

    std::string_view value() {
        if (inline_value_.data() != nullptr) return inline_value_;
        if (argument_ == end_) throw usage_error{fmt::format("{} needs a value (see --help)", name_)};
        return *argument_++;
    }

    /// A whole number in [least, most].
    std::uint64_t count(std::uint64_t least, std::uint64_t most) {
        const std::string_view text = value();
        std::uint64_t number = 0;
        const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc{} || rest != text.data() + text.size() || number < least || number > most)
            throw usage_error{
                fmt::format("bad value '{}' for {}: give a whole number from {} to {}", text, name_, least, most)};
        return number;
    }

    /// A duration such as 500us, 500ms, 1.5s, 1m or 2h; a bare number only where it is 0, or has a default unit.
    std::chrono::nanoseconds duration(std::string_view default_unit = {}) {
        return parse_duration(value(), name_, default_unit);
    }

    /// The same for a text that belongs to `name`.
    static std::chrono::nanoseconds parse_duration(std::string_view text, std::string_view name,
                                                   std::string_view default_unit = {}) {
        const auto digits = text.substr(0, text.find_first_not_of("0123456789."));
        const double number = is_number(digits) ? std::strtod(std::string{digits}.c_str(), nullptr) : -1.0;
        auto unit = text.substr(digits.size());
        if (unit.empty()) unit = number == 0.0 ? "s" : default_unit;

        const double factor = nanoseconds_in(unit);
        const double nanoseconds = number * factor;
        if (number < 0 || factor < 0)
            throw usage_error{fmt::format(
                "bad duration '{}' for {}: give a number and a unit, such as 500ms, 1.5s, 2m or 1h", text, name)};
        if (nanoseconds > longest)
            throw usage_error{fmt::format("duration '{}' for {} is too long: at most 876000h", text, name)};
        return std::chrono::nanoseconds{std::llround(nanoseconds)};
    }

    std::chrono::nanoseconds positive_duration() {
        const auto given = duration();
        if (given.count() == 0) throw usage_error{fmt::format("{} must be above zero", name_)};
        return given;
    }

    [[noreturn]] void unknown() const { throw usage_error{fmt::format("unknown option '{}' (see --help)", name_)}; }

private:
    static constexpr double longest = 876000.0 * 3600e9; // a hundred years: any sum with a clock reading still fits

    static bool is_number(std::string_view digits) {
        const auto point = digits.find('.');
        return digits.find_first_of("0123456789") != digits.npos &&
               (point == digits.npos || digits.find('.', point + 1) == digits.npos);
    }

    static double nanoseconds_in(std::string_view unit) {
        return unit == "us"   ? 1e3
               : unit == "ms" ? 1e6
               : unit == "s"  ? 1e9
               : unit == "m"  ? 60e9
               : unit == "h"  ? 3600e9
                              : -1;
    }

    char** argument_;
    char** end_;
    std::string_view name_;
    std::string_view inline_value_;
};

/// What the program's body returns; or 2 and a line with the reason if it could not start as asked. If standard output
/// does not take what was printed: 1 and a line, or 141 without one where nothing reads it any more (as a shell says of
/// SIGPIPE).
template <class Body>
int run(std::string_view program, Body body) {
    output::prepare();
    std::string trouble;
    try {
        const int code = body();
        output::flush();
        return code;
    } catch (const std::exception& error) {
        trouble = error.what();
    }
    const bool unwritable = std::ferror(stdout) != 0;
    if (unwritable && output::reader_has_gone()) return 141;
    output::complain("{}: {}\n", program, trouble);
    return unwritable ? 1 : 2;
}

/// The same for a program that has no options but --help.
template <class Body>
int run(int argc, char** argv, std::string_view program, std::string_view what_it_does, Body body) {
    return run(program, [&] {
        for (reader line(argc, argv); line.next();) {
            if (line.name() != "--help" && line.name() != "-h") line.unknown();
            fmt::print("usage: {}\n{}\n", program, what_it_does);
            return 0;
        }
        return body();
    });
}

} // namespace command_line
