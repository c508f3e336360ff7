// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Lines have numbers: one that is missing is noticed, a copy of an old one does not count; and files without them are
// read, and go on.
#include "support/refusal.hpp"
#include "support/tasks/journal_rig.hpp"

#include <cogwheel/tasks/task_journal.hpp>

#include <doctest/doctest.h>

using namespace cogwheel;
using namespace cogwheel_tests;
namespace fs = std::filesystem;

namespace {

using numbered_bodies = std::map<std::string, std::string>;

std::vector<std::string> numbered_lines(const fs::path& file) {
    {
        task_journal journal(file);
        journal.save(record_of("a", "1"));
        const task_record batch[] = {record_of("b", "1"), record_of("a", "2"), record_of("c", "1")};
        journal.save_all(batch);
        journal.erase("b");
        journal.save(record_of("d", "1"));
    }
    std::vector<std::string> lines;
    const std::string text = bytes_of(file);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t next = text.find('\n', at) + 1;
        lines.push_back(text.substr(at, next - at));
        at = next;
    }
    return lines;
}

std::string text_of(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line;
    return text;
}

} // namespace

TEST_CASE("journal_without_any_one_of_its_lines_says_so") {
    const scratch_directory directory;
    const fs::path file = directory / "tasks";
    const std::vector<std::string> lines = numbered_lines(file);
    REQUIRE(lines.size() == 8);
    for (std::size_t n = 0; n + 1 < lines.size(); ++n) { // the last one may never have been written
        CAPTURE(n);
        std::vector<std::string> rest = lines;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(n));
        put_bytes(file, text_of(rest));
        rest.resize(n);
        const auto all = task_journal(file).load();
        REQUIRE(all.warnings.size() == 1);
        CHECK(says(all.warnings[0], file.string() + "' before byte " + std::to_string(text_of(rest).size()) +
                                        ": line " + std::to_string(n + 1) + " is missing; their tasks are as"));
        numbered_bodies want{{"a", "2"}, {"c", "1"}, {"d", "1"}};
        if (n == 3) want.erase("b");
        if (n == 4) want["a"] = "1";
        if (n == 5) want.erase("c");
        if (n == 6) want["b"] = "1";
        CHECK(bodies_of(all) == want);
    }
}

TEST_CASE("journal_without_several_lines_says_which") {
    const scratch_directory directory;
    const fs::path file = directory / "tasks";
    std::vector<std::string> lines = numbered_lines(file);
    lines.erase(lines.begin() + 1, lines.begin() + 6);
    put_bytes(file, text_of(lines));
    task_journal journal(file, {.compact_above = 200});
    const auto all = journal.load();
    REQUIRE(all.warnings.size() == 1);
    CHECK(says(all.warnings[0], "before byte 19: lines 2 to 6 are missing; their tasks are as the lines before say"));
    CHECK(bodies_of(all) == numbered_bodies{{"d", "1"}});
    // Said until the file is rewritten, as other damage.
    journal.save(record_of("d", "2"));
    CHECK(journal.load().warnings.size() == 1);
    for (int n = 0; n < 9; ++n) journal.save(record_of("d", std::to_string(n)));
    CHECK(joined(journal.load().warnings) == "");
    CHECK(bytes_of(file).find(" S2\td\t") != std::string::npos);
    CHECK(bodies_of(journal.load()) == numbered_bodies{{"d", "8"}});
}

TEST_CASE("journal_copy_of_an_old_line_is_damage_and_does_not_count") {
    const scratch_directory directory;
    const fs::path file = directory / "tasks";
    const std::vector<std::string> lines = numbered_lines(file);
    for (std::size_t n = 1; n + 1 < lines.size(); ++n) {
        CAPTURE(n);
        put_bytes(file, text_of(lines) + lines[n]);
        CHECK(bodies_of(task_journal(file).load()) == numbered_bodies{{"a", "2"}, {"c", "1"}, {"d", "1"}});
        std::vector<std::string> twice = lines;
        twice.insert(twice.begin() + static_cast<std::ptrdiff_t>(n) + 1, lines[n]);
        put_bytes(file, text_of(twice));
        const auto all = task_journal(file).load();
        CHECK(bodies_of(all) == numbered_bodies{{"a", "2"}, {"c", "1"}, {"d", "1"}});
        REQUIRE(all.warnings.size() == 1);
        CHECK(says(all.warnings[0], std::to_string(lines[n].size()) + " bytes are damaged"));
    }
}

TEST_CASE("journal_of_version_1_is_read_and_goes_on_as_one_of_version_2") {
    const scratch_directory directory;
    const fs::path file = directory / "tasks";
    const std::string first = "cogwheel-journal 1\n",
                      lines = "45b034e0 S\ta\t\t1\tonce\t0\t0\t1\t\t\tvixie\tfire_once\t1\tforbid\t0\t-\t0\n"
                              "954a6a75 B\t2\n"
                              "c1cb3baa M\tb\t\t\tonce\t0\t0\t1\t\t\tvixie\tfire_once\t1\tforbid\t0\t-\t0\n"
                              "a8b230cf M\tc\t\t\tonce\t0\t0\t1\t\t\tvixie\tfire_once\t1\tforbid\t0\t-\t0\n"
                              "62677cbe E\ta\n";
    put_bytes(file, first + lines);
    {
        task_journal journal(file);
        const auto all = journal.load();
        CHECK(joined(all.warnings) == "");
        CHECK(bodies_of(all) == numbered_bodies{{"b", ""}, {"c", ""}});
        // The library that wrote it refuses it now, instead of taking the lines that follow for damage.
        CHECK(bytes_of(file) == "cogwheel-journal 2\n" + lines);
        journal.save(record_of("d", "1"));
        CHECK(bytes_of(file).find(" S7\td") == 19 + lines.size() + 8); // the seventh line
    }
    CHECK(joined(task_journal(file).load().warnings) == "");

    // Also one that ends in the midst of a line, or lacks the newline.
    for (const std::size_t size : {first.size() - 1, first.size(), first.size() + 20, (first + lines).size() - 1}) {
        CAPTURE(size);
        put_bytes(file, (first + lines).substr(0, size));
        task_journal journal(file, {.compact_above = 500});
        for (int n = 0; n < 20; ++n) {
            journal.save(record_of("d", "1"));
            CHECK(bodies_of(journal.load()).contains("d")); // and waits for a rewriting
        }
        CHECK(bytes_of(file).starts_with("cogwheel-journal 2\n"));
        CHECK(fs::file_size(file) < 600);
    }
}

TEST_CASE("journal_batch_of_no_number_of_lines_is_reported") {
    const scratch_directory directory;
    const fs::path file = directory / "tasks";
    for (const std::string count : {"0", "2x", "x2", "-1", ""}) {
        CAPTURE(count);
        std::string text(detail::journal_header);
        detail::add_journal_line(text, 'B', 2, count);
        put_bytes(file, text);
        {
            task_journal journal(file);
            journal.save(record_of("a", "1"));
        }
        const auto all = task_journal(file).load();
        REQUIRE(all.warnings.size() == 1);
        CHECK(says(all.warnings[0], "a batch of '" + count + "' lines"));
        CHECK(bodies_of(all) == numbered_bodies{{"a", "1"}});
    }
}
