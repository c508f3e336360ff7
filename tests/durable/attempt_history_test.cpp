// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The note of a task: what is packed comes back, and a damaged one is a message.
#include "src/durable/attempt_history.hpp"
#include "src/durable/journal_store.hpp"
#include "support/durable/stored_task_text.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace cogwheel;
using namespace cogwheel::detail;
using cogwheel_tests::stored_task_text;

TEST_CASE("history_keeps_the_last_ten_attempts_and_the_first_200_bytes") {
    stored_task t{.id = "a"};
    for (t.attempt = 1; t.attempt <= 12; ++t.attempt)
        remember_failure(t, 1'000 + t.attempt, t.attempt % 2 == 0, std::string(300, 'm') + std::to_string(t.attempt));
    CHECK(t.message == std::string(300, 'm') + "12");
    REQUIRE(t.history.size() == 10);
    CHECK(t.history.front().attempt == 3);
    CHECK(t.history.back().attempt == 12);
    CHECK(t.history.back().ended_ms == 1'012);
    CHECK(t.history.back().lease_ran_out);
    CHECK(t.history.back().message == std::string(200, 'm'));
}

TEST_CASE("history_packed_and_unpacked_is_the_same") {
    stored_task t{.id = "a"};
    t.attempt = 65'535;
    remember_failure(t, 9'000'000'000'000, false, std::string("\0\1\n\xff", 4));
    t.attempt = 7;
    remember_failure(t, -1, true, "");
    t.message = std::string(70'000, 'x');
    stored_task again{.id = "a", .attempt = 7};
    again.message = "earlier";
    again.history.resize(3);
    unpack_note(pack_note(t), again);
    CHECK(stored_task_text(again) == stored_task_text(t));
}

TEST_CASE("history_damaged_note_becomes_the_message") {
    stored_task t{.id = "a", .attempt = 1};
    remember_failure(t, 5, false, "why");
    const std::string note = pack_note(t);
    for (std::size_t size = 0; size < note.size(); ++size) {
        CAPTURE(size);
        const std::string cut = note.substr(0, size);
        stored_task of_cut;
        unpack_note(cut, of_cut);
        const bool whole = size == 5 + 3; // ends after the message: no attempts
        CHECK(of_cut.message == (whole ? "why" : cut));
        CHECK(of_cut.history.empty());
    }
    stored_task plain;
    unpack_note("the record was damaged", plain);
    CHECK(plain.message == "the record was damaged");
}

TEST_CASE("history_of_a_task_in_a_journal_comes_back_and_one_without_is_stored_as_before") {
    task_table::record r;
    r.task.id = "a";
    r.task.message = "why";
    r.task.envelope = "envelope";
    CHECK(to_task_record(r).task.job == "durable");
    r.task.paused = true;
    r.task.cancelled = true;
    CHECK(to_task_record(r).task.job == "durable2");
    r.task.attempt = 1;
    remember_failure(r.task, 5, true, "lost");
    const auto back = from_task_record(to_task_record(r));
    REQUIRE(back);
    CHECK(stored_task_text(back->task) == stored_task_text(r.task));
}
