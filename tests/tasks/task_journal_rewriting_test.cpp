// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The file is rewritten now and then: at no more than the cost of what was appended, with nothing lost when that fails,
// and with lines kept that mean nothing here.
#include "support/refusal.hpp"
#include "support/tasks/journal_rig.hpp"

#include <cogwheel/detail/platform.hpp>
#include <cogwheel/tasks/task_journal.hpp>
#include <cogwheel/tasks/task_record_text.hpp>

#include <doctest/doctest.h>

#include <algorithm>

#if COGWHEEL_LINUX
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#endif

using namespace cogwheel;
using namespace cogwheel_tests;
namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t journal_first_line = 19;

// Of a record_of() with this name and body.
std::uintmax_t journal_line_bytes(std::size_t number, const std::string& name, const std::string& body) {
    return 58 + std::to_string(number).size() + name.size() + body.size();
}

// load() waits for a rewriting.
std::uintmax_t journal_settled_size(task_journal& journal) {
    journal.load();
    return fs::file_size(journal.file());
}

// Until the file gets smaller; the number of changes, 0 if it does not.
int journal_saves_until_rewritten(task_journal& journal, int most) {
    for (int n = 1; n <= most; ++n) {
        const auto before = journal_settled_size(journal);
        journal.save(record_of("again", "and again"));
        if (journal_settled_size(journal) < before) return n;
    }
    return 0;
}

} // namespace

TEST_CASE("journal_rewriting_costs_no_more_than_what_was_appended") {
    const scratch_directory directory;
    task_journal journal(directory / "tasks", {.compact_above = 500});
    random_source random(1);
    std::uintmax_t appended = fs::file_size(journal.file()), rewritten = 0, size = appended, largest = 0;
    std::size_t number = 1;
    for (int n = 0; n < 2000; ++n) {
        const std::string name = std::to_string(random.below(20));
        const std::string body = std::to_string(n);
        journal.save(record_of(name, body));
        const std::uintmax_t line = journal_line_bytes(++number, name, body);
        const std::uintmax_t now = journal_settled_size(journal);
        if (now < size) {
            rewritten += now;
            number = 1 + journal.size();
        }
        appended += line;
        CHECK((now < size || now == size + line));
        size = now;
        largest = std::max(largest, size);
    }
    CHECK(rewritten > 0);
    CHECK(rewritten <= appended);
    const std::uintmax_t longest_line = journal_line_bytes(99, "99", "9999");
    CHECK(largest <= 2 * (journal_first_line + 20 * longest_line) + longest_line); // twice what counts, and one line
    CHECK(!fs::exists(directory / "tasks.new"));
}

TEST_CASE("journal_smaller_than_asked_is_not_rewritten") {
    const scratch_directory directory;
    task_journal journal(directory / "tasks", {.compact_above = 5000});
    const int saves = journal_saves_until_rewritten(journal, 1000);
    std::uintmax_t size = journal_first_line;
    std::size_t number = 1;
    while (size <= 5000) size += journal_line_bytes(++number, "again", "and again");
    CHECK(saves == static_cast<int>(number - 1));
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
    for (; n < 1000 && journal_settled_size(journal) <= 5000; ++n) journal.save(record_of("again", "and again"));
    const std::uintmax_t failed_at = fs::file_size(journal.file());
    fs::remove(directory / "tasks.new");
    std::uintmax_t largest = 0;
    for (; n < 1000 && journal_settled_size(journal) > largest; ++n) {
        largest = fs::file_size(journal.file());
        journal.save(record_of("again", "and again"));
    }
    CHECK(n < 1000);
    CHECK(largest + journal_line_bytes(100, "again", "and again") >= 2 * failed_at);
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

#if !COGWHEEL_WINDOWS // MinGW makes no links, and files there have no such permissions
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

#endif

TEST_CASE("journal_task_that_cannot_be_understood_is_reported_and_stays") {
    const scratch_directory directory;
    task_record far = record_of("far", "away");
    far.task.when = task_trigger::cron("@daily", cogwheel::zone_info("Europe/Berlin"));
    std::string fields = to_text(far);
    fields.replace(fields.find("Europe/Berlin"), 13, "Atlantis/Port");
    std::string text(detail::journal_header), line;
    detail::add_journal_line(line, 'S', 2, fields);
    put_bytes(directory / "tasks", text + line);

    task_journal journal(directory / "tasks", {.compact_above = 1000});
    CHECK(journal_saves_until_rewritten(journal, 40) > 0);
    CHECK(bytes_of(journal.file()).find('\t' + fields + '\n') != std::string::npos);
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
    detail::add_journal_line(text, 'Z', 2, "of later");
    detail::add_journal_line(text, 'B', 3, "many");
    detail::add_journal_line(text, 'S', 4, "a\\q\tname");
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

TEST_CASE("journal_is_rewritten_for_what_was_erased_and_no_sooner") {
    const scratch_directory directory;
    for (const int erased : {10, 30}) { // of forty
        CAPTURE(erased);
        const fs::path file = directory / (erased == 10 ? "ten" : "thirty");
        std::uintmax_t saved = journal_first_line, left = journal_first_line;
        for (int n = 0; n < 40; ++n)
            saved += journal_line_bytes(static_cast<std::size_t>(n) + 2, std::to_string(n + 10), "");
        for (int n = erased; n < 40; ++n)
            left += journal_line_bytes(static_cast<std::size_t>(n - erased) + 2, std::to_string(n + 10), "");
        const std::uintmax_t all =
            saved + static_cast<std::uintmax_t>(erased) * std::string("12345678 E42\t10\n").size();
        {
            task_journal journal(
                file, {.compact_above = static_cast<std::size_t>(all - 1)}); // due at the last change, or not at all
            for (int n = 0; n < 40; ++n) journal.save(record_of(std::to_string(n + 10), ""));
            CHECK(fs::file_size(file) == saved);
            for (int n = 0; n < erased; ++n) journal.erase(std::to_string(n + 10));
        }
        CHECK(fs::file_size(file) == (erased == 10 ? all : left));
    }
}

TEST_CASE("journal_that_was_damaged_since_it_was_opened_is_not_rewritten") {
    const scratch_directory directory;
    const fs::path file = directory / "tasks";
    for (const bool missing : {false, true}) {
        CAPTURE(missing);
        fs::remove(file);
        {
            task_journal journal(file, {.compact_above = 2000});
            journal.save(record_of("a", "1"));
            journal.save(record_of("a", "2"));
            journal.save(record_of("b", "1"));
            // Without the line that says how "a" is, the line before would, and nobody would be told.
            std::string text = bytes_of(file);
            const std::size_t line = text.find(" S3\ta") - 8, size = text.find('\n', line) + 1 - line;
            if (missing)
                text.replace(line, size, size, '\n');
            else
                text[line + 20] ^= 1;
            put_bytes(file, text);
            for (int n = 0; n < 60; ++n) journal.save(record_of("again", "and again"));
        }
        CHECK(fs::file_size(file) > 4000);
        CHECK(!fs::exists(directory / "tasks.new"));
        const auto all = task_journal(file).load();
        CHECK(all.warnings.size() == 1);
        CHECK(bodies_of(all) == std::map<std::string, std::string>{{"a", "1"}, {"again", "and again"}, {"b", "1"}});
    }
}

#if !COGWHEEL_WINDOWS
TEST_CASE("journal_that_was_deleted_or_moved_refuses_changes_and_leaves_the_next_one_alone") {
    for (const bool moved : {false, true}) {
        const scratch_directory directory;
        const fs::path file = directory / "tasks";
        task_journal old(file, {.compact_above = 1});
        old.save(record_of("a", "1"));
        if (moved)
            fs::rename(file, directory / "moved");
        else
            fs::remove(file);
        fs::remove(directory / "tasks.lock");
        task_journal fresh(file);
        fresh.save(record_of("b", "1"));
        const std::string text = bytes_of(file);
        for (int n = 0; n < 100; ++n) {
            std::error_code why;
            try {
                old.save(record_of("a", std::to_string(n)));
            } catch (const std::system_error& e) {
                why = e.code();
                CHECK(says(e.what(), "was deleted or moved while it was in use"));
            }
            CHECK(why == std::errc::no_such_file_or_directory);
        }
        CHECK(bytes_of(file) == text);
        CHECK(fresh.load().tasks.size() == 1);
    }
}
#endif

#if COGWHEEL_LINUX
TEST_CASE("journal_keeps_its_extended_attributes_and_its_owner") {
    const scratch_directory directory;
    task_journal journal(directory / "tasks", {.compact_above = 1});
    const std::string file = journal.file().string();
    if (::setxattr(file.c_str(), "user.label", "blue", 4, 0) == -1) {
        MESSAGE("skipped: this file system has no extended attributes");
        return;
    }
    const bool root = ::geteuid() == 0;
    if (root) CHECK(::chown(file.c_str(), 1, 2) == 0);
    CHECK(journal_saves_until_rewritten(journal, 100) > 0);
    char label[8]{};
    CHECK(::getxattr(file.c_str(), "user.label", label, sizeof label) == 4);
    CHECK(std::string(label) == "blue");
    struct stat now{};
    CHECK(::stat(file.c_str(), &now) == 0);
    if (root) CHECK((now.st_uid == 1 && now.st_gid == 2));
}
#endif
