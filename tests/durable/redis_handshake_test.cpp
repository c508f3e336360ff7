// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The first commands on a connection, and what is made of their replies.
#include "src/durable/redis_handshake.hpp"

#include <doctest/doctest.h>

#include <ostream>

using namespace cogwheel::detail;
using cogwheel::durable_errc;
using cogwheel::redis_options;
using cogwheel::redis_reply;
using cogwheel::redis_role;

namespace {

std::string handshake_bytes(const handshake& h) {
    std::string all;
    for (const auto& c : h.commands) c.append_to(all);
    return all;
}

redis_reply reply_ok() { return redis_reply::text(redis_reply::kind::status, "OK"); }
redis_reply reply_error(const char* words) { return redis_reply::text(redis_reply::kind::error, words); }
redis_reply reply_info(const char* version) {
    return redis_reply::text(redis_reply::kind::string, std::string("# Server\r\nredis_version:") + version + "\r\n");
}
redis_reply reply_role(const char* role) {
    return redis_reply::array({redis_reply::text(redis_reply::kind::string, role)});
}

} // namespace

TEST_CASE("redis_handshake_logs_in_before_all_else") {
    redis_options o;
    o.user = "u";
    o.password = "p";
    o.database = 2;
    o.sentinel_password = "s";
    using step = handshake_step;
    CHECK(make_handshake(o, false).steps == std::vector{step::auth, step::select, step::info, step::role, step::ping});
    CHECK(handshake_bytes(make_handshake(o, false))
              .starts_with("*3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$1\r\np\r\n*2\r\n$6\r\nSEL"));
    CHECK(make_handshake(o, true).steps == std::vector{step::auth, step::info, step::role, step::ping});
    CHECK(handshake_bytes(make_handshake(o, true)).starts_with("*2\r\n$4\r\nAUTH\r\n$1\r\ns\r\n*2\r\n$4\r\nINFO"));
    CHECK(make_handshake({}, false).steps.front() == step::info);
}

TEST_CASE("redis_handshake_facts_are_read") {
    const auto h = make_handshake({}, false);
    const std::vector good{reply_info("7.0.15"), reply_role("slave"), reply_ok()};
    const auto facts = read_handshake(h, good, "");
    CHECK(!facts.error);
    CHECK(facts.version == 70'015);
    CHECK(facts.role == redis_role::replica);
    CHECK(facts.server == "Redis 7.0.15");
    const std::vector other{reply_info("7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.1.1"), reply_role("master"),
                            reply_ok()};
    CHECK(read_handshake(h, other, "").version == 70'204);
    CHECK(read_handshake(h, other, "").server == "Valkey 8.1.1");
    const std::vector denied{reply_error("NOPERM a"), reply_error("NOPERM b"), reply_error("NOPERM c")};
    CHECK(!read_handshake(h, denied, "").error);
    CHECK(read_handshake(h, denied, "").role == redis_role::unknown);
    CHECK(read_handshake(h, denied, "").server == "a server of unknown version");
}

TEST_CASE("redis_handshake_error_has_the_step_the_user_and_the_servers_words") {
    redis_options o;
    o.user = "u";
    o.password = "secret";
    const auto h = make_handshake(o, false);
    const auto facts = read_handshake(h, std::vector{reply_error("ERR AUTH called without a password")}, "u");
    CHECK(facts.error == durable_errc::access_denied);
    CHECK(facts.message == "AUTH as user \"u\": ERR AUTH called without a password");
    const std::vector loading{reply_ok(), reply_info("7.2.0"), reply_role("master"), reply_error("LOADING x")};
    CHECK(read_handshake(h, loading, "u").error == durable_errc::server_busy);
}

TEST_CASE("redis_handshake_version_of_any_text_is_a_number") {
    CHECK(read_version("redis_version:7.0.15-rc1") == 70'015);
    CHECK(read_version("redis_version:255.255.255") == 0);
    CHECK(read_version("redis_version:") == 0);
    CHECK(read_version("redis_version:7.") == 0);
    CHECK(read_version("") == 0);
}

TEST_CASE("redis_handshake_denial_is_told_from_a_server_that_has_no_room") {
    redis_options o;
    o.password = "secret";
    const auto error_of = [&](const char* words) {
        return read_handshake(make_handshake(o, false), std::vector{reply_error(words)}, "").error;
    };
    CHECK(error_of("ERR max number of clients reached") == durable_errc::server_busy);
    CHECK(error_of("ERR max number of clients + cluster connections reached") == durable_errc::server_busy);
    CHECK(error_of("LOADING x") == durable_errc::server_busy);
    CHECK(error_of("ERR something else") == durable_errc::server_error);
    for (const char* denied :
         {"WRONGPASS x", "NOAUTH x", "NOPERM x", "DENIED x", "ERR invalid password", "ERR unknown command `AUTH`"}) {
        CAPTURE(denied);
        CHECK(error_of(denied) == durable_errc::access_denied);
    }
    o.password.clear();
    CHECK(error_of("ERR max number of clients reached") == durable_errc::server_busy);
}

TEST_CASE("redis_handshake_message_never_has_the_password") {
    redis_options o;
    o.password = "secret-and-long";
    for (const char* words :
         {"ERR unknown command 'AUTH', with args beginning with: 'secret-and-long' ",
          "ERR unknown command 'AUTH', with args beginning with: 'secret-an", "ERR secret-and-long"}) {
        CAPTURE(words);
        const auto facts = read_handshake(make_handshake(o, false), std::vector{reply_error(words)}, "");
        CHECK(facts.error);
        CHECK(facts.message.find("secret") == std::string::npos);
    }
}
