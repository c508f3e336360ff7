// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The part of a stored task that only the library reads comes back as it was; damage is noticed.
#include "src/durable/task_envelope.hpp"
#include "support/constant_names.hpp"

#include <cogwheel/durable/durable_worker.hpp>
#include <cogwheel/durable/http_callback.hpp>

#include <doctest/doctest.h>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;
using detail::decode_envelope;
using detail::encode;

namespace {

constexpr auto a_trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

durable_task recurring_one() {
    durable_task t{.id = "r", .when = task_trigger::cron("0 7 * * MON-FRI").times(9), .body = "body"};
    t.misfire = task_misfire::catch_up(3);
    t.traceparent = a_trace;
    return t;
}

} // namespace

TEST_CASE("envelope_of_a_plain_task_adds_one_byte") {
    const std::string body("a\0b", 3);
    const std::string text = encode({.id = "x", .body = body}, std::nullopt);
    CHECK(text.size() == body.size() + 1);
    const auto back = decode_envelope(text);
    REQUIRE(back);
    CHECK(back->body == body);
    CHECK(back->traceparent.empty());
    CHECK(!back->recurring);
}

TEST_CASE("envelope_of_a_recurring_task_keeps_trigger_policy_and_trace") {
    const auto back = decode_envelope(encode(recurring_one(), 5s));
    REQUIRE(back);
    CHECK(back->body == "body");
    CHECK(back->traceparent == a_trace);
    REQUIRE(back->recurring);
    CHECK(back->recurring->first == 5s);
    CHECK(back->recurring->misfire == task_misfire::catch_up(3));
    CHECK(back->recurring->trigger.text() == recurring_one().when.text());
}

TEST_CASE("envelope_that_is_cut_or_of_another_version_is_refused") {
    const std::string text = encode(recurring_one(), 5s);
    const std::size_t head = text.size() - 4; // the body may have any length
    for (std::size_t n = 0; n < head; ++n) CHECK_MESSAGE(!decode_envelope(text.substr(0, n)), n);
    CHECK(decode_envelope(text.substr(0, head)));
    for (int head_byte = 0; head_byte < 256; ++head_byte) {
        std::string other = encode({.id = "x", .body = "b"}, std::nullopt);
        other[0] = static_cast<char>(head_byte);
        CHECK(decode_envelope(other).has_value() == (head_byte == 0x10));
    }
}

TEST_CASE("envelope_with_an_unknown_time_zone_is_refused") {
    std::string text = encode(recurring_one(), 5s);
    const auto zone = text.find("UTC");
    REQUIRE(zone != text.npos);
    text.replace(zone, 3, "Utz");
    CHECK(!decode_envelope(text));
}

TEST_CASE("durable_task_beyond_its_limits_is_refused_by_field") {
    const auto refusal = [](auto change) {
        durable_task t{.id = "x"};
        change(t);
        return t.check();
    };
    CHECK(!refusal([](durable_task&) {}));
    CHECK(refusal([](durable_task& t) { t.id.clear(); }) == durable_errc::bad_id);
    CHECK(!refusal([](durable_task& t) { t.id.assign(durable_task::max_id, 'x'); }));
    CHECK(refusal([](durable_task& t) { t.id.assign(durable_task::max_id + 1, 'x'); }) == durable_errc::bad_id);
    for (const task_trigger& when : {task_trigger::every(1min), task_trigger::cron("0 7 * * *")}) {
        const auto of = [&](std::size_t size) {
            return refusal([&](durable_task& t) {
                t.id.assign(size, 'x');
                t.when = when;
            });
        };
        CHECK(!of(durable_task::max_recurring_id));
        CHECK(of(durable_task::max_recurring_id + 1) == durable_errc::bad_id);
    }
    // The id of its last occurrence is one that a callback takes.
    CHECK(durable_task::max_recurring_id + 1 +
              std::to_string(
                  std::chrono::floor<std::chrono::milliseconds>(durable_task::max_date.time_since_epoch()).count())
                  .size() ==
          callback_delivery::max_id);
    CHECK(!refusal([](durable_task& t) { t.body.assign(durable_task::max_body, 'x'); }));
    CHECK(refusal([](durable_task& t) { t.body.assign(durable_task::max_body + 1, 'x'); }) == durable_errc::bad_body);
    CHECK(refusal([](durable_task& t) { t.max_attempts = 0; }) == durable_errc::bad_attempts);
    CHECK(refusal([](durable_task& t) { t.max_attempts = 65'536; }) == durable_errc::bad_attempts);
    CHECK(!refusal([](durable_task& t) { t.traceparent = a_trace; }));
    CHECK(refusal([](durable_task& t) { t.traceparent = "00-4BF9"; }) == durable_errc::bad_trace);
    CHECK(refusal([](durable_task& t) {
              t.traceparent = a_trace;
              t.traceparent[0] = t.traceparent[1] = 'f';
          }) == durable_errc::bad_trace);
    CHECK(refusal([](durable_task& t) { t.when = task_trigger::at(task_trigger::wall_point::max()); }) ==
          durable_errc::bad_due);
    CHECK(!refusal([](durable_task& t) { t.when = task_trigger::at(durable_task::max_date); }));
    CHECK(refusal([](durable_task& t) { t.when = task_trigger::once(std::chrono::nanoseconds::max()); }) ==
          durable_errc::bad_due);
    CHECK(!refusal([](durable_task& t) { t.when = task_trigger::once(durable_task::max_delay); }));
    CHECK(!refusal([](durable_task& t) { t.when = task_trigger::once(-5s); }));
    CHECK(refusal([](durable_task& t) { t.when = task_trigger::every(999us); }) == task_errc::bad_period);
    CHECK(!refusal([](durable_task& t) { t.when = task_trigger::every(1ms); }));
}

TEST_CASE("durable_constants_have_names") {
    check_names<durable_state>({{durable_state::waiting, "waiting"},
                                {durable_state::running, "running"},
                                {durable_state::done, "done"},
                                {durable_state::dead, "dead"}});
    check_names<durable_outcome::kind>({{durable_outcome::kind::done, "done"},
                                        {durable_outcome::kind::retry, "retry"},
                                        {durable_outcome::kind::fail, "fail"},
                                        {durable_outcome::kind::back, "back"}});
    check_names<durable_durability::kind>({{durable_durability::kind::memory, "memory"},
                                           {durable_durability::kind::aof, "aof"},
                                           {durable_durability::kind::replicas, "replicas"}});
    check_names<durable_event::kind>({{durable_event::kind::done, "done"},
                                      {durable_event::kind::retry, "retry"},
                                      {durable_event::kind::dead, "dead"},
                                      {durable_event::kind::stale, "stale"},
                                      {durable_event::kind::lease_lost, "lease lost"},
                                      {durable_event::kind::cancelled, "cancelled"},
                                      {durable_event::kind::answer_lost, "answer lost"},
                                      {durable_event::kind::unreadable, "unreadable"},
                                      {durable_event::kind::given_back, "given back"},
                                      {durable_event::kind::trouble, "trouble"}});
    check_names<callback_outcome>({{callback_outcome::succeeded, "succeeded"},
                                   {callback_outcome::failed_for_good, "failed for good"},
                                   {callback_outcome::try_again, "try again"}});
}
