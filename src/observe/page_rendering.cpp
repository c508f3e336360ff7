// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The names of the members are those that debug_page.html reads. All durations are nanoseconds.
#include "page_rendering.hpp"

#include <algorithm>
#include <chrono>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

constexpr std::size_t most_handlers = 10;

template <class T>
void value(json_writer& json, T v) {
    json.raw(std::to_string(v));
}

template <class Values>
void array(json_writer& json, std::string_view name, const Values& values) {
    json.key(name);
    json.open('[');
    for (const auto& v : values) value(json, v);
    json.close(']');
}

void buckets(json_writer& json, std::string_view name, const duration_histogram& h) {
    json.key(name);
    json.open('[');
    for (std::size_t i = 0; i < h.buckets; ++i) value(json, h.count(i));
    json.close(']');
}

void counts(json_writer& json, const wheel_stats& s) {
    json.number("pending", s.pending);
    json.number("scheduled", s.scheduled);
    json.number("fired", s.fired);
    json.number("cancelled", s.cancelled);
    json.number("rejected", s.rejected);
    json.number("turns", s.turns);
    json.number("wakeups", s.wakeups);
    json.number("empty_wakeups", s.empty_wakeups);
    json.number("exhausted_turns", s.exhausted_turns);
    json.number("largest_turn", s.largest_turn);
    json.number("due", s.due);
    json.number("entries", s.entries);
    json.number("dead_entries", s.dead_entries);
    json.number("bytes", s.bytes);
    if (s.next_due) json.number("next_due", s.next_due->count());
    json.key("kinds");
    json.open('{');
    for (std::size_t k = 0; k < timer_kinds; ++k) {
        const timer_counts& c = s.kinds[k];
        array(json, to_string(static_cast<timer_kind>(k)), std::array{c.pending(), c.scheduled, c.fired, c.cancelled});
    }
    json.close('}');
}

void times(json_writer& json, const wheel_stats& s) {
    json.number("late_p50", s.lateness.p50.count());
    json.number("late_p99", s.lateness.p99.count());
    json.number("late_max", s.lateness.max.count());
    buckets(json, "lateness", s.lateness.histogram);
    buckets(json, "turn_times", s.turn_duration);
    json.key("longest");
    json.open('[');
    for (const long_turn& t : s.longest) {
        if (t.took == std::chrono::nanoseconds::zero()) break;
        json.open('{');
        json.number("took", t.took.count());
        json.number("fired", t.fired);
        json.number("ago", t.ago.count());
        json.close('}');
    }
    json.close(']');
}

void levels(json_writer& json, const wheel_snapshot& s) {
    json.key("levels");
    json.open('[');
    for (const level_stats& l : s.levels) {
        json.open('{');
        json.number("slot", l.slot.count());
        json.number("slots", l.slots);
        json.number("occupied", l.occupied_slots);
        json.number("fullest", l.fullest_slot);
        json.number("entries", l.entries);
        json.number("cascades", l.cascades);
        json.number("hand", l.hand);
        array(json, "groups", l.groups);
        json.close('}');
    }
    json.close(']');
}

void connections(json_writer& json, const page_sample& s) {
    if (s.idle) {
        json.key("idle");
        json.open('{');
        json.number("monitors", s.idle->monitors);
        json.number("events", s.idle->reader + s.idle->writer + s.idle->all);
        json.close('}');
    }
    if (s.requests) {
        json.key("requests");
        json.open('{');
        json.number("in_flight", s.requests->in_flight);
        json.number("answered", s.requests->answered);
        json.number("timed_out", s.requests->timed_out);
        json.number("failed", s.requests->failed);
        json.number("cancelled", s.requests->cancelled);
        json.number("refused", s.requests->refused);
        json.number("late", s.requests->late);
        json.close('}');
    }
}

void handlers(json_writer& json, const std::vector<handler_times::entry>& rows) {
    json.key("handlers");
    json.open('[');
    for (std::size_t i = 0; i < std::min(rows.size(), most_handlers); ++i) {
        json.open('{');
        json.text("what", rows[i].what);
        json.number("calls", rows[i].calls);
        json.number("total", rows[i].total.count());
        json.number("longest", rows[i].longest.count());
        json.close('}');
    }
    json.close(']');
}

} // namespace

// Takes one step of a sample. Returns false after the last one.
bool page_rendering::sample() {
    page_source& source = *sources_[source_];
    const std::lock_guard lock(source.mutex);
    if (source.removed) return present_ = false;
    return source.step(cursor_, sample_);
}

void page_rendering::write_wheel() {
    json_.open('{');
    json_.text("name", sources_[source_]->name);
    counts(json_, sample_.wheel);
    times(json_, sample_.wheel);
    levels(json_, sample_.wheel);
    connections(json_, sample_);
    if (sample_.handlers) handlers(json_, *sample_.handlers);
    json_.close('}');
}

bool page_rendering::next(std::string& out) {
    if (!begun_) {
        begun_ = true;
        constexpr std::size_t bytes_per_wheel = 4096; // an estimate, so that few slices copy the text of earlier slices
        out.reserve(out.size() + bytes_per_wheel * sources_.size());
        out += "data: ";
        json_.open('{');
        json_.number("at", std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
        json_.key("wheels");
        json_.open('[');
    }
    if (source_ == sources_.size()) {
        json_.close(']');
        json_.close('}');
        (out += json_.take()) += "\n\n";
        return false;
    }
    if (sample()) return true;
    if (present_) write_wheel();
    out += json_.take();
    ++source_;
    cursor_ = wheel_cursor(debug_page::most_groups);
    sample_ = {};
    present_ = true;
    return true;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
