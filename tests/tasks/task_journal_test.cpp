// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A journal of tasks: what was saved is there for the next that opens the file.
#include "support/tasks/journal_rig.hpp"

#include <cogwheel/tasks/task_journal.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>

using namespace cogwheel;
using namespace cogwheel_tests;
namespace fs = std::filesystem;

namespace {

// A journal beside the map that it has to be like.
class journal_and_map {
public:
    journal_and_map(fs::path file, task_journal_options options) : file_(std::move(file)), options_(options) {
        reopen();
    }

    void reopen() {
        journal_.reset();
        journal_ = std::make_unique<task_journal>(file_, options_);
    }

    void step(random_source& random) {
        switch (random.below(10)) {
        case 0:
            return reopen();
        case 1:
            return check();
        case 2:
        case 3: {
            const std::string name = some_name(random);
            map_.erase(name);
            return journal_->erase(name);
        }
        case 4: {
            std::vector<task_record> batch;
            for (auto n = random.below(4); n > 0; --n) batch.push_back(random_record(random, some_name(random)));
            for (const task_record& record : batch) map_[record.task.name] = record;
            return journal_->save_all(batch);
        }
        default: {
            const task_record record = random_record(random, some_name(random));
            map_[record.task.name] = record;
            return journal_->save(record);
        }
        }
    }

    void check() {
        REQUIRE(journal_->size() == map_.size());
        const auto all = journal_->load();
        REQUIRE(joined(all.warnings) == "");
        REQUIRE(std::equal(all.tasks.begin(), all.tasks.end(), map_.begin(), map_.end(),
                           [](const task_record& a, const auto& b) { return same_record(a, b.second); }));
    }

private:
    static std::string some_name(random_source& random) { return std::string(random.below(6u), '\t') + "n"; }

    fs::path file_;
    task_journal_options options_;
    std::unique_ptr<task_journal> journal_;
    std::map<std::string, task_record> map_;
};

} // namespace

TEST_CASE("journal_next_that_opens_the_file_finds_what_was_saved") {
    const scratch_directory directory;
    {
        task_journal journal(directory / "tasks");
        CHECK(journal.load().tasks.empty());
        journal.save(record_of("a", "1"));
        const task_record batch[] = {record_of("b", "1"), record_of("c", "1"), record_of("a", "2")};
        journal.save_all(batch);
        journal.save(record_of("d", "1"));
        journal.erase("b");
        CHECK(journal.size() == 3);
    }
    task_journal journal(directory / "tasks");
    CHECK(journal.size() == 3);
    journal.save(record_of("c", "2")); // before the first load()
    const auto all = journal.load();
    CHECK(joined(all.warnings) == "");
    CHECK(bodies_of(all) == std::map<std::string, std::string>{{"a", "2"}, {"c", "2"}, {"d", "1"}});
}

TEST_CASE("journal_file_is_as_described") {
    const scratch_directory directory;
    task_journal journal(directory / "tasks");
    const std::string header = "cogwheel-journal 2\n";
    CHECK(bytes_of(directory / "tasks") == header);
    journal.save_all({});
    journal.erase("nobody");
    CHECK(bytes_of(directory / "tasks") == header); // nothing has changed
    const task_record one[] = {record_of("a", "1")}, two[] = {record_of("b", ""), record_of("c", "")};
    journal.save_all(one);
    journal.save_all(two);
    journal.erase("a");
    // The checksums are zlib's.
    CHECK(bytes_of(directory / "tasks") ==
          header + "d5e9bdb0 S2\ta\t\t1\tonce\t0\t0\t1\t\t\tvixie\tfire_once\t1\tforbid\t0\t-\t0\n"
                   "2f61feaa B3\t2\n"
                   "64c17b31 M4\tb\t\t\tonce\t0\t0\t1\t\t\tvixie\tfire_once\t1\tforbid\t0\t-\t0\n"
                   "82e05f47 M5\tc\t\t\tonce\t0\t0\t1\t\t\tvixie\tfire_once\t1\tforbid\t0\t-\t0\n"
                   "461f04b6 E6\ta\n");
}

TEST_CASE("journal_random_changes_are_those_of_a_map") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        INFO("seed " << seed);
        random_source random(seed);
        const scratch_directory directory;
        // Now and then never rewritten, mostly whenever half of it is out of date.
        const std::size_t above[] = {0, 0, 1000, 1U << 20};
        journal_and_map both(directory / "tasks", {.sync = seed % 16 == 0, .compact_above = above[seed % 4]});
        for (int n = 0; n < 120; ++n) both.step(random);
        both.check();
        both.reopen();
        both.check();
    }
}
