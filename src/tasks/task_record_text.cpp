// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The words of the enumerations appear here again, because files contain these. The words elsewhere are for people and
// may change.
#include "../detail/text_fields.hpp"

#include <cogwheel/tasks/task_record_text.hpp>

#include <array>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

using detail::field_reader;
using detail::field_writer;
using detail::refuse_field;
using std::chrono::nanoseconds;
using wall_point = task_trigger::wall_point;

namespace {

using namespace std::string_view_literals;

constexpr std::array kinds{"once"sv, "date"sv, "periodic"sv, "cron"sv};
constexpr std::array policies{"vixie"sv, "skip"sv, "follow_clock"sv};
constexpr std::array misfires{"fire_once"sv, "skip"sv, "catch_up"sv};
constexpr std::array overlaps{"forbid"sv, "allow"sv, "replace"sv};

static_assert(static_cast<int>(task_trigger::kind::cron) == 3 && static_cast<int>(dst_policy::follow_clock) == 2);
static_assert(static_cast<int>(task_misfire::kind::catch_up) == 2 && static_cast<int>(task_overlap::replace) == 2);

task_trigger trigger_from(field_reader& fields) {
    const auto kind = fields.word<task_trigger::kind>("trigger", kinds);
    const nanoseconds first(fields.number("first delay"));
    const nanoseconds period(fields.number("period"));
    const std::int64_t runs = fields.number("runs");
    const std::string expression = fields.text("cron expression");
    const std::string zone = fields.text("time zone");
    const auto policy = fields.word<dst_policy>("dst policy", policies);

    task_trigger t;
    if (kind == task_trigger::kind::date) t = task_trigger::at(wall_point(first));
    if (kind == task_trigger::kind::periodic) t = task_trigger::every(period);
    // UTC must not need the tz database, which may not be installed.
    if (kind == task_trigger::kind::cron)
        t = task_trigger::cron(expression, zone == zone_info().name() ? zone_info() : zone_info(zone), policy);
    if (t.period() != period)
        refuse_field("period", std::to_string(period.count()), "0, as it is not a periodic trigger's");
    return t.first_after(first).times(runs);
}

task_misfire misfire_from(field_reader& fields) {
    const auto kind = fields.word<task_misfire::kind>("misfire", misfires);
    const auto most = fields.number<std::uint32_t>("most");
    const task_misfire policy = kind == task_misfire::kind::fire_once ? task_misfire::fire_once()
                                : kind == task_misfire::kind::skip    ? task_misfire::skip()
                                                                      : task_misfire::catch_up(most);
    if (policy.most() != most) refuse_field("most", std::to_string(most), std::to_string(policy.most()));
    return policy;
}

} // namespace

std::string to_text(const task_record& record) {
    const cogwheel::task& task = record.task;
    const bool cron = task.when.what() == task_trigger::kind::cron;
    field_writer fields;
    fields.text(task.name);
    fields.text(task.job);
    fields.text(task.body);
    fields.word(task.when.what(), kinds);
    fields.number(task.when.first_delay().count());
    fields.number(task.when.period().count());
    fields.number(task.when.runs());
    fields.text(task.when.expression());
    fields.text(cron ? task.when.schedule().zone().name() : std::string());
    fields.word(cron ? task.when.schedule().policy() : dst_policy{}, policies);
    fields.word(task.misfire.what(), misfires);
    fields.number(task.misfire.most());
    fields.word(task.overlap, overlaps);
    fields.number(record.runs_left);
    fields.point(record.next);
    fields.number(static_cast<std::int64_t>(record.runs.size()));
    for (const task_run_record& run : record.runs) {
        fields.point(run.scheduled);
        fields.number(run.attempt);
        fields.point(run.retry_at);
    }
    // Later fields, which only tasks that need them have: an earlier version reads all others.
    const bool traced = !task.traceparent.empty();
    const bool limited = task.most_at_once != cogwheel::task().most_at_once;
    if (traced || record.paused || limited || task.when.jitter() != nanoseconds::zero() || task.when.until() ||
        !record.result.empty()) {
        fields.number(record.paused ? 1 : 0);
        fields.number(task.most_at_once);
        fields.number(task.when.jitter().count());
        fields.point(task.when.until());
        fields.text(record.result);
    }
    if (traced) fields.text(task.traceparent);
    return fields.take();
}

task_record task_record_from(std::string_view text) {
    field_reader fields(text);
    task_record record;
    record.task.name = fields.text("name");
    record.task.job = fields.text("job");
    record.task.body = fields.text("body");
    record.task.when = trigger_from(fields);
    record.task.misfire = misfire_from(fields);
    record.task.overlap = fields.word<task_overlap>("overlap", overlaps);
    record.runs_left = fields.number("runs left");
    record.next = fields.point("next");
    for (auto n = fields.number<std::uint64_t>("number of runs"); n > 0; --n) {
        task_run_record& run = record.runs.emplace_back();
        run.scheduled = wall_point(nanoseconds(fields.number("scheduled")));
        run.attempt = fields.number<std::uint32_t>("attempt");
        run.retry_at = fields.point("retry at");
    }
    if (fields.more()) {
        record.paused = fields.number<std::uint8_t>("paused") != 0;
        record.task.most_at_once = fields.number<std::uint32_t>("most at once");
        record.task.when = record.task.when.jitter(nanoseconds(fields.number("jitter")));
        if (const auto until = fields.point("until")) record.task.when = record.task.when.until(*until);
        record.result = fields.text("result");
    }
    if (fields.more()) record.task.traceparent = fields.text("traceparent");
    fields.end();
    return record;
}

std::string task_name_from(std::string_view text) { return field_reader(text).text("name"); }

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
