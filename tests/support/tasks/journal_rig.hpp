// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What the tests of task journals share: a directory that goes away, files as strings, and records, at random and side
// by side.
#pragma once

#include "support/random.hpp"

#include <cogwheel/tasks/task_storage.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <system_error>
#include <vector>

namespace cogwheel_tests {

class scratch_directory {
public:
    scratch_directory() {
        std::random_device random;
        do path_ = std::filesystem::temp_directory_path() / ("cogwheel-" + std::to_string(random()));
        while (!std::filesystem::create_directory(path_));
        path_ = std::filesystem::canonical(path_);
    }
    scratch_directory(const scratch_directory&) = delete;
    scratch_directory& operator=(const scratch_directory&) = delete;
    ~scratch_directory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    std::filesystem::path operator/(const char* name) const { return path_ / name; }

private:
    std::filesystem::path path_;
};

inline std::string bytes_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

inline void put_bytes(const std::filesystem::path& file, std::string_view bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline cogwheel::task_record record_of(std::string name, std::string body) {
    cogwheel::task_record record;
    record.task.name = std::move(name);
    record.task.body = std::move(body);
    return record;
}

inline bool same_trigger(const cogwheel::task_trigger& a, const cogwheel::task_trigger& b) {
    if (a.what() != b.what() || a.first_delay() != b.first_delay() || a.period() != b.period() ||
        a.runs() != b.runs() || a.expression() != b.expression() || a.jitter() != b.jitter() || a.until() != b.until())
        return false;
    return a.what() != cogwheel::task_trigger::kind::cron ||
           (a.schedule().expression() == b.schedule().expression() && a.schedule().zone() == b.schedule().zone() &&
            a.schedule().policy() == b.schedule().policy());
}

inline bool same_record(const cogwheel::task_record& a, const cogwheel::task_record& b) {
    return a.task.name == b.task.name && a.task.job == b.task.job && a.task.body == b.task.body &&
           same_trigger(a.task.when, b.task.when) && a.task.misfire == b.task.misfire &&
           a.task.overlap == b.task.overlap && a.runs_left == b.runs_left && a.next == b.next && a.runs == b.runs &&
           a.paused == b.paused && a.result == b.result && a.task.most_at_once == b.task.most_at_once &&
           a.task.traceparent == b.task.traceparent;
}

inline std::string random_bytes(random_source& random, std::size_t most) {
    std::string bytes(random.below(most + 1), '\0');
    for (char& c : bytes) c = static_cast<char>(random.below(256));
    return bytes;
}

/// Extremes as often as any other.
inline std::int64_t random_number(random_source& random) {
    using limits = std::numeric_limits<std::int64_t>;
    static constexpr std::int64_t extremes[] = {limits::min(),     limits::min() + 1, -1, 0, 1,
                                                limits::max() - 1, limits::max()};
    return random.below(2) == 0 ? extremes[random.below(std::size(extremes))] : static_cast<std::int64_t>(random());
}

inline cogwheel::task_trigger random_trigger(random_source& random) {
    using cogwheel::task_trigger;
    static const char* const expressions[] = {"0 7 * * MON-FRI", "@daily", "*/10 30 4 * * *", " 0\t0  29 2 *"};
    static const char* const zones[] = {"UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu"};
    const std::chrono::nanoseconds ns(random_number(random));
    task_trigger t = task_trigger::once(ns);
    switch (random.below(4)) {
    case 0:
        t = task_trigger::at(task_trigger::wall_point(ns));
        break;
    case 1:
        t = task_trigger::every(ns).first_after(std::chrono::nanoseconds(random_number(random)));
        break;
    case 2:
        t = task_trigger::cron(expressions[random.below(4)], cogwheel::zone_info(zones[random.below(4)]),
                               static_cast<cogwheel::dst_policy>(random.below(3)));
        if (random.below(2) == 0) t = t.first_after(ns);
        break;
    default:
        break;
    }
    if (random.below(3) == 0) t = t.jitter(std::chrono::nanoseconds(random_number(random)));
    if (random.below(3) == 0) t = t.until(task_trigger::wall_point(std::chrono::nanoseconds(random_number(random))));
    return random.below(2) == 0 ? t : t.times(random_number(random));
}

inline cogwheel::task_record random_record(random_source& random, std::string name) {
    using cogwheel::task_misfire;
    using wall_point = cogwheel::task_trigger::wall_point;
    const auto point = [&] { return wall_point(std::chrono::nanoseconds(random_number(random))); };
    cogwheel::task_record record = record_of(std::move(name), random_bytes(random, 40));
    record.task.job = random_bytes(random, 10);
    record.task.when = random_trigger(random);
    const task_misfire policies[] = {task_misfire::fire_once(), task_misfire::skip(),
                                     task_misfire::catch_up(static_cast<std::uint32_t>(random()))};
    record.task.misfire = policies[random.below(3)];
    record.task.overlap = static_cast<cogwheel::task_overlap>(random.below(3));
    if (random.below(3) == 0) record.task.most_at_once = static_cast<std::uint32_t>(random());
    if (random.below(3) == 0) record.task.traceparent = random_bytes(random, 60);
    record.paused = random.below(3) == 0;
    if (random.below(3) == 0) record.result = random_bytes(random, 30);
    record.runs_left = random_number(random);
    if (random.below(2) == 0) record.next = point();
    for (auto n = random.below(4); n > 0; --n) {
        auto& run = record.runs.emplace_back();
        run.scheduled = point();
        run.attempt = static_cast<std::uint32_t>(random());
        if (random.below(2) == 0) run.retry_at = point();
    }
    return record;
}

/// Each name with its body.
inline std::map<std::string, std::string> bodies_of(const cogwheel::task_storage::contents& all) {
    std::map<std::string, std::string> bodies;
    for (const auto& record : all.tasks) bodies[record.task.name] = record.task.body;
    return bodies;
}

/// One warning a line, for CAPTURE.
inline std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + '\n';
    return text;
}

} // namespace cogwheel_tests
