// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A task record as text: every field reads back, whatever is in it; the text is the one that files have; and faults are
// named.
#include "src/detail/text_fields.hpp"
#include "support/refusal.hpp"
#include "support/tasks/journal_rig.hpp"

#include <cogwheel/tasks/task_record_text.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

bool record_reads_back(const task_record& record) {
    const std::string text = to_text(record);
    INFO(text);
    const task_record back = task_record_from(text);
    CHECK(to_text(back) == text);
    CHECK(task_name_from(text) == record.task.name);
    return same_record(record, back);
}

bool record_trigger_reads_back(const task_trigger& when) {
    task_record record = record_of("name", "body");
    record.task.when = when;
    return record_reads_back(record);
}

// A good text, one field of which is another.
std::string record_text_with(std::size_t field, const std::string& other) {
    task_record record = record_of("name", "body");
    record.runs.emplace_back();
    std::string text = to_text(record);
    std::size_t from = 0;
    for (; field > 0; --field) from = text.find('\t', from) + 1;
    text.replace(from, std::min(text.find('\t', from), text.size()) - from, other);
    return text;
}

std::string record_fault(const std::string& text) {
    return refusal_of([&] { task_record_from(text); });
}

} // namespace

TEST_CASE("record_text_is_the_one_that_is_in_files") {
    task_record record = record_of("night\tly", "a\nb\\c");
    CHECK(to_text(record) == "night\\tly\t\ta\\nb\\\\c\tonce\t0\t0\t1\t\t\tvixie\tfire_once\t1\tforbid\t0\t-\t0");
    record.task.job = "report";
    record.task.when =
        task_trigger::cron("0 7 * * MON-FRI", cogwheel::zone_info("Europe/Berlin"), dst_policy::follow_clock)
            .times(9)
            .first_after(1s);
    record.task.misfire = task_misfire::catch_up(3);
    record.task.overlap = task_overlap::replace;
    record.runs_left = 7;
    record.next = task_trigger::wall_point(-5ns);
    record.runs = {{task_trigger::wall_point(1us), 2, task_trigger::wall_point(2us)},
                   {task_trigger::wall_point(3us), 0, {}}};
    CHECK(to_text(record) == "night\\tly\treport\ta\\nb\\\\c\tcron\t1000000000\t0\t9\t0 7 * * MON-FRI\tEurope/Berlin\t"
                             "follow_clock\tcatch_up\t3\treplace\t7\t-5\t2\t1000\t2\t2000\t3000\t0\t-");
    CHECK(record_reads_back(record));
}

TEST_CASE("record_text_of_each_trigger_reads_back") {
    CHECK(record_trigger_reads_back({}));
    CHECK(record_trigger_reads_back(task_trigger::once(3s)));
    CHECK(record_trigger_reads_back(task_trigger::at(task_trigger::wall_point(1'700'000'000s))));
    CHECK(record_trigger_reads_back(task_trigger::every(10s)));
    CHECK(record_trigger_reads_back(task_trigger::every(10s).first_after(0s).times(6)));
    CHECK(record_trigger_reads_back(
        task_trigger::every(std::chrono::hours::max()).first_after(std::chrono::hours::min())));
    CHECK(record_trigger_reads_back(task_trigger::cron("@daily")));
    CHECK(record_trigger_reads_back(
        task_trigger::cron("0\t0 L * *", cogwheel::zone_info("Asia/Tokyo"), dst_policy::skip).times(2)));
}

TEST_CASE("record_text_keeps_every_byte_and_shows_no_control_character") {
    std::string bytes;
    for (int b = 0; b < 256; ++b) bytes += static_cast<char>(b);
    task_record record = record_of(bytes, bytes + bytes);
    record.task.job = "\\t\\x00" + bytes + "\\";
    CHECK(record_reads_back(record));
    for (const char c : to_text(record)) {
        const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
        CHECK((!control || c == '\t'));
    }
    CHECK(record_reads_back(record_of("", "")));
    CHECK(record_reads_back(record_of("-", "-")));
}

TEST_CASE("record_text_of_random_records_reads_back") {
    for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
        INFO("seed " << seed);
        random_source random(seed);
        REQUIRE(record_reads_back(random_record(random, random_bytes(random, 12))));
    }
}

TEST_CASE("record_text_faults_name_the_field") {
    CHECK(record_fault(record_text_with(0, "fine")) == "");
    CHECK(says(record_fault(record_text_with(0, "a\\q")), "must be followed by \\, t, n, r, 0 or x"));
    CHECK(says(record_fault(record_text_with(1, "a\\")), "must be followed by"));
    CHECK(says(record_fault(record_text_with(2, "\\x1")), "must be followed by"));
    CHECK(says(record_fault(record_text_with(2, "\\x1G")), "must be followed by"));
    CHECK(says(record_fault(record_text_with(3, "monthly")),
               "trigger is 'monthly', but must be once, date, periodic or cron"));
    CHECK(says(record_fault(record_text_with(4, "1s")), "first delay is '1s', but must be an integer from -9223"));
    CHECK(says(record_fault(record_text_with(4, "")), "first delay is ''"));
    CHECK(says(record_fault(record_text_with(4, "9223372036854775808")), "first delay is '9223372036854775808'"));
    CHECK(says(record_fault(record_text_with(5, "5")), "period is '5', but must be 0"));
    CHECK(says(record_fault(record_text_with(6, "-")), "runs is '-'"));
    CHECK(says(record_fault(record_text_with(9, "")), "dst policy is ''"));
    CHECK(says(record_fault(record_text_with(10, "never")), "misfire is 'never'"));
    CHECK(says(record_fault(record_text_with(11, "4294967296")), "most is '4294967296'"));
    CHECK(says(record_fault(record_text_with(11, "2")), "most is '2', but must be 1"));
    CHECK(says(record_fault(record_text_with(12, "maybe")), "overlap is 'maybe'"));
    CHECK(says(record_fault(record_text_with(13, "0x1")), "runs left is '0x1'"));
    CHECK(says(record_fault(record_text_with(14, "soon")), "next is 'soon'"));
    CHECK(says(record_fault(record_text_with(15, "-1")), "number of runs is '-1'"));
    CHECK(says(record_fault(record_text_with(15, "2")), "scheduled and what follows it are missing"));
    CHECK(says(record_fault(record_text_with(15, "18446744073709551615")), "are missing"));
    CHECK(!record_fault(record_text_with(15, "0")).empty()); // takes a run for later fields
    CHECK(says(record_fault(record_text_with(16, "-")), "scheduled is '-'"));
    CHECK(says(record_fault(record_text_with(17, "-1")), "attempt is '-1'"));
    CHECK(says(record_fault(record_text_with(18, "")), "retry at is ''"));
    CHECK(says(record_fault(""), "job and what follows it are missing"));
}

TEST_CASE("record_text_with_an_unknown_zone_or_expression_is_refused_and_has_its_name") {
    task_record record = record_of("far\taway", "");
    record.task.when = task_trigger::cron("@daily", cogwheel::zone_info("Europe/Berlin"));
    std::string text = to_text(record);
    text.replace(text.find("Europe/Berlin"), 13, "Atlantis/Port");
    CHECK(says(record_fault(text), "'Atlantis/Port' is unknown"));
    CHECK(task_name_from(text) == "far\taway");
    text.replace(text.find("@daily"), 6, "@tidal");
    CHECK(!record_fault(text).empty());
}

TEST_CASE("record_text_of_later_fields_reads_back_and_others_have_none") {
    task_record record = record_of("name", "body");
    const std::string plain = to_text(record);
    record.paused = true;
    CHECK(record_reads_back(record));
    CHECK(to_text(record) == plain + "\t1\t4294967295\t0\t-\t");
    CHECK(task_record_from(to_text(record)).paused);
    record.paused = false;
    record.task.most_at_once = 3;
    CHECK(record_reads_back(record));
    CHECK(task_record_from(to_text(record)).task.most_at_once == 3);
    CHECK(record_trigger_reads_back(task_trigger::every(10s).jitter(2s)));
    CHECK(record_trigger_reads_back(task_trigger::cron("@daily").until(std::chrono::sys_seconds(99s))));
    CHECK(task_record_from(plain + "\t0\t7\t5\t1000000000\tdone").task.when.until() == std::chrono::sys_seconds(1s));
    CHECK(!record_fault(plain + "\t1").empty());
    record.task.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    CHECK(record_reads_back(record));
    CHECK(to_text(record).ends_with("\t00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"));
    record = record_of("name", "body");
    record.task.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    CHECK(record_reads_back(record));
    CHECK(says(record_fault(plain + "\t0\t7\t5\t-\t\ttrace\tmore"), "more fields than this version knows"));
}
