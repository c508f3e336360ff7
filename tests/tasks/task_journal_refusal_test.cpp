// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A journal that is in use, a file that is none, and a full disk: said with the name of the file, and nothing is
// changed.
#include "support/refusal.hpp"
#include "support/tasks/journal_rig.hpp"

#include <cogwheel/tasks/task_journal.hpp>

#include <doctest/doctest.h>

#include <csignal>

#include <sys/resource.h>

using namespace cogwheel;
using namespace cogwheel_tests;
namespace fs = std::filesystem;

namespace {

std::error_code journal_error(const fs::path& file, std::string& what) {
    try {
        const task_journal opened(file);
    } catch (const std::system_error& e) {
        what = e.what();
        return e.code();
    }
    return {};
}

// Files cannot grow beyond a size, as on a full disk.
class journal_size_limit {
public:
    explicit journal_size_limit(std::uintmax_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{static_cast<rlim_t>(bytes), before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    journal_size_limit(const journal_size_limit&) = delete;
    journal_size_limit& operator=(const journal_size_limit&) = delete;
    ~journal_size_limit() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        (void)std::signal(SIGXFSZ, handler_);
    }

private:
    void (*handler_)(int);
    rlimit before_{};
};

// Nothing is reported from within f: the report may go to a file as well.
template <class F>
std::string journal_said_when_full(const fs::path& file, std::uintmax_t room, F f) {
    const journal_size_limit limit(fs::file_size(file) + room);
    try {
        f();
    } catch (const std::system_error& e) {
        return e.code() == std::errc::file_too_large ? e.what() : "another error";
    }
    return "";
}

} // namespace

TEST_CASE("journal_in_use_is_refused_until_it_is_closed_also_when_it_was_rewritten") {
    const scratch_directory directory;
    std::string what;
    {
        task_journal journal(directory / "tasks", {.compact_above = 0});
        for (int n = 0; n < 9; ++n) {
            journal.save(record_of("a", std::to_string(n)));
            CHECK(journal_error(directory / "tasks", what) == std::errc::device_or_resource_busy);
            CHECK(says(what, (directory / "tasks").string() + "' is in use by another task_journal; end that process"));
        }
    }
    CHECK(!journal_error(directory / "tasks", what));
}

TEST_CASE("journal_in_use_is_refused_by_the_name_of_a_hard_link_also_after_many_changes") {
    const scratch_directory directory;
    std::string what;
    {
        task_journal journal(directory / "tasks", {.compact_above = 0});
        journal.save(record_of("a", "1"));
        fs::create_hard_link(directory / "tasks", directory / "link");
        for (int n = 0; n < 20; ++n) {
            CHECK(journal_error(directory / "link", what) == std::errc::device_or_resource_busy);
            CHECK(says(what, (directory / "link").string() + "' is in use by another task_journal"));
            journal.save(record_of("a", std::to_string(n)));
            // Rewritten, it would be another file, and the link that of before, which is not in use.
            const auto all = journal.load();
            CHECK(bodies_of(all) == std::map<std::string, std::string>{{"a", std::to_string(n)}});
            CHECK(says(joined(all.warnings), "tasks' has hard links, and is not rewritten as long as it has; remove"));
        }
        CHECK(fs::hard_link_count(directory / "tasks") == 2);
        CHECK(!fs::exists(directory / "tasks.new"));
        fs::remove(directory / "link");
        const auto size = fs::file_size(directory / "tasks");
        for (int n = 0; n < 100 && fs::file_size(directory / "tasks") >= size; ++n) {
            journal.save(record_of("a", std::to_string(n)));
            CHECK(joined(journal.load().warnings) == "");
        }
        CHECK(fs::file_size(directory / "tasks") < size);
        fs::create_hard_link(directory / "tasks", directory / "link");
    }
    const task_journal by_link(directory / "link");
    CHECK(journal_error(directory / "tasks", what) == std::errc::device_or_resource_busy);
}

TEST_CASE("journal_file_that_is_no_journal_is_refused_and_untouched") {
    const scratch_directory directory;
    const fs::path file = directory / "tasks";
    for (const std::string& foreign :
         {std::string("a"), std::string("\n"), std::string(4096, '\0'), std::string(19, '\0'),
          std::string("cogwheel-journal\n"), std::string("cogwheel-journal 1 \n"),
          std::string("# a list\n12345678 S\tname\n"),
          std::string("\x7f"
                      "ELF\0\0\n",
                      7)}) {
        CAPTURE(foreign);
        put_bytes(file, foreign);
        const std::string why = refusal_of([&] { task_journal journal(file); });
        CHECK(says(why,
                   file.string() + "' is no journal of tasks: its first line must be 'cogwheel-journal 2'; move it"));
        CHECK(bytes_of(file) == foreign);
    }
    const std::string later = "cogwheel-journal 22\nwhatever\n";
    put_bytes(file, later);
    CHECK(says(refusal_of([&] { task_journal journal(file); }),
               "is a journal of version 22, but must be of version 1 or 2"));
    CHECK(bytes_of(file) == later);
}

TEST_CASE("journal_path_that_cannot_be_opened_is_named") {
    const scratch_directory directory;
    std::string what;
    CHECK(journal_error(directory / "none/tasks", what) == std::errc::no_such_file_or_directory);
    CHECK(says(what, "none/tasks"));
    CHECK(says(what, "its directory must exist"));
    fs::create_directory(directory / "folder");
    CHECK(says(refusal_of([&] { task_journal journal(directory / "folder"); }), "folder' is no regular file"));
}

TEST_CASE("journal_change_that_fails_was_not_made_and_the_next_is_fine") {
    const scratch_directory directory;
    for (const bool sync : {false, true}) {
        CAPTURE(sync);
        const fs::path file = directory / (sync ? "synced" : "tasks");
        task_journal journal(file, {.sync = sync});
        journal.save(record_of("a", "1"));
        journal.save(record_of("b", "1"));
        const std::string before = bytes_of(file);
        const task_record batch[] = {record_of("a", "2"), record_of("c", "1"), record_of("d", "1")};
        for (const std::uintmax_t room : {0U, 1U, 8U, 15U, 100U, 190U}) {
            CAPTURE(room);
            const std::string said = journal_said_when_full(file, room, [&] { journal.save_all(batch); });
            CHECK(says(said, file.string() + "' cannot be written"));
            CHECK(bytes_of(file) == before);
        }
        CHECK(journal_said_when_full(file, 20, [&] { journal.save(record_of("c", "1")); }) != "");
        CHECK(journal_said_when_full(file, 5, [&] { journal.erase("a"); }) != "");
        CHECK(bytes_of(file) == before);
        CHECK(journal.size() == 2);
        CHECK(bodies_of(journal.load()) == std::map<std::string, std::string>{{"a", "1"}, {"b", "1"}});
        journal.save_all(batch);
        journal.erase("b");
        const auto all = journal.load();
        CHECK(joined(all.warnings) == "");
        CHECK(bodies_of(all) == std::map<std::string, std::string>{{"a", "2"}, {"c", "1"}, {"d", "1"}});
    }
}
