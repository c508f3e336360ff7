// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The page and its events: the answer to each request, and that each number is that of the wheel. A browser shows them
// in page_test.py.
#include "support/observe/busy_wheel.hpp"
#include "support/refusal.hpp"

#include <cogwheel/asio/hierarchical_timer_wheel.hpp>
#include <cogwheel/observe/debug_page.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

std::string event_of(const debug_page& page) {
    std::string out;
    auto update = page.update();
    while (update.next(out)) {
    }
    return out;
}

bool has(const std::string& text, const std::string& piece) { return text.find(piece) != text.npos; }

// "name":value
std::string member(std::string name, const std::string& value) { return '"' + std::move(name) + "\":" + value; }
std::string member(std::string name, std::uint64_t value) { return member(std::move(name), std::to_string(value)); }

} // namespace

TEST_CASE("page_event_has_the_counts_of_the_snapshot") {
    busy_wheel w;
    debug_page page;
    page.add("a", w.wheel);
    const std::string event = event_of(page);
    const wheel_snapshot s = w.wheel.snapshot();
    CHECK(event.starts_with("data: {"));
    CHECK(event.ends_with("]}\n\n"));
    CHECK(event.find('\n') == event.size() - 2); // one line of data
    CHECK(has(event, member("name", "\"a\"")));
    CHECK(has(event, member("pending", s.pending)));
    CHECK(has(event, member("scheduled", s.scheduled)));
    CHECK(has(event, member("fired", s.fired)));
    CHECK(has(event, member("cancelled", s.cancelled)));
    CHECK(has(event, member("rejected", 1)));
    CHECK(has(event, member("turns", s.turns)));
    CHECK(has(event, member("exhausted_turns", s.exhausted_turns)));
    CHECK(has(event, member("entries", s.entries)));
    CHECK(has(event, member("next_due", std::to_string(s.next_due->count()))));
    CHECK(has(event, member("late_max", std::to_string(s.lateness.max.count()))));
    CHECK(has(event, member("took", std::to_string(s.longest[0].took.count()))));
    CHECK(has(event, member("slots", s.levels[0].slots)));
    CHECK(has(event, member("hand", s.levels[0].hand)));
    const timer_counts& callables = s.of(timer_kind::callable);
    CHECK(
        has(event, member("callable", '[' + std::to_string(callables.pending()) + ',' +
                                          std::to_string(callables.scheduled) + ',' + std::to_string(callables.fired) +
                                          ',' + std::to_string(callables.cancelled) + ']')));
    CHECK_FALSE(has(event, "handlers")); // its type has no observer
}

TEST_CASE("page_event_ring_has_at_most_its_number_of_groups") {
    virtual_wheel w({.tick = 1ms, .slots = 65'536});
    w.wheel.schedule(1ms, [] {});
    debug_page page;
    page.add("a", w.wheel);
    const std::string event = event_of(page);
    const auto begin = event.find("\"groups\":[");
    REQUIRE(begin != event.npos);
    const auto end = event.find(']', begin);
    const auto commas = std::count(event.begin() + static_cast<std::ptrdiff_t>(begin),
                                   event.begin() + static_cast<std::ptrdiff_t>(end), ',');
    CHECK(static_cast<std::size_t>(commas) + 1 == debug_page::most_groups);
    w.wheel.stop();
    w.run();
}

TEST_CASE("page_event_of_a_wheel_that_is_idle_has_no_next_due") {
    virtual_wheel w;
    debug_page page;
    page.add("a", w.wheel);
    CHECK_FALSE(has(event_of(page), "next_due"));
}

TEST_CASE("page_event_with_the_observer_names_the_handlers") {
    asio::io_context io;
    basic_timer_wheel<manual_clock, multi_threaded, observed_wheel<hashed_wheel, handler_times>> wheel{io};
    struct named_handler {
        void operator()() const {}
    };
    wheel.schedule(10ms, named_handler());
    pass(io, 10ms);
    debug_page page;
    page.add("a", wheel);
    const std::string event = event_of(page);
    CHECK(has(event, "named_handler"));
    CHECK(has(event, member("calls", 1)));
}

TEST_CASE("page_event_of_a_board_has_the_counts_of_the_board") {
    asio::io_context io;
    manual_local_timer_wheel wheel{io};
    wheel.schedule(10ms, [] {});
    debug_page page;
    page.add("local", wheel.publish());
    const std::string event = event_of(page);
    CHECK(has(event, member("pending", 1)));
    CHECK(has(event, member("groups", "[]")));
    CHECK_FALSE(has(event, "idle"));
}

TEST_CASE("page_event_of_several_wheels_in_order_each_with_all_levels") {
    asio::io_context io;
    testing::manual_timer_wheel first{io};
    basic_timer_wheel<manual_clock, multi_threaded, hierarchical_wheel> second{io};
    debug_page page;
    page.add("first \"one\"", first);
    page.add("second", second);
    const std::string event = event_of(page);
    CHECK(event.find("first \\\"one\\\"") < event.find("\"second\""));
    const auto levels = [](const std::string& text) {
        std::size_t n = 0;
        for (auto at = text.find("\"cascades\""); at != text.npos; at = text.find("\"cascades\"", at + 1)) ++n;
        return n;
    };
    CHECK(levels(event) == first.snapshot().levels.size() + second.snapshot().levels.size());
}

TEST_CASE("page_name_that_is_taken_is_refused") {
    virtual_wheel w;
    debug_page page;
    page.add("a", w.wheel);
    CHECK(refusal_of([&] { page.add("a", w.wheel); }) ==
          "cogwheel: the page has a wheel 'a' already; choose another name, or remove() it first");
    CHECK(page.remove("a"));
    CHECK_FALSE(page.remove("a"));
    page.add("a", w.wheel);
}

TEST_CASE("page_wheel_removed_during_an_update_is_left_out") {
    auto w = std::make_unique<virtual_wheel>();
    virtual_wheel other;
    debug_page page;
    page.add("gone", w->wheel);
    page.add("stays", other.wheel);
    std::string event;
    auto update = page.update();
    page.remove("gone");
    w.reset();
    while (update.next(event)) {
    }
    CHECK_FALSE(has(event, "gone"));
    CHECK(has(event, "stays"));
}

TEST_CASE("page_without_a_wheel_sends_an_empty_list") { CHECK(has(event_of(debug_page()), "\"wheels\":[]}\n\n")); }

TEST_CASE("page_answers_its_two_paths_to_get_only") {
    for (const char* path : {"", "/", "/?a=b"}) {
        const page_answer a = debug_page::answer("GET", path);
        CHECK(a.status == 200);
        CHECK_FALSE(a.events);
        CHECK(a.body.starts_with("<!DOCTYPE html>"));
        CHECK(a.body.ends_with("</html>\n"));
    }
    const page_answer stream = debug_page::answer("GET", "/events");
    CHECK(stream.status == 200);
    CHECK(stream.events);
    CHECK(debug_page::answer("GET", "/other").status == 404);
    CHECK(debug_page::answer("GET", "/events/").status == 404);
    const page_answer post = debug_page::answer("POST", "/");
    CHECK(post.status == 405);
    CHECK(has(post.head(), "\r\nAllow: GET\r\n"));
}

TEST_CASE("page_head_has_a_length_unless_it_is_a_stream") {
    const page_answer page = debug_page::answer("GET", "/");
    CHECK(page.head().starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(page.head().ends_with("\r\n\r\n"));
    CHECK(has(page.head(), "\r\nContent-Length: " + std::to_string(page.body.size()) + "\r\n"));
    CHECK_FALSE(has(debug_page::answer("GET", "/events").head(), "Content-Length"));
}

// It must work on a machine without access to any network.
TEST_CASE("page_refers_to_nothing_outside") {
    const std::string page(debug_page::answer("GET", "/").body);
    for (const char* outside : {"http:", "https:", "src=", "@import", "url("}) CHECK_FALSE(has(page, outside));
}
