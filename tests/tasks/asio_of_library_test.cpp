// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Who includes the headers of a library that contains parts of Asio asks the linker for a library of the same Asio.
#include <cogwheel/tasks/task_scheduler.hpp>

#include <doctest/doctest.h>

namespace detail = cogwheel::detail;

TEST_CASE("headers_of_tasks_name_the_asio_that_the_library_must_be_built_with") {
    const bool same = detail::asio_of_tasks == &detail::COGWHEEL_LINK(tasks)<COGWHEEL_ASIO_MACRO(VERSION) / 100>;
    CHECK(same);
}
