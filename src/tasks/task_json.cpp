// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Writes tasks as JSON.
#include <cogwheel/detail/visible_text.hpp>
#include <cogwheel/tasks/detail/task_words.hpp>
#include <cogwheel/tasks/task_info.hpp>

#include <array>
#include <cstdio>
#include <span>

namespace cogwheel::inline v0 {

namespace {

class json_writer {
public:
    void open(char bracket) {
        separate();
        out_ += bracket;
        first_ = true;
    }
    void close(char bracket) {
        out_ += bracket;
        first_ = false;
    }
    void key(std::string_view name) {
        string(name);
        out_ += ':';
        first_ = true; // no comma before its value
    }
    void raw(std::string_view value) {
        separate();
        out_ += value;
    }
    void string(std::string_view text) {
        separate();
        out_ += '"';
        while (!text.empty()) {
            const std::size_t n = detail::utf8_length(text);
            const auto c = static_cast<unsigned char>(text[0]);
            if (n == 0) {
                out_ += "\\ufffd";
            } else if (c < 0x20) {
                std::array<char, 8> code{};
                std::snprintf(code.data(), code.size(), "\\u%04x", unsigned{c});
                out_ += code.data();
            } else {
                if (c == '"' || c == '\\') out_ += '\\';
                out_ += text.substr(0, n);
            }
            text.remove_prefix(n == 0 ? 1 : n);
        }
        out_ += '"';
    }
    template <class T>
    void number(std::string_view name, T value) {
        key(name);
        raw(std::to_string(value));
    }
    void text(std::string_view name, std::string_view value) {
        key(name);
        string(value);
    }
    std::string take() { return std::move(out_); }

private:
    void separate() {
        if (!first_) out_ += ',';
        first_ = false;
    }

    std::string out_;
    bool first_ = true;
};

void write(json_writer& json, const task_attempt& a) {
    json.open('{');
    json.text("scheduled", detail::date_text(a.scheduled));
    json.text("started", detail::date_text(a.started));
    json.text("ended", detail::date_text(a.ended));
    json.number("attempt", a.attempt);
    json.text("state", to_string(a.state));
    json.text("message", a.message);
    json.close('}');
}

void write(json_writer& json, const task_info& t) {
    json.open('{');
    json.text("name", t.name);
    json.text("job", t.job);
    json.text("when", t.when);
    json.text("state", to_string(t.state));
    json.key("next");
    t.next ? json.string(detail::date_text(*t.next)) : json.raw("null");
    json.key("runs_left");
    json.raw(t.runs_left == forever ? "null" : std::to_string(t.runs_left));
    json.number("attempt", t.attempt);
    json.number("completed", t.completed);
    json.number("failed", t.failed);
    json.number("cancelled", t.cancelled);
    json.number("missed", t.missed);
    json.number("dropped", t.dropped);
    json.text("message", t.message);
    json.key("history");
    json.open('[');
    for (const task_attempt& a : t.history) write(json, a);
    json.close(']');
    json.close('}');
}

} // namespace

std::string to_json(std::span<const task_info> tasks) {
    json_writer json;
    json.open('[');
    for (const task_info& t : tasks) write(json, t);
    json.close(']');
    return json.take();
}

} // namespace cogwheel::inline v0
