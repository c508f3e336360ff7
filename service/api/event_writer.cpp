// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "api/event_writer.hpp"

#include "api/ordered_json.hpp"
#include "api/text_values.hpp"

#include <chrono>

namespace cogwheeld {

namespace {

std::string now() { return date_text(std::chrono::system_clock::now()); }

// Whole microseconds: three digits are enough.
double in_milliseconds(std::chrono::nanoseconds t) {
    return static_cast<double>(std::chrono::floor<std::chrono::microseconds>(t).count()) / 1e3;
}

} // namespace

std::string event_json(const cogwheel::durable_event& e) {
    ordered_json j{{"at", now()}, {"kind", to_string(e.what)}};
    if (!e.id.empty()) j["id"] = e.id;
    if (e.token.attempt != 0) j["attempt"] = e.token.attempt;
    if (e.what == cogwheel::durable_event::kind::done) return text_of(j); // its message is the result
    if (!e.message.empty())
        j["message"] = e.message;
    else if (e.error)
        j["message"] = e.error.message();
    return text_of(j);
}

std::string happened_json(std::string_view kind, std::string_view id) {
    return text_of({{"at", now()}, {"kind", kind}, {"id", id}});
}

std::string result_json(std::string_view id, std::string_view result) {
    return text_of({{"id", id}, {"result", result}});
}

std::string worker_json(std::string_view name, const cogwheel::durable_worker_stats& s) {
    return text_of({{"name", name},
                    {"held", s.held},
                    {"waiting", s.waiting},
                    {"in_flight", s.in_flight},
                    {"begun", s.begun},
                    {"done", s.done},
                    {"retried", s.retried},
                    {"dead", s.dead},
                    {"stale", s.stale},
                    {"troubles", s.troubles},
                    {"late_ms",
                     {{"p50", in_milliseconds(s.lateness.quantile(0.5))},
                      {"p99", in_milliseconds(s.lateness.quantile(0.99))},
                      {"max", in_milliseconds(s.lateness.max())}}}});
}

} // namespace cogwheeld
