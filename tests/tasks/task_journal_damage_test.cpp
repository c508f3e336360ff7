// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Whatever happens to the file: a journal opens, has every task whose line can be read, says where it is damaged, and
// goes on.
#include "support/refusal.hpp"
#include "support/tasks/journal_rig.hpp"

#include <cogwheel/tasks/task_journal.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>

using namespace cogwheel;
using namespace cogwheel_tests;
namespace fs = std::filesystem;

namespace {

using journal_bodies = std::map<std::string, std::string>;

// What a reader makes of some lines, read here in another way: they are cut at their tabs, and believed.
struct journal_replay {
    journal_bodies bodies;
    std::size_t end = 0; // of what counts

    // The lines with an end at most at `size`; of these all but the one with number `without`.
    explicit journal_replay(const std::string& text, std::size_t size, std::size_t without = std::string::npos) {
        std::size_t number = 0, missing = 0;
        journal_bodies batch;
        for (std::size_t at = 0, newline; (newline = text.find('\n', at)) <= size; at = newline + 1, ++number) {
            if (number == 0) end = newline + 1;
            if (number == 0 || number == without) continue;
            const std::size_t fields = text.find('\t', at) + 1;
            const std::string line = text.substr(fields, newline - fields);
            const std::string name = line.substr(0, line.find('\t'));
            const char op = text[at + 9];
            if (op == 'B') missing = std::stoul(line);
            if (op == 'B') continue;
            if (op == 'E') bodies.erase(name);
            if (op != 'E') batch[name] = line.substr(name.size() + 2, 1);
            if (missing > 0 && --missing > 0 && without == std::string::npos) continue;
            for (const auto& [saved, body] : batch) bodies[saved] = body;
            batch.clear();
            end = newline + 1;
        }
        end = std::min(end, size);
    }
};

std::string journal_of_each_kind(const fs::path& file) {
    fs::remove(file);
    task_journal journal(file);
    journal.save(record_of("a", "1"));
    journal.save(record_of("b", "1"));
    const task_record batch[] = {record_of("c", "1"), record_of("a", "2"), record_of("d", "1")};
    journal.save_all(batch);
    journal.erase("b");
    journal.save(record_of("e", "1"));
    return bytes_of(file);
}

std::string journal_with_a_batch_last(const fs::path& file) {
    journal_of_each_kind(file);
    const task_record batch[] = {record_of("f", "1"), record_of("a", "3")};
    task_journal(file).save_all(batch);
    return bytes_of(file);
}

task_storage::contents journal_contents(const fs::path& file) { return task_journal(file).load(); }

// Does a warning name the byte?
bool journal_damage_named(const std::vector<std::string>& warnings, std::size_t byte) {
    for (const std::string& warning : warnings) {
        std::size_t from = 0, size = 0;
        const std::size_t at = warning.find("from byte ");
        if (at != std::string::npos && std::sscanf(warning.c_str() + at, "from byte %zu on: %zu", &from, &size) == 2 &&
            from <= byte && byte < from + size)
            return true;
    }
    return false;
}

} // namespace

TEST_CASE("journal_cut_off_anywhere_has_the_lines_that_are_whole_and_goes_on") {
    const scratch_directory directory;
    const fs::path file = directory / "tasks";
    const std::string text = journal_with_a_batch_last(file);
    for (std::size_t size = 0; size <= text.size(); ++size) {
        CAPTURE(size);
        const journal_replay want(text, size);
        put_bytes(file, text.substr(0, size));
        {
            task_journal journal(file);
            const auto all = journal.load();
            CAPTURE(joined(all.warnings));
            CHECK(bodies_of(all) == want.bodies);
            // A first line without its newline is begun anew.
            const std::size_t end = size < 19 ? 0 : want.end;
            CHECK(all.warnings.size() == (end < size ? 1U : 0U));
            if (end < size) CHECK(journal_damage_named(all.warnings, end));
            CHECK(!all.damaged); // as a process that dies leaves it
            journal.save(record_of("later", "1"));
            // A line of its own, also behind one that lacked its newline.
            const std::string whole = text.substr(0, text.find('\n', end == 0 ? 0 : end - 1) + 1);
            CHECK(bytes_of(file).starts_with(whole));
            const std::string added = bytes_of(file).substr(whole.size());
            CHECK(added.substr(8, 2) == " S");
            CHECK(added.substr(added.find('\t') + 1, 6) == "later\t");
        }
        journal_bodies later = want.bodies;
        later["later"] = "1";
        const auto all = journal_contents(file);
        CHECK(joined(all.warnings) == "");
        CHECK(bodies_of(all) == later);
    }
}

TEST_CASE("journal_with_any_byte_changed_has_all_other_lines_and_names_the_place") {
    const scratch_directory directory;
    const fs::path file = directory / "tasks";
    const std::string text = journal_of_each_kind(file);
    std::size_t number = 0; // of the line
    for (std::size_t at = 0; at < text.size(); number += text[at++] == '\n' ? 1U : 0U) {
        for (const int other :
             {text[at] ^ 1, text[at] ^ 0x20, text[at] ^ 0x80, text[at] ^ 0xff, 0, '\n' + 0, '\t' + 0}) {
            if (text[at] == static_cast<char>(other)) continue;
            CAPTURE(at);
            CAPTURE(other);
            std::string damaged = text;
            damaged[at] = static_cast<char>(other);
            put_bytes(file, damaged);
            if (at == text.find('2') && other == '3') { // of another version
                CHECK(says(refusal_of([&] { journal_contents(file); }), "version 3"));
                CHECK(bytes_of(file) == damaged);
                continue;
            }
            const auto all = journal_contents(file);
            CAPTURE(joined(all.warnings));
            CHECK(all.warnings.size() == 1);
            CHECK(journal_damage_named(all.warnings, at));
            const bool all_lines = number == 0 || text[at] == '\n';
            CHECK(bodies_of(all) == journal_replay(text, text.size(), all_lines ? 1000 : number).bodies);
        }
    }
}

TEST_CASE("journal_with_a_damaged_batch_at_its_end_has_nothing_of_it") {
    const scratch_directory directory;
    const fs::path file = directory / "tasks";
    const journal_bodies before = journal_replay(journal_of_each_kind(file), 10'000).bodies;
    const std::size_t batch = bytes_of(file).size();
    const std::string text = journal_with_a_batch_last(file);
    for (std::size_t from = batch; from + 1 < text.size(); ++from) {
        for (const std::size_t size : {std::size_t{1}, std::size_t{30}}) { // a byte; a block that was never written
            CAPTURE(from);
            std::string damaged = text;
            for (std::size_t at = from; at < std::min(from + size, text.size() - 1); ++at) damaged[at] = '\0';
            put_bytes(file, damaged);
            const auto all = journal_contents(file);
            const auto found = bodies_of(all);
            const bool newline_alone = size == 1 && text[from] == '\n';
            CHECK(found == (newline_alone ? journal_replay(text, text.size()).bodies : before));
            CHECK(all.warnings.size() == 1);
            CHECK(all.damaged); // it was written whole
        }
    }
}

TEST_CASE("journal_with_rubbish_between_lines_has_every_line") {
    const scratch_directory directory;
    const fs::path file = directory / "tasks";
    const std::string text = journal_of_each_kind(file);
    const journal_bodies want = journal_replay(text, text.size()).bodies;
    random_source random(7);
    std::vector<std::string> rubbish{std::string(1, '\n'),    std::string("\r\n"),         std::string(100, '\n'),
                                     std::string(5000, '\0'), std::string("12345678 S\t"), std::string("abc")};
    for (int n = 0; n < 20; ++n) rubbish.push_back(random_bytes(random, 300) + 'x');
    for (std::size_t at = 19; at < text.size(); at = text.find('\n', at) + 1) {
        for (const std::string& some : rubbish) {
            CAPTURE(at);
            CAPTURE(some);
            put_bytes(file, text.substr(0, at) + some + text.substr(at));
            const auto all = journal_contents(file);
            CAPTURE(joined(all.warnings));
            CHECK(bodies_of(all) == want);
            CHECK(all.warnings.size() == 1);
            CHECK(journal_damage_named(all.warnings, at));
            CHECK(journal_damage_named(all.warnings, at + some.size() - 1));
        }
        // Without the newline before it.
        put_bytes(file, text.substr(0, at - 1) + text.substr(at));
        CHECK(bodies_of(journal_contents(file)) == want);
    }
}

TEST_CASE("journal_damage_is_reported_until_the_file_is_rewritten") {
    const scratch_directory directory;
    const fs::path file = directory / "tasks";
    std::string text = journal_of_each_kind(file);
    text[100] ^= 1;
    put_bytes(file, "x" + text); // its first line as well, with one that is whole between them
    task_journal journal(file, {.compact_above = 2000});
    CHECK(journal.load().warnings.size() == 2);
    CHECK(journal.load().warnings.size() == 2);
    for (int n = 0; n < 30; ++n) journal.save(record_of("e", "2"));
    const auto all = journal.load();
    CHECK(joined(all.warnings) == "");
    CHECK(bodies_of(all) == journal_bodies{{"a", "2"}, {"c", "1"}, {"d", "1"}, {"e", "2"}});
}

TEST_CASE("journal_once_rewritten_without_its_damage_is_rewritten_again") {
    const scratch_directory directory;
    const fs::path file = directory / "tasks";
    std::string text = journal_of_each_kind(file);
    text[100] ^= 1;
    put_bytes(file, text);
    task_journal journal(file, {.compact_above = 2000});
    int rewritten = 0;
    std::uintmax_t size = 0;
    for (int n = 0; n < 300'000 && rewritten < 2; ++n) { // load() would look for damage anew
        journal.save(record_of("e", "2"));
        const auto before = std::exchange(size, fs::file_size(file));
        if (size < before) ++rewritten;
    }
    CHECK(rewritten == 2);
    CHECK(joined(journal.load().warnings) == "");
}

TEST_CASE("journal_that_is_damaged_is_kept_beside_once") {
    const scratch_directory directory;
    const fs::path file = directory / "tasks";
    const std::string text = journal_of_each_kind(file);
    const auto copies = [&] {
        std::vector<fs::path> all;
        for (const auto& entry : fs::directory_iterator(file.parent_path()))
            if (entry.path().filename().string().find(".damaged-") != std::string::npos) all.push_back(entry.path());
        return all;
    };
    CHECK(!task_journal(file).load().damaged);
    CHECK(copies().empty());
    std::string damaged = text;
    damaged[text.find('\n') + 20] ^= 1;
    put_bytes(file, damaged);
    for (int opened = 0; opened < 3; ++opened) {
        task_journal journal(file);
        const auto all = journal.load();
        CHECK(all.damaged);
        CHECK(says(all.warnings.at(0), "is kept as '" + copies().at(0).string() + "'"));
        REQUIRE(copies().size() == 1);
        CHECK(bytes_of(copies()[0]) == damaged);
        journal.save(record_of("later", std::to_string(opened)));
    }
    // A rewriting makes it sound; the copy stays.
    {
        task_journal journal(file, {.compact_above = 1});
        for (int n = 0; n < 100; ++n) journal.save(record_of("again", std::to_string(n)));
        CHECK(!journal.load().damaged);
    }
    CHECK(!task_journal(file).load().damaged);
    CHECK(copies().size() == 1);
    // Another damage is another copy.
    std::string other = bytes_of(file);
    other.erase(0, other.find('\n') + 1);
    put_bytes(file, "cogwheel-journal 2\n" + other.substr(other.find('\n') + 1)); // a line is missing
    CHECK(task_journal(file).load().damaged);
    CHECK(copies().size() == 2);
}
