// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The file is rewritten now and then: at no more than the cost of what was appended, with nothing lost when that fails, and with lines kept
// that mean nothing here.
#include "support/journal_rig.hpp"
#include "support/refusal.hpp"

#include <cogwheel/schedule/detail/task_record_text.hpp>
#include <cogwheel/schedule/task_journal.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace cogwheel;
using namespace cogwheel_tests;
namespace fs = std::filesystem;

namespace {

// Bytes of a line of record_of(), but for name and body.
constexpr std::uintmax_t journal_bare_line = 58;
constexpr std::uintmax_t journal_first_line = 19;

// Until the file gets smaller; the number of changes, 0 if it does not.
int journal_saves_until_rewritten(task_journal& journal, int most) {
    for (int n = 1; n <= most; ++n) {
        const auto before = fs::file_size(journal.file());
        journal.save(record_of("again", "and again"));
        if (fs::file_size(journal.file()) < before) return n;
    }
    return 0;
}

} // namespace

TEST_CASE("journal_rewriting_costs_no_more_than_what_was_appended") {
    const scratch_directory directory;
    task_journal journal(directory / "tasks", {.compact_above = 500});
    random_source random(1);
    std::uintmax_t appended = fs::file_size(journal.file()), rewritten = 0, size = appended, largest = 0;
    for (int n = 0; n < 2000; ++n) {
        const std::string name = std::to_string(random.below(20));
        const std::string body = std::to_string(n);
        journal.save(record_of(name, body));
        const std::uintmax_t now = fs::file_size(journal.file());
        if (now < size) rewritten += now;
        const std::uintmax_t line = journal_bare_line + name.size() + body.size();
        appended += line;
        CHECK((now < size || now == size + line));
        size = now;
        largest = std::max(largest, size);
    }
    CHECK(rewritten > 0);
    CHECK(rewritten <= appended);
    CHECK(largest <= 2 * (journal_first_line + 20 * (journal_bare_line + 6)) + journal_bare_line +
                         6); // twice what counts, and one line
    CHECK(!fs::exists(directory / "tasks.new"));
}

TEST_CASE("journal_smaller_than_asked_is_not_rewritten") {
    const scratch_directory directory;
    task_journal journal(directory / "tasks", {.compact_above = 5000});
    const int saves = journal_saves_until_rewritten(journal, 1000);
    CHECK(saves == 1 + static_cast<int>((5000 - journal_first_line) / (journal_bare_line + 14)));
}

TEST_CASE("journal_rewriting_that_fails_loses_nothing_and_is_tried_again_when_the_file_is_twice_as_large") {
    const scratch_directory directory;
    const fs::path in_the_way = directory / "tasks.new";
    fs::create_directory(in_the_way);
    task_journal journal(directory / "tasks", {.compact_above = 5000});
    journal.save(record_of("a", "1"));
    CHECK(journal_saves_until_rewritten(journal, 80) == 0);
    CHECK(fs::file_size(journal.file()) > 5000);
    CHECK(fs::is_directory(in_the_way));
    CHECK(bodies_of(journal.load()) == std::map<std::string, std::string>{{"a", "1"}, {"again", "and again"}});
}

TEST_CASE("journal_rewriting_is_put_off_after_a_failure") {
    const scratch_directory directory;
    fs::create_directory(directory / "tasks.new");
    task_journal journal(directory / "tasks", {.compact_above = 5000});
    int n = 0; // a journal that is never rewritten must not fill the disk
    for (; n < 1000 && fs::file_size(journal.file()) <= 5000; ++n) journal.save(record_of("again", "and again"));
    const std::uintmax_t failed_at = fs::file_size(journal.file());
    fs::remove(directory / "tasks.new");
    std::uintmax_t largest = 0;
    for (; n < 1000 && fs::file_size(journal.file()) > largest; ++n) {
        largest = fs::file_size(journal.file());
        journal.save(record_of("again", "and again"));
    }
    CHECK(n < 1000);
    CHECK(largest + journal_bare_line + 14 >= 2 * failed_at);
    CHECK(largest < 2 * failed_at);
    CHECK(bodies_of(journal.load()) == std::map<std::string, std::string>{{"again", "and again"}});
    CHECK(journal_saves_until_rewritten(journal, 80) > 0); // as ever
}

TEST_CASE("journal_left_half_rewritten_is_as_it_was") {
    const scratch_directory directory;
    {
        task_journal(directory / "tasks").save(record_of("a", "1"));
    }
    put_bytes(directory / "tasks.new", "cogwheel-journal 1\n12345678 S\thalf a li");
    fs::permissions(directory / "tasks.new", fs::perms::owner_read);
    task_journal journal(directory / "tasks", {.compact_above = 1000});
    CHECK(bodies_of(journal.load()) == std::map<std::string, std::string>{{"a", "1"}});
    CHECK(journal_saves_until_rewritten(journal, 40) > 0);
    CHECK(!fs::exists(directory / "tasks.new"));
    CHECK(bodies_of(journal.load()) == std::map<std::string, std::string>{{"a", "1"}, {"again", "and again"}});
}

TEST_CASE("journal_rewritten_is_where_it_was_and_for_whom_it_was") {
    const scratch_directory directory;
    fs::create_directory(directory / "far");
    put_bytes(directory / "far/tasks", "");
    fs::permissions(directory / "far/tasks", fs::perms(0640));
    fs::create_symlink("far/tasks", directory / "tasks");
    const fs::path started_in = fs::current_path();
    fs::current_path(directory / "far");
    {
        task_journal journal("../tasks", {.compact_above = 1000});
        fs::current_path(started_in);
        CHECK(journal.file() == directory / "far/tasks");
        CHECK(journal_saves_until_rewritten(journal, 40) > 0);
    }
    CHECK(fs::is_symlink(directory / "tasks"));
    CHECK(fs::status(directory / "far/tasks").permissions() == fs::perms(0640));
    CHECK(task_journal(directory / "tasks").size() == 1);
}

TEST_CASE("journal_links_to_a_file_that_does_not_exist_yet_are_followed") {
    const scratch_directory directory;
    fs::create_directory(directory / "far");
    fs::create_symlink("far/link", directory / "tasks");
    fs::create_symlink(directory / "far/tasks", directory / "far/link");
    {
        task_journal journal(directory / "tasks", {.compact_above = 1000});
        CHECK(journal.file() == directory / "far/tasks");
        CHECK_THROWS_AS(task_journal(directory / "tasks"), std::system_error); // in use
        CHECK(journal_saves_until_rewritten(journal, 40) > 0);
    }
    CHECK(fs::is_symlink(directory / "tasks"));
    CHECK(fs::is_symlink(directory / "far/link"));
    CHECK(fs::is_regular_file(directory / "far/tasks"));
    fs::create_symlink("round", directory / "round");
    CHECK_THROWS_AS(task_journal(directory / "round"), std::system_error);
}

TEST_CASE("journal_new_file_is_for_its_owner_alone") {
    const scratch_directory directory;
    const task_journal journal(directory / "tasks");
    CHECK(fs::status(journal.file()).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("journal_task_that_cannot_be_understood_is_reported_and_stays") {
    const scratch_directory directory;
    task_record far = record_of("far", "away");
    far.task.when = task_trigger::cron("@daily", cogwheel::time_zone("Europe/Berlin"));
    std::string fields = detail::to_text(far);
    fields.replace(fields.find("Europe/Berlin"), 13, "Atlantis/Port");
    std::string text(detail::journal_header), line;
    detail::add_journal_line(line, 'S', fields);
    put_bytes(directory / "tasks", text + line);

    task_journal journal(directory / "tasks", {.compact_above = 1000});
    CHECK(journal_saves_until_rewritten(journal, 40) > 0);
    CHECK(bytes_of(journal.file()).find(line) != std::string::npos);
    const auto all = journal.load();
    CHECK(bodies_of(all) == std::map<std::string, std::string>{{"again", "and again"}});
    REQUIRE(all.warnings.size() == 1);
    CHECK(says(all.warnings[0], journal.file().string() + "' at byte "));
    CHECK(says(all.warnings[0], "task 'far' is left out, as it cannot be understood"));
    CHECK(says(all.warnings[0], "'Atlantis/Port' is unknown"));
    journal.erase("far");
    CHECK(joined(journal.load().warnings) == "");
}

TEST_CASE("journal_with_lines_of_an_unknown_kind_reports_them_and_is_not_rewritten") {
    const scratch_directory directory;
    std::string text(detail::journal_header);
    detail::add_journal_line(text, 'Z', "of later");
    detail::add_journal_line(text, 'B', "many");
    detail::add_journal_line(text, 'S', "a\\q\tname");
    put_bytes(directory / "tasks", text);
    task_journal journal(directory / "tasks", {.compact_above = 0});
    CHECK(journal_saves_until_rewritten(journal, 40) == 0);
    const auto all = journal.load();
    CHECK(bodies_of(all) == std::map<std::string, std::string>{{"again", "and again"}});
    REQUIRE(all.warnings.size() == 3);
    CHECK(says(all.warnings[0], "at byte 19: a line of kind 'Z' is unknown"));
    CHECK(says(all.warnings[1], "a batch of 'many' lines"));
    CHECK(says(all.warnings[2], "a \\ must be followed by"));
    CHECK(bytes_of(journal.file()).starts_with(text));
}
