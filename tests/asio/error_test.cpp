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
    CHECK(make_error_code(errc::stopped).message().find("stopped") != std::string::npos);
    CHECK(make_error_code(errc::too_many_timers).message().find("max_pending") != std::string::npos);
    CHECK(make_error_code(errc::too_many_requests).message() ==
          "too many requests in flight (request_options::max_in_flight)");
    CHECK(make_error_code(errc::duplicate_key).message() ==
          "a request in flight, or something scheduled, has this key or name already");
    CHECK(make_error_code(errc::circuit_open).message() == "not called: the circuit breaker is open");
    CHECK(std::error_code(77, errc_category()).message().find("77") != std::string::npos);
}
