// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The error codes of the wheel itself.
#include <cogwheel/asio/error.hpp>

#include <doctest/doctest.h>

#include <ostream>
#include <string>

using namespace cogwheel;

TEST_CASE("error_codes_convert_and_compare") {
    const std::error_code stopped = errc::stopped;
    CHECK(stopped == errc::stopped);
    CHECK(stopped != errc::too_many_timers);
    CHECK(static_cast<bool>(stopped));
    CHECK(stopped.category() == errc_category());
    CHECK(std::string(stopped.category().name()) == "cogwheel");
}

TEST_CASE("error_messages_tell_what_happened") {
    CHECK(make_error_code(errc::stopped).message() == "the wheel or scheduler has stopped");
    CHECK(make_error_code(errc::too_many_timers).message() == "too many timers (max_pending)");
    CHECK(make_error_code(errc::too_many_requests).message() == "too many requests (max_in_flight)");
    CHECK(make_error_code(errc::duplicate_key).message() == "the key or name is in use");
    CHECK(make_error_code(errc::circuit_open).message() == "the circuit breaker is open");
    for (const int none : {-1, 0, 6})
        CHECK(std::error_code(none, errc_category()).message().find(std::to_string(none)) != std::string::npos);
    CHECK(std::error_code(77, errc_category()).message().find("77") != std::string::npos);
}
