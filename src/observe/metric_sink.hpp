// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Where the values of a metric go: to lines of text, or to a JSON document.
#pragma once

#include "../detail/json_writer.hpp"
#include "metric.hpp"

#include <cogwheel/counts/duration_histogram.hpp>
#include <cogwheel/observe/metrics.hpp>

#include <array>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Appends a number in its shortest form; NaN and infinities as the Prometheus formats require.
void append_number(std::string& out, double value);
inline void append_number(std::string& out, std::uint64_t value) {
    std::array<char, 20> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    out.append(digits.data(), end);
}

/// Appends a text with the escapes of a label's value (backslash, quote, line feed), or of a help text (no quote).
void append_escaped(std::string& out, std::string_view text, bool quotes);

/// Receives the values of one metric of one source.
class metric_sink {
public:
    virtual ~metric_sink() = default;

    void value(std::uint64_t v) { number({}, {}, v); }
    void value(double v) { number({}, {}, v); }
    /// Sends one of several values, which a label tells apart.
    template <class Number>
    void value(std::string_view label, std::string_view label_value, Number v) {
        number(label, label_value, v);
    }
    virtual void histogram(const duration_histogram&) = 0;

protected:
    virtual void number(std::string_view label, std::string_view label_value, std::uint64_t) = 0;
    virtual void number(std::string_view label, std::string_view label_value, double) = 0;
};

/// Writes lines of the Prometheus text format or of OpenMetrics. The family's head precedes its first value.
class text_sink final : public metric_sink {
public:
    explicit text_sink(metrics_format format) noexcept : open_(format == metrics_format::openmetrics) {}

    void begin_family(const metric_description& family) noexcept {
        family_ = family;
        head_written_ = false;
    }
    /// `labels`: escaped name="value" pairs, separated by commas; may be empty.
    void begin_source(std::string& out, std::string_view labels) noexcept {
        out_ = &out;
        labels_ = labels;
    }
    void histogram(const duration_histogram&) override;
    std::size_t lines() const noexcept { return lines_; }

private:
    void number(std::string_view label, std::string_view label_value, std::uint64_t v) override {
        begin_line({}, label, label_value);
        append_number(*out_, v);
        end_line();
    }
    void number(std::string_view label, std::string_view label_value, double v) override {
        begin_line({}, label, label_value);
        append_number(*out_, v);
        end_line();
    }
    void begin_line(std::string_view suffix, std::string_view label, std::string_view label_value);
    void end_line() {
        *out_ += '\n';
        ++lines_;
    }
    void write_head();

    bool open_; // OpenMetrics
    metric_description family_{};
    bool head_written_ = false;
    std::string* out_ = nullptr;
    std::string_view labels_;
    std::size_t lines_ = 0;
};

/// Writes members of a JSON object: a number, an object with one member for each value of a label, or a histogram.
class json_sink final : public metric_sink {
public:
    explicit json_sink(json_writer& to) noexcept : to_(to) {}

    /// Begins the member of this name. end_member() ends it. A member without a value is left out.
    void begin_member(std::string_view name) noexcept {
        name_ = name;
        open_ = false;
    }
    void end_member() {
        if (open_) to_.close('}');
    }
    void histogram(const duration_histogram&) override;

private:
    void number(std::string_view label, std::string_view label_value, std::uint64_t v) override;
    void number(std::string_view label, std::string_view label_value, double v) override;
    void begin_value(std::string_view label, std::string_view label_value);

    json_writer& to_;
    std::string_view name_;
    bool open_ = false; // the object of the values of a label
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
