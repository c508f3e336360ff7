// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A journal holds each change before its answer: whenever the process dies, the next one has the same tasks. If the
// disk is full, nothing changes.
#include "src/durable/journal_store.hpp"
#include "support/durable/store_rig.hpp"
#include "support/durable/stored_task_text.hpp"
#include "support/random.hpp"

#include <cogwheel/durable/durable_queue.hpp>
#include <cogwheel/tasks/error.hpp>
#include <cogwheel/tasks/task_journal.hpp>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>

namespace {

using namespace cogwheel;
using namespace cogwheel::detail;
using cogwheel_tests::random_source;
using cogwheel_tests::run_until_done;
using cogwheel_tests::stored_task_text;

/// All that a later process must find. Leases are void: so a running task counts as its restart makes it.
std::string kept_tasks(const task_table& table, std::int64_t now, bool with_times = true) {
    task_table restarted;
    for (const auto& [id, r] : table.records()) restarted.restore(now, r);
    std::string text = table.paused() ? "paused\n" : "";
    for (auto [id, r] : restarted.records()) {
        if (!with_times)
            for (past_attempt& a : r.task.history) a.ended_ms = 0;
        text += fmt::format("{} at {}\n", stored_task_text(r.task), with_times ? r.place : 0);
    }
    return text;
}

/// Fails each call from a certain one on.
struct full_disk final : task_storage {
    explicit full_disk(task_storage& d) : disk(d) {}
    void check() {
        if (left-- <= 0) throw std::system_error(std::make_error_code(std::errc::no_space_on_device), "the journal");
    }
    void save(const task_record& r) override { check(), disk.save(r); }
    void save_all(std::span<const task_record> r) override { check(), disk.save_all(r); }
    void erase(std::string_view name) override { check(), disk.erase(name); }
    contents load() override { return disk.load(); }

    task_storage& disk;
    int left = 1'000'000;
};

/// Random changes.
struct journal_player {
    journal_player(asio::io_context& c, std::uint64_t seed) : io(c), random(seed) {}

    std::error_code play(journal_store& store) {
        const auto& records = store.table().records();
        const stored_task* t = nullptr;
        if (!records.empty()) {
            auto at = records.begin();
            std::advance(at, static_cast<std::ptrdiff_t>(random.below(records.size())));
            t = &at->second.task;
        }
        const stored_task some = t != nullptr ? *t : stored_task{.id = "none"};
        const retention_limits limits{.done_ms = 2'000, .max_done = 3, .max_dead = 3, .dead_ms = 3'000};
        now += static_cast<std::int64_t>(random.below(800'000));
        switch (random.below(9)) {
        case 0:
        case 1: {
            std::vector<new_task> tasks;
            for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
                new_task n_task{.id = "id-" + std::to_string(random.below(9)) + std::string("\0\n\t", 3)};
                n_task.relative = true;
                n_task.due = static_cast<std::int64_t>(random.below(500));
                n_task.recurring = random.below(3) == 0;
                n_task.runs_left = n_task.recurring ? forever : 1;
                n_task.max_attempts = static_cast<std::uint32_t>(1 + random.below(2));
                n_task.envelope = std::string("\0 e\n", 4) + std::to_string(random.below(100));
                tasks.push_back(n_task);
            }
            return run_until_done(io, store.add(0, tasks, static_cast<on_duplicate>(random.below(3)))).error;
        }
        case 2:
            return run_until_done(io, store.claim(0, 1'000, 4, 300, limits)).error;
        case 3:
        case 4: {
            begin_request r{.id = some.id, .generation = some.generation};
            if (some.recurring) {
                r.occurrences = {some.due, some.due + 1};
                r.next_due = random.below(3) == 0 ? 0 : now / 1000 + 100;
                r.runs_left = forever;
            }
            return run_until_done(io, store.begin(400, 1, std::vector{r})).error;
        }
        case 5:
        case 6: {
            const std::vector<finish_request> ends{{static_cast<finish_kind>(random.below(5)), some.id, some.generation,
                                                    some.attempt, 10, random.below(2) == 0 ? "" : "text"}};
            return run_until_done(io, store.finish(limits, ends)).error;
        }
        case 7:
            switch (random.below(5)) {
            case 0:
                return run_until_done(io, store.cancel(some.id)).error;
            case 1:
                return run_until_done(io, store.redrive(some.id)).error;
            case 2:
                return run_until_done(io, store.purge(some.id)).error;
            case 3:
                return run_until_done(io, store.hold(some.id, random.below(3) != 0)).error;
            default: {
                added_task moved;
                return run_until_done(io, store.reschedule(some.id, 50, true, moved)).error;
            }
            }
        default:
            return run_until_done(io, store.pause(random.below(3) == 0));
        }
    }

    asio::io_context& io;
    random_source random;
    std::int64_t now = 1'700'000'000'000'000;
};

} // namespace

TEST_CASE("journal_store_opened_after_each_change_has_the_same_tasks") {
    const auto file = std::filesystem::temp_directory_path() / fmt::format("cogwheel-journal-store-{}", getpid());
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        CAPTURE(seed);
        std::filesystem::remove(file);
        asio::io_context io;
        journal_player player(io, seed);
        const auto clock = [&player] { return player.now; };
        task_journal journal(file);
        journal_store store(io.get_executor(), journal, clock);
        REQUIRE(!run_until_done(io, store.open()));
        for (int step = 0; step < 250; ++step) {
            CAPTURE(step);
            REQUIRE(!player.play(store));
            // A copy of the file is what a process finds that starts now. The true one stays open.
            const auto copy = file.string() + ".copy";
            std::filesystem::copy_file(file, copy, std::filesystem::copy_options::overwrite_existing);
            task_journal left(copy);
            journal_store next(io.get_executor(), left, clock);
            REQUIRE(!run_until_done(io, next.open()));
            CHECK(next.trouble().empty());
            REQUIRE(kept_tasks(next.table(), player.now) == kept_tasks(store.table(), player.now));
        }
    }
    for (const char* end : {"", ".lock", ".copy", ".copy.lock"}) std::filesystem::remove(file.string() + end);
}

TEST_CASE("journal_store_on_a_full_disk_answers_its_error_and_changes_nothing") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        asio::io_context io;
        journal_player player(io, seed);
        const auto clock = [&player] { return player.now; };
        memory_storage memory;
        full_disk disk(memory);
        journal_store store(io.get_executor(), disk, clock);
        REQUIRE(!run_until_done(io, store.open()));
        int refused = 0;
        for (int step = 0; step < 300; ++step) {
            CAPTURE(step);
            disk.left = static_cast<int>(player.random.below(3));
            const std::error_code ec = player.play(store);
            if (ec) {
                ++refused;
                CHECK(ec == std::errc::no_space_on_device);
                CHECK(store.trouble().find("the journal") != std::string::npos);
            }
            // What the store holds is what the disk holds, but for the time of a death by a lease that ran out: a claim
            // does not wait for room on the disk.
            memory_storage copy = memory;
            journal_store other(io.get_executor(), copy, clock);
            REQUIRE(!run_until_done(io, other.open()));
            REQUIRE(kept_tasks(other.table(), player.now, false) == kept_tasks(store.table(), player.now, false));
        }
        CHECK(refused > 0);
    }
}

TEST_CASE("journal_store_refused_add_leaves_no_task") {
    asio::io_context io;
    memory_storage memory;
    full_disk disk(memory);
    journal_store store(io.get_executor(), disk, [] { return std::int64_t{1'700'000'000'000'000}; });
    disk.left = 0;
    const std::vector<new_task> tasks{{.id = "a"}, {.id = "b"}};
    CHECK(run_until_done(io, store.add(0, tasks, on_duplicate::reject)).error == std::errc::no_space_on_device);
    CHECK(store.table().records().empty());
    disk.left = 1;
    const auto added = run_until_done(io, store.add(0, tasks, on_duplicate::reject));
    CHECK(!added.error);
    const std::vector<begin_request> begin{{.id = "a", .generation = added.value[0].generation}};
    disk.left = 0;
    CHECK(run_until_done(io, store.begin(1'000, 1, begin)).error == std::errc::no_space_on_device);
    CHECK(store.table().find("a")->task.state == durable_state::waiting);
    CHECK(store.table().find("a")->task.attempt == 0);
}

TEST_CASE("journal_store_workers_that_died_before_the_clock_was_set_back_leave_the_list") {
    using names = std::vector<std::string>;
    asio::io_context io;
    memory_storage memory;
    std::int64_t now = 1'700'000'000'000'000;
    journal_store store(io.get_executor(), memory, [&now] { return now; });
    CHECK(run_until_done(io, store.heartbeat("dead", 10'000)).value.names == names{"dead"});
    now -= 10'000'000; // not more than the ttl: it may live
    CHECK(run_until_done(io, store.heartbeat("alive", 10'000)).value.names == names{"alive", "dead"});
    now -= 1'000;
    CHECK(run_until_done(io, store.heartbeat("alive", 10'000)).value.names == names{"alive"});
}

TEST_CASE("journal_store_after_close_answers_aborted_and_leaves_the_storage_alone") {
    asio::io_context io;
    memory_storage memory;
    full_disk disk(memory);
    journal_store store(io.get_executor(), disk);
    REQUIRE(!run_until_done(io, store.open()));
    const std::vector<new_task> tasks{{.id = "a"}};
    REQUIRE(!run_until_done(io, store.add(0, tasks, on_duplicate::reject)).error);
    store.close();
    disk.left = 1'000;
    const std::error_code aborted = asio::error::operation_aborted;
    CHECK(run_until_done(io, store.open()) == aborted);
    CHECK(run_until_done(io, store.add(0, tasks, on_duplicate::replace)).error == aborted);
    CHECK(run_until_done(io, store.claim(0, 1'000, 1, 1'000, {})).error == aborted);
    CHECK(run_until_done(io, store.begin(1'000, 1, std::vector<begin_request>(1))).error == aborted);
    CHECK(run_until_done(io, store.finish({}, std::vector<finish_request>(1))).error == aborted);
    CHECK(run_until_done(io, store.extend(0, 1'000, std::vector<attempt_ref>(1))).error == aborted);
    CHECK(run_until_done(io, store.cancel("a")).error == aborted);
    added_task moved;
    CHECK(run_until_done(io, store.reschedule("a", 0, true, moved)).error == aborted);
    CHECK(run_until_done(io, store.find("a")).error == aborted);
    CHECK(run_until_done(io, store.list("", 1)).error == aborted);
    CHECK(run_until_done(io, store.dead("", 1)).error == aborted);
    CHECK(run_until_done(io, store.redrive("a")).error == aborted);
    CHECK(run_until_done(io, store.purge("a")).error == aborted);
    CHECK(run_until_done(io, store.pause(true)) == aborted);
    CHECK(run_until_done(io, store.counts(0)).error == aborted);
    CHECK(run_until_done(io, store.audit(0, "", 1)).error == aborted);
    CHECK(run_until_done(io, store.heartbeat("w", 1'000)).error == aborted);
    CHECK(run_until_done(io, store.retire("w")) == aborted);
    CHECK(disk.left == 1'000);
}

TEST_CASE("journal_store_whose_queue_is_destroyed_leaves_the_storage_alone_though_calls_wait") {
    asio::io_context io;
    timer_wheel wheel(io);
    std::error_code paused;
    {
        memory_storage memory; // ends before the call runs
        durable_queue queue(wheel, memory);
        queue.pause([&](std::error_code ec) { paused = ec; });
    }
    io.run();
    CHECK(paused == asio::error::operation_aborted);
}

TEST_CASE("journal_queue_does_not_reschedule_a_recurring_task") {
    asio::io_context io;
    timer_wheel wheel(io);
    memory_storage memory;
    durable_queue queue(wheel, memory);
    durable_task task;
    task.id = "report";
    task.when = task_trigger::every(std::chrono::hours(1));
    std::error_code opened = asio::error::in_progress, added = opened, moved = opened;
    queue.open([&](std::error_code ec) {
        opened = ec;
        queue.schedule(task, [&](std::error_code ec_added, const durable_receipt&) {
            added = ec_added;
            queue.reschedule("report", task_trigger::once(std::chrono::hours(5)),
                             [&](std::error_code ec_moved, const durable_receipt&) { moved = ec_moved; });
        });
    });
    io.run();
    CHECK(!opened);
    CHECK(!added);
    CHECK(moved == task_errc::bad_period);
}

TEST_CASE("journal_store_leaves_foreign_records_as_they_are_and_names_them") {
    asio::io_context io;
    memory_storage memory;
    task_record foreign;
    foreign.task.name = "t-other";
    foreign.task.job = "report";
    memory.save(foreign);
    journal_store store(io.get_executor(), memory);
    CHECK(!run_until_done(io, store.open()));
    CHECK(store.trouble().find("\"t-other\" is not that of a durable task") != std::string::npos);
    CHECK(store.table().records().empty());
    CHECK(memory.size() == 1);
}
