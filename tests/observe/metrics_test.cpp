// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The text of metrics, read back: each value is that of the source, the families stand together, names are escaped.
#include "src/observe/metric.hpp"
#include "support/constant_names.hpp"
#include "support/observe/busy_wheel.hpp"
#include "support/observe/metrics_text.hpp"
#include "support/refusal.hpp"
#include "support/threads.hpp"

#include <cogwheel/net/idle_monitor.hpp>
#include <cogwheel/observe/metrics.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <set>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

std::string text_of(const metrics& m, metrics_format format = metrics_format::prometheus) {
    std::string out;
    auto text = m.render(format);
    while (text.next(out)) {
    }
    return out;
}

} // namespace

TEST_CASE("wheel_each_value_is_that_of_its_snapshot") {
    busy_wheel w;
    metrics m;
    m.add("a", w.wheel);
    const read_metrics text(text_of(m));
    const wheel_snapshot s = w.wheel.snapshot();
    const auto value = [&](const std::string& name, const std::string& more = "") {
        return text.value(name + "{wheel=\"a\"" + more + "}");
    };
    const auto number = [](auto n) { return static_cast<double>(n); };
    for (std::size_t k = 0; k < s.kinds.size(); ++k) {
        const std::string kind = ",kind=\"" + std::string(to_string(static_cast<timer_kind>(k))) + '"';
        CAPTURE(kind);
        CHECK(value("cogwheel_timers_pending", kind) == number(s.kinds[k].pending()));
        CHECK(value("cogwheel_timers_scheduled_total", kind) == number(s.kinds[k].scheduled));
        CHECK(value("cogwheel_timers_fired_total", kind) == number(s.kinds[k].fired));
        CHECK(value("cogwheel_timers_cancelled_total", kind) == number(s.kinds[k].cancelled));
    }
    CHECK(s.fired == 3);
    CHECK(s.rejected == 1);
    CHECK(value("cogwheel_timers_rejected_total") == 1);
    CHECK(value("cogwheel_timers_due") == 0);
    CHECK(value("cogwheel_turns_total") == number(s.turns));
    CHECK(value("cogwheel_exhausted_turns_total") == number(s.exhausted_turns));
    CHECK(s.exhausted_turns == 1);
    CHECK(value("cogwheel_wakeups_total") == number(s.wakeups));
    CHECK(value("cogwheel_empty_wakeups_total") == number(s.empty_wakeups));
    CHECK(value("cogwheel_turn_timers_max") == 2);
    CHECK(value("cogwheel_next_due_seconds") == number(s.next_due->count()) / 1e9);
    CHECK(value("cogwheel_entries", ",state=\"live\"") == number(s.pending));
    CHECK(value("cogwheel_entries", ",state=\"dead\"") == number(s.dead_entries));
    CHECK(value("cogwheel_sweeps_total") == 0);
    CHECK(value("cogwheel_memory_bytes") == number(s.bytes));
    CHECK(value("cogwheel_slots", ",level=\"0\"") == 512);
    CHECK(value("cogwheel_slot_seconds", ",level=\"0\"") == 0.01);
    CHECK(value("cogwheel_slots_occupied", ",level=\"0\"") == number(s.levels[0].occupied_slots));
    CHECK(value("cogwheel_slot_entries_max", ",level=\"0\"") == number(s.levels[0].fullest_slot));
    CHECK(value("cogwheel_level_entries", ",level=\"0\"") == number(s.levels[0].entries));
    CHECK(value("cogwheel_timer_lateness_seconds_count") == 3);
    CHECK(value("cogwheel_timer_lateness_seconds_sum") == s.lateness.histogram.sum_seconds());
    CHECK(value("cogwheel_timer_lateness_seconds_bucket", ",le=\"0.0001\"") == number(s.lateness.histogram.at_most(0)));
    CHECK(value("cogwheel_timer_lateness_seconds_bucket", ",le=\"0.0008\"") == number(s.lateness.histogram.at_most(3)));
    CHECK(value("cogwheel_timer_lateness_seconds_bucket", ",le=\"52.4288\"") == 3);
    CHECK(value("cogwheel_timer_lateness_seconds_bucket", ",le=\"+Inf\"") == 3);
    CHECK(value("cogwheel_timer_lateness_max_seconds") == number(s.lateness.max.count()) / 1e9);
    CHECK(value("cogwheel_turn_duration_seconds_count") == number(s.turns));
    CHECK(value("cogwheel_turn_duration_max_seconds") == number(s.turn_duration.max().count()) / 1e9);
    CHECK_FALSE(text.has("cogwheel_timer_take_overs_total{wheel=\"a\"}")); // not counted by such a wheel
}

TEST_CASE("wheel_without_timers_has_no_next_due") {
    virtual_wheel w;
    metrics m;
    m.add("a", w.wheel);
    CHECK(std::isnan(read_metrics(text_of(m)).value("cogwheel_next_due_seconds{wheel=\"a\"}")));
    CHECK(text_of(m, metrics_format::json).find("\"next_due_seconds\":null") != std::string::npos);
}

TEST_CASE("wheel_has_its_idle_monitors_and_requests") {
    virtual_wheel w;
    idle_monitor idle(w.wheel, {.reader = 20ms});
    idle.async_idle([](std::error_code, const idle_event&) {});
    w.pass(20ms);
    metrics m;
    m.add("a", w.wheel);
    const read_metrics text(text_of(m));
    CHECK(text.value("cogwheel_idle_monitors{wheel=\"a\"}") == 1);
    CHECK(text.value("cogwheel_idle_events_total{wheel=\"a\",kind=\"reader\"}") == 1);
    CHECK(text.value("cogwheel_idle_events_total{wheel=\"a\",kind=\"all\"}") == 0);
    CHECK(text.value("cogwheel_wheel_requests_started_total{wheel=\"a\"}") == 0);
}

TEST_CASE("families_stand_together_in_both_formats") {
    virtual_wheel a, b, c;
    metrics m;
    m.add("a", a.wheel);
    m.add("b", b.wheel);
    m.add("c", c.wheel);
    for (const metrics_format format : {metrics_format::prometheus, metrics_format::openmetrics}) {
        const read_metrics text(text_of(m, format));
        CHECK(text.fault == "");
        CHECK(text.has("cogwheel_turns_total{wheel=\"c\"}"));
    }
}

TEST_CASE("all_metrics_are_those_that_are_written") {
    virtual_wheel w;
    circuit_breaker_options options;
    asio::io_context io;
    timer_wheel real{io};
    const circuit_breaker breaker(real, options);
    metrics m;
    m.add("w", w.wheel);
    m.add("b", breaker);
    m.add("r", [] { return request_stats(); });
    m.add("t", [] { return retry_stats(); });
    m.add("u", [] { return retry_budget_stats(); });
    m.add("k", [] {
        task_stats s;
        s.by_level = {1};
        return s;
    });
    const read_metrics text(text_of(m));
    std::set<std::string> described;
    for (const auto& d : detail::all_metrics()) {
        CAPTURE(d.name);
        CHECK(described.insert(std::string(d.name)).second);
        CHECK(d.help.ends_with('.'));
        CHECK((d.type == detail::metric_type::counter) == d.name.ends_with("_total"));
        if (d.name == "cogwheel_timer_take_overs_total") continue;
        REQUIRE(text.families.contains(std::string(d.name)));
        CHECK(text.families.at(std::string(d.name)) == to_string(d.type));
    }
    CHECK(text.families.size() + 1 == described.size());
}

TEST_CASE("openmetrics_ends_and_names_units") {
    virtual_wheel w;
    metrics m;
    m.add("a", w.wheel);
    const std::string text = text_of(m, metrics_format::openmetrics);
    CHECK(text.ends_with("\n# EOF\n"));
    CHECK(text.find("# TYPE cogwheel_turns counter\n") != std::string::npos);
    CHECK(text.find("\ncogwheel_turns_total{wheel=\"a\"} 0\n") != std::string::npos);
    CHECK(text.find("# UNIT cogwheel_timer_lateness_seconds seconds\n") != std::string::npos);
    CHECK(text.find("# UNIT cogwheel_memory_bytes bytes\n") != std::string::npos);
    CHECK(text_of(m).find("# EOF") == std::string::npos);
}

TEST_CASE("labels_and_help_are_escaped") {
    virtual_wheel w;
    metrics m;
    m.add("a \"b\" \\ \n", w.wheel);
    m.gauge("g", "A \"help\" with \\ and\na new line.", [] { return 0.5; }, {{"l", "\"x\"\n"}});
    std::string text = text_of(m);
    CHECK(text.find("{wheel=\"a \\\"b\\\" \\\\ \\n\"}") != std::string::npos);
    CHECK(text.find("# HELP g A \"help\" with \\\\ and\\na new line.\n") != std::string::npos);
    CHECK(text.find("\ng{l=\"\\\"x\\\"\\n\"} 0.5\n") != std::string::npos);
    m.gauge("bytes", "B.", [] { return 0.0; }, {{"l", "\xff ok \xc3"}});
    CHECK(text_of(m).find("bytes{l=\"\xef\xbf\xbd ok \xef\xbf\xbd\"}") != std::string::npos);
    text = text_of(m, metrics_format::openmetrics);
    CHECK(text.find("# HELP g A \\\"help\\\" with \\\\ and\\na new line.\n") != std::string::npos);
}

TEST_CASE("values_of_the_user_form_families") {
    metrics m;
    double kicks = 0;
    m.counter("kicks_total", "Kicks.", [&] { return kicks; }, {{"reason", "idle"}});
    m.counter("kicks_total", "ignored", [] { return 7.0; }, {{"reason", "slow"}});
    m.gauge("plain", "Plain.", [] { return -1e300; });
    kicks = 3;
    const read_metrics text(text_of(m));
    CHECK(text.fault == "");
    CHECK(text.value("kicks_total{reason=\"idle\"}") == 3);
    CHECK(text.value("kicks_total{reason=\"slow\"}") == 7);
    CHECK(text.value("plain") == -1e300);
    CHECK(text_of(m, metrics_format::json) == "{\"values\":{\"kicks_total{reason=\\\"idle\\\"}\":3,\"kicks_total{"
                                              "reason=\\\"slow\\\"}\":7,\"plain\":-1e+300}}");
}

TEST_CASE("names_that_no_format_takes_are_refused") {
    metrics m;
    const auto f = [] { return 0.0; };
    for (const char* bad : {"", "1a", "a-b", "a b", "\xc3\xa9"}) {
        CAPTURE(bad);
        CHECK(says(refusal_of([&] { m.gauge(bad, "", f); }), "must be a name"));
        CHECK(says(refusal_of([&] { m.gauge("ok", "", f, {{bad, ""}}); }), "must be a name"));
    }
    CHECK(says(refusal_of([&] { m.gauge("ok", "", f, {{"a:b", ""}}); }), "'a:b'"));
    CHECK(says(refusal_of([&] { m.gauge("ok", "", f, {{"__a", ""}}); }), "'__a'"));
    CHECK(says(refusal_of([&] { m.counter("kicks", "", f); }), "_total"));
    CHECK(says(refusal_of([&] { m.counter("_total", "", f); }), "_total"));
    CHECK(says(refusal_of([&] { m.gauge("cogwheel_turns", "", f); }), "prefix"));
    CHECK(says(refusal_of([&] { m.gauge("ok", "", {}); }), "empty function"));
    CHECK(says(refusal_of([&] { m.gauge("ok", "", f, {{"a", "1"}, {"b", "2"}, {"a", "3"}}); }), "'a' is there twice"));
    m.gauge("pair", "", f, {{"x", "1"}, {"y", "2"}});
    CHECK(says(refusal_of([&] { m.gauge("pair", "", f, {{"y", "2"}, {"x", "1"}}); }), "already"));
    CHECK(says(refusal_of([&] { m.gauge("pair", "", f, {{"x", "1"}}); }), "same names of labels"));
    m.gauge("pair", "", f, {{"y", "3"}, {"x", "1"}});
    m.counter("once_total", "", f);
    CHECK(says(refusal_of([&] { m.gauge("once", "", f); }), "both")); // OpenMetrics calls both families `once`
    m.counter("a_total", "", f);
    CHECK(says(refusal_of([&] { m.counter("a_total", "", f); }), "already"));
    CHECK(says(refusal_of([&] { m.gauge("a_total", "", f, {{"x", "y"}}); }), "both"));
    virtual_wheel w;
    m.add("a", w.wheel);
    CHECK(says(refusal_of([&] { m.add("a", w.wheel); }), "'a' has been added already"));
    m.add("a", [] { return request_stats(); }); // of another type
    CHECK(text_of(m).find("\nok") == std::string::npos);
}

TEST_CASE("a_board_is_a_source_like_its_wheel") {
    asio::io_context io;
    manual_local_timer_wheel wheel{io};
    wheel.schedule(10ms, [] {});
    metrics m;
    m.add("local", wheel.publish());
    CHECK(read_metrics(text_of(m)).value("cogwheel_timers_pending{wheel=\"local\",kind=\"callable\"}") == 1);
    pass(io, 10ms);
    const read_metrics text(text_of(m));
    CHECK(text.value("cogwheel_timers_fired_total{wheel=\"local\",kind=\"callable\"}") == 1);
    CHECK_FALSE(text.has("cogwheel_idle_monitors{wheel=\"local\"}")); // not on a board
}

TEST_CASE("slices_are_short_however_many_wheels_there_are") {
    asio::io_context io;
    std::vector<std::unique_ptr<testing::manual_timer_wheel>> wheels;
    metrics m;
    for (int i = 0; i < 64; ++i) {
        wheels.push_back(std::make_unique<testing::manual_timer_wheel>(io));
        m.add("wheel " + std::to_string(i), *wheels.back());
    }
    for (const metrics_format format : {metrics_format::prometheus, metrics_format::json}) {
        auto text = m.render(format);
        std::string all, slice;
        for (bool more = true; more; all += slice) {
            slice.clear();
            more = text.next(slice);
            CHECK(std::count(slice.begin(), slice.end(), '\n') <= 250);
            CHECK(slice.size() < 32'000);
        }
        CHECK(all == text_of(m, format));
    }
}

TEST_CASE("remove_ends_a_source_also_while_a_text_is_rendered") {
    metrics m;
    virtual_wheel kept;
    auto gone = std::make_unique<virtual_wheel>();
    int calls = 0;
    m.add("a", gone->wheel);
    m.add("b", kept.wheel);
    m.gauge("g", "G.", [&] { return static_cast<double>(++calls); });
    auto text = m.render();
    CHECK(m.remove("a") == 1);
    CHECK(m.remove("g") == 1);
    CHECK(m.remove("g") == 0);
    gone.reset();
    std::string out;
    while (text.next(out)) {
    }
    CHECK(calls == 0);
    const read_metrics read(out);
    CHECK(read.fault == "");
    CHECK_FALSE(read.has("cogwheel_turns_total{wheel=\"a\"}"));
    CHECK(read.has("cogwheel_turns_total{wheel=\"b\"}"));
    CHECK_FALSE(read.has("g"));
    CHECK(text_of(m, metrics_format::json).find("\"a\"") == std::string::npos);
}

TEST_CASE("end_of_the_metrics_ends_their_sources_too") {
    auto m = std::make_unique<metrics>();
    auto w = std::make_unique<virtual_wheel>();
    m->add("a", w->wheel);
    m->gauge("g", "G.", [] {
        FAIL_CHECK("called after the end");
        return 0.0;
    });
    auto text = m->render();
    m.reset();
    w.reset();
    std::string out;
    while (text.next(out)) {
    }
    CHECK(out == "");
}

TEST_CASE("render_on_several_threads_while_sources_come_and_go") {
    asio::io_context io;
    const runners threads(io, 1);
    timer_wheel wheel{io, {.tick = 1ms}};
    metrics m;
    m.add("kept", wheel);
    std::atomic<int> left = 2;
    on_threads(4, [&](int n) {
        if (n < 2) {
            for (int i = 0; i < 30; ++i) {
                const read_metrics text(text_of(m, n == 0 ? metrics_format::prometheus : metrics_format::openmetrics));
                CHECK(text.fault == "");
                CHECK(text.has("cogwheel_turns_total{wheel=\"kept\"}"));
            }
            --left;
        } else if (n == 2) {
            while (left != 0) {
                timer_wheel other{io};
                m.add("other", other);
                other.schedule(0ms, [] {});
                m.remove("other");
            }
        } else {
            while (left != 0) wheel.schedule(1ms, [] {}).cancel();
        }
    });
}

TEST_CASE("empty_is_a_valid_text_in_each_format") {
    const metrics m;
    CHECK(text_of(m) == "");
    CHECK(text_of(m, metrics_format::openmetrics) == "# EOF\n");
    CHECK(text_of(m, metrics_format::json) == "{}");
}

TEST_CASE("format_for_reads_the_header_accept") {
    CHECK(format_for("") == metrics_format::prometheus);
    CHECK(format_for("*/*") == metrics_format::prometheus);
    CHECK(format_for("application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1") ==
          metrics_format::openmetrics);
    CHECK(format_for("application/json") == metrics_format::json);
    CHECK(format_for("text/html,application/json") == metrics_format::prometheus);
    CHECK(content_type(metrics_format::prometheus) == "text/plain; version=0.0.4; charset=utf-8");
    CHECK(content_type(metrics_format::openmetrics).starts_with("application/openmetrics-text; version=1.0.0"));
    CHECK(content_type(metrics_format::json) == "application/json");
}

TEST_CASE("metrics_constants_have_names") {
    check_names<detail::metric_type>({{detail::metric_type::counter, "counter"},
                                      {detail::metric_type::gauge, "gauge"},
                                      {detail::metric_type::histogram, "histogram"}});
    check_names<metrics_format>({{metrics_format::prometheus, "prometheus"},
                                 {metrics_format::openmetrics, "openmetrics"},
                                 {metrics_format::json, "json"}});
}
