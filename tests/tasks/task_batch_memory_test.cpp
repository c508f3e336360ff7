// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a batch of tasks costs: in proportion to the number of its tasks.
#include "support/counted_heap.hpp"
#include "support/tasks/task_rig.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

std::size_t bytes_of_a_batch(int size) {
    memory_storage storage;
    task_rig tasks({.storage = &storage});
    tasks->define("note", tasks.note());
    std::vector<task> batch;
    for (int i = 0; i < size; ++i)
        batch.push_back({.name = std::to_string(i), .when = task_trigger::once(1h), .job = "note"});
    const std::size_t before = allocated_bytes;
    CHECK(tasks->add_all(std::move(batch)).added == static_cast<std::size_t>(size));
    return allocated_bytes - before;
}

} // namespace

TEST_CASE("batch_of_eight_times_as_many_tasks_takes_eight_times_as_much_memory") {
    CHECK(bytes_of_a_batch(4'000) < 12 * bytes_of_a_batch(500));
}
