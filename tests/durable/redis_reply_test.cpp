// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// redis_reply and redis_command: values, and the bytes that are sent.
#include "support/constant_names.hpp"

#include <cogwheel/durable/redis_command.hpp>
#include <cogwheel/durable/redis_connection.hpp>
#include <cogwheel/durable/redis_reply.hpp>

#include <doctest/doctest.h>

#include <ostream>

using cogwheel::durable_errc;
using cogwheel::redis_command;
using cogwheel::redis_reply;
using cogwheel::redis_role;
using cogwheel::redis_topology;
using cogwheel_tests::check_names;

using namespace std::string_literals;

namespace {

std::string command_bytes(const redis_command& c) {
    std::string out = "before ";
    c.append_to(out);
    return out.substr(7);
}

} // namespace

TEST_CASE("redis_reply_error_is_known_by_its_first_word") {
    const auto code = [](const char* text) { return redis_reply::text(redis_reply::kind::error, text).error(); };
    CHECK(code("OOM command not allowed when used memory > 'maxmemory'.") == durable_errc::server_full);
    CHECK(code("WRONGTYPE Operation against a key") == durable_errc::wrong_type);
    CHECK(code("NOAUTH Authentication required.") == durable_errc::access_denied);
    CHECK(code("NOPERM this user has no permissions") == durable_errc::access_denied);
    CHECK(code("LOADING") == durable_errc::server_busy);
    CHECK(code("MOVED 1 h:1") == durable_errc::server_busy);
    CHECK(code("READONLY You can't write against a read only replica.") == durable_errc::server_busy);
    CHECK(code("OOMPH") == durable_errc::server_error);
    CHECK(code("ERR unknown command") == durable_errc::server_error);
    CHECK(code("") == durable_errc::server_error);
    CHECK(!redis_reply::text(redis_reply::kind::string, "OOM").error());
    CHECK(!redis_reply().error());
}

TEST_CASE("redis_command_bytes_are_as_the_protocol_says") {
    CHECK(command_bytes({"GET", "k"}) == "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n");
    CHECK(command_bytes(redis_command("SET").key("").add(std::string_view("\r\n\0", 3)).add(-5)) ==
          std::string("*4\r\n$3\r\nSET\r\n$0\r\n\r\n$3\r\n\r\n\0\r\n$2\r\n-5\r\n"s));
    CHECK(command_bytes(redis_command("X").add(INT64_MIN).add(UINT64_MAX)) ==
          "*3\r\n$1\r\nX\r\n$20\r\n-9223372036854775808\r\n$20\r\n18446744073709551615\r\n");
    const redis_command c("A");
    CHECK(command_bytes(c).size() <= c.size());
}

TEST_CASE("redis_command_routing_key_is_the_first_key_or_the_given_one") {
    CHECK(!redis_command{"PING"}.has_routing_key());
    CHECK(redis_command("MGET").key("a").key("b").routing_key() == "a");
    CHECK(redis_command("MGET").key("a").key("b").arguments() == 3);
    const auto routed = redis_command("EVAL").add("return 1").add(0).route("{t}");
    CHECK(routed.routing_key() == "{t}");
    CHECK(routed.arguments() == 3);
    redis_command moved = redis_command("GET").key("a key that is too long for the place inside a string");
    const redis_command there = std::move(moved);
    CHECK(there.routing_key().starts_with("a key"));
    CHECK(redis_command("GET").key("").has_routing_key());
}

TEST_CASE("redis_constants_have_names") {
    check_names<redis_reply::kind>({{redis_reply::kind::nil, "nil"},
                                    {redis_reply::kind::integer, "integer"},
                                    {redis_reply::kind::string, "string"},
                                    {redis_reply::kind::status, "status"},
                                    {redis_reply::kind::error, "error"},
                                    {redis_reply::kind::array, "array"}});
    check_names<redis_role>({{redis_role::unknown, "unknown"},
                             {redis_role::master, "master"},
                             {redis_role::replica, "replica"},
                             {redis_role::sentinel, "sentinel"}});
    check_names<redis_topology>({{redis_topology::single, "single"},
                                 {redis_topology::sentinel, "sentinel"},
                                 {redis_topology::cluster, "cluster"}});
}
