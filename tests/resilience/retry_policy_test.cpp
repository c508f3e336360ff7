// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Which errors pass by themselves, and what is no policy.
#include "support/constant_names.hpp"

#include <cogwheel/asio/error.hpp>
#include <cogwheel/resilience/retry_policy.hpp>

#include <asio/error.hpp>
#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

using namespace cogwheel;
using namespace cogwheel_tests;

TEST_CASE("transient_errors_are_those_that_pass") {
    using namespace asio::error;
    for (const std::error_code ec :
         {std::error_code(asio::error::timed_out), std::error_code(connection_refused),
          std::error_code(connection_reset), std::error_code(connection_aborted), std::error_code(broken_pipe),
          std::error_code(eof), std::error_code(host_unreachable), std::error_code(network_unreachable),
          std::error_code(network_down), std::error_code(network_reset),
          std::error_code(asio::error::basic_errors::try_again), std::error_code(interrupted),
          std::error_code(host_not_found_try_again), std::make_error_code(std::errc::timed_out),
          std::error_code(std::error_code(connection_refused).value(), std::system_category())}) {
        CAPTURE(ec.message());
        CHECK(is_transient(ec));
    }
    for (const std::error_code ec :
         {std::error_code(), std::error_code(operation_aborted), std::error_code(access_denied),
          std::error_code(host_not_found), std::error_code(no_descriptors), std::error_code(no_memory),
          std::error_code(address_in_use), std::error_code(bad_descriptor), make_error_code(errc::stopped),
          make_error_code(errc::too_many_timers), std::make_error_code(std::errc::state_not_recoverable)}) {
        CAPTURE(ec.message());
        CHECK_FALSE(is_transient(ec));
    }
}

TEST_CASE("transient_errors_are_known_by_the_standards_names_too") {
    using std::errc;
    for (const errc e : {errc::timed_out, errc::connection_refused, errc::connection_reset, errc::connection_aborted,
                         errc::broken_pipe, errc::host_unreachable, errc::network_unreachable, errc::network_down,
                         errc::network_reset, errc::resource_unavailable_try_again, errc::interrupted}) {
        CAPTURE(std::make_error_code(e).message());
        CHECK(is_transient(std::make_error_code(e)));
    }
    for (const errc e :
         {errc::operation_canceled, errc::permission_denied, errc::address_in_use, errc::bad_file_descriptor}) {
        CAPTURE(std::make_error_code(e).message());
        CHECK_FALSE(is_transient(std::make_error_code(e)));
    }
}

TEST_CASE("retry_end_has_names") {
    check_names<retry_end>({{retry_end::succeeded, "succeeded"},
                            {retry_end::not_retryable, "not_retryable"},
                            {retry_end::attempts_used, "attempts_used"},
                            {retry_end::out_of_time, "out_of_time"},
                            {retry_end::budget, "budget"},
                            {retry_end::cancelled, "cancelled"},
                            {retry_end::wheel, "wheel"}});
}

TEST_CASE("policy_without_attempts_is_refused") {
    retry_policy p;
    CHECK_NOTHROW(p.validate());
    p.attempts = 0;
    try {
        p.validate();
        FAIL("accepted");
    } catch (const std::invalid_argument& e) {
        CHECK(std::string(e.what()).find("attempts is 0, but must be at least 1") != std::string::npos);
    }
}
