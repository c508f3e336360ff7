// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Writes and reads lines of fields with a tab between them. A wrong field throws std::invalid_argument with its name.
#pragma once

#include <cogwheel/detail/platform.hpp>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail {

/// Appends text with control characters and \ as \t, \n, \r, \0, \\ or \x1b. Any bytes can be written, and a terminal
/// that shows the line executes no control sequence.
void add_escaped(std::string& to, std::string_view bytes);

/// Returns the original bytes. Errors: std::invalid_argument.
std::string unescaped(std::string_view text);

[[noreturn]] void refuse_field(const char* field, std::string_view text, const std::string& wanted);

/// The field that stands for no point.
inline constexpr std::string_view no_point = "-";

using field_point = std::chrono::sys_time<std::chrono::nanoseconds>;

class field_writer {
public:
    void text(std::string_view bytes) {
        next();
        add_escaped(queue_, bytes);
    }

    template <class Enum, std::size_t N>
    void word(Enum value, const std::array<std::string_view, N>& words) {
        next();
        queue_ += words[static_cast<std::size_t>(value)];
    }

    void number(std::int64_t value) {
        next();
        queue_ += std::to_string(value);
    }

    void point(const std::optional<field_point>& at) {
        if (at) return number(at->time_since_epoch().count());
        text(no_point);
    }

    std::string take() { return std::move(queue_); }

private:
    void next() {
        if (!first_) queue_ += '\t';
        first_ = false;
    }

    std::string queue_;
    bool first_ = true;
};

class field_reader {
public:
    explicit field_reader(std::string_view text) : rest_(text) {}

    std::string_view raw(const char* field);

    std::string text(const char* field) { return unescaped(raw(field)); }

    template <class Enum, std::size_t N>
    Enum word(const char* field, const std::array<std::string_view, N>& words) {
        const std::string_view found = raw(field);
        std::string list;
        for (std::size_t i = 0; i < N; ++i) {
            if (found == words[i]) return static_cast<Enum>(i);
            list += (i == 0 ? "" : i + 1 == N ? " or " : ", ") + std::string(words[i]);
        }
        refuse_field(field, found, list);
    }

    template <class Integer = std::int64_t>
    Integer number(const char* field) {
        return number_in<Integer>(field, raw(field));
    }

    std::optional<field_point> point(const char* field) {
        const std::string_view found = raw(field);
        if (found == no_point) return std::nullopt;
        return field_point(std::chrono::nanoseconds(number_in<std::int64_t>(field, found)));
    }

    bool more() const noexcept { return rest_.has_value(); }
    void end() const;

private:
    template <class Integer>
    static Integer number_in(const char* field, std::string_view found) {
        Integer value{};
        const char* const last = found.data() + found.size();
        const auto [stopped, error] = std::from_chars(found.data(), last, value);
        if (error != std::errc{} || stopped != last || found.empty())
            refuse_field(field, found,
                         "an integer from " + std::to_string(std::numeric_limits<Integer>::min()) + " to " +
                             std::to_string(std::numeric_limits<Integer>::max()));
        return value;
    }

    std::optional<std::string_view> rest_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail
