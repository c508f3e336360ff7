// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "metric_sink.hpp"

#include <cogwheel/detail/visible_text.hpp>

#include <cmath>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

// Returns a bound in seconds, without an exponent: a bound is a label, which must have one spelling.
std::string bound_of(const duration_histogram& h, std::size_t i) {
    std::array<char, 32> digits;
    const double seconds = static_cast<double>(h.bound(i).count()) / 1e9;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), seconds, std::chars_format::fixed).ptr;
    return {digits.data(), end};
}

// Returns the name of a family in OpenMetrics: for a counter, without _total.
std::string_view family_name(const metric_description& family) noexcept {
    constexpr std::string_view suffix = "_total";
    std::string_view name = family.name;
    if (family.type == metric_type::counter && name.ends_with(suffix)) name.remove_suffix(suffix.size());
    return name;
}

std::string_view unit_of(std::string_view name) noexcept {
    for (const std::string_view unit : {"seconds", "bytes"})
        if (name.ends_with(unit) && name.size() > unit.size() && name[name.size() - unit.size() - 1] == '_')
            return unit;
    return {};
}

} // namespace

void append_number(std::string& out, double value) {
    if (std::isnan(value)) {
        out += "NaN";
    } else if (std::isinf(value)) {
        out += value > 0 ? "+Inf" : "-Inf";
    } else {
        std::array<char, 32> digits;
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
        out.append(digits.data(), end);
    }
}

void append_escaped(std::string& out, std::string_view text, bool quotes) {
    while (!text.empty()) {
        const std::size_t n = utf8_length(text);
        const char c = text[0];
        if (c == '\\' || (c == '"' && quotes)) out += '\\';
        if (n == 0)
            out += "\xef\xbf\xbd"; // U+FFFD: Prometheus refuses the whole text for one bad byte
        else if (c == '\n')
            out += "\\n";
        else
            out += text.substr(0, n);
        text.remove_prefix(n == 0 ? 1 : n);
    }
}

void text_sink::write_head() {
    head_written_ = true;
    const std::string_view name = open_ ? family_name(family_) : family_.name;
    const auto line = [&](std::string_view keyword, std::string_view words) {
        ((((*out_ += "# ") += keyword) += ' ') += name) += ' ';
        append_escaped(*out_, words, open_);
        end_line();
    };
    line("HELP", family_.help);
    line("TYPE", to_string(family_.type));
    if (const std::string_view unit = unit_of(name); open_ && !unit.empty()) line("UNIT", unit);
}

void text_sink::begin_line(std::string_view suffix, std::string_view label, std::string_view label_value) {
    if (!head_written_) write_head();
    (*out_ += family_.name) += suffix;
    if (!labels_.empty() || !label.empty()) {
        (*out_ += '{') += labels_;
        if (!label.empty()) {
            if (!labels_.empty()) *out_ += ',';
            (*out_ += label) += "=\"";
            append_escaped(*out_, label_value, true);
            *out_ += '"';
        }
        *out_ += '}';
    }
    *out_ += ' ';
}

void text_sink::histogram(const duration_histogram& h) {
    std::uint64_t n = 0;
    for (std::size_t i = 0; i < h.buckets; ++i) {
        n += h.count(i);
        begin_line("_bucket", "le", i < h.bounds ? bound_of(h, i) : "+Inf");
        append_number(*out_, n);
        end_line();
    }
    begin_line("_sum", {}, {});
    append_number(*out_, h.sum_seconds());
    end_line();
    begin_line("_count", {}, {});
    append_number(*out_, h.total());
    end_line();
}

void json_sink::begin_value(std::string_view label, std::string_view label_value) {
    if (label.empty()) return to_.key(name_);
    if (!open_) {
        to_.key(name_);
        to_.open('{');
        open_ = true;
    }
    to_.key(label_value);
}

void json_sink::number(std::string_view label, std::string_view label_value, std::uint64_t v) {
    begin_value(label, label_value);
    to_.raw(std::to_string(v));
}

void json_sink::number(std::string_view label, std::string_view label_value, double v) {
    begin_value(label, label_value);
    if (!std::isfinite(v)) return to_.raw("null"); // JSON has no other number for it
    std::string digits;
    append_number(digits, v);
    to_.raw(digits);
}

void json_sink::histogram(const duration_histogram& h) {
    to_.key(name_);
    to_.open('{');
    to_.number("count", h.total());
    std::string seconds;
    append_number(seconds, h.sum_seconds());
    to_.key("sum");
    to_.raw(seconds);
    to_.key("buckets");
    to_.open('[');
    std::uint64_t n = 0;
    for (std::size_t i = 0; i < h.bounds; ++i) {
        n += h.count(i);
        to_.open('{');
        to_.key("le");
        to_.raw(bound_of(h, i));
        to_.number("count", n);
        to_.close('}');
    }
    to_.close(']');
    to_.close('}');
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
