// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How redis_connection reaches a real server: TCP, TLS, passwords, ACL users, databases.
#include "support/durable/redis_rig.hpp"

using namespace cogwheel_tests;
using cogwheel::durable_errc;
using cogwheel::redis_command;
using cogwheel::redis_connection;

TEST_CASE("redis_login_wrong_password_is_named_and_tried_again") {
    if (redis_missing()) return;
    redis_server server({.arguments = {"--requirepass", "right"}, .password = "right"});
    redis_rig rig;
    auto o = server.client();
    o.password = "wrong";
    o.log = rig.log();
    redis_connection c(rig.wheel(), o, server.address());
    CHECK(rig.connect(c) == durable_errc::access_denied);
    CHECK(rig.connect(c) == durable_errc::access_denied);
    CHECK(rig.logged().find(server.socket() + ": cannot connect: AUTH as user \"default\": WRONGPASS") !=
          std::string::npos);
    CHECK(rig.logged().find("wrong\"") == std::string::npos); // the password itself
    CHECK(!c.connected());
    server.call({"CONFIG", "SET", "requirepass", "wrong"});
    CHECK(eventually([&] { return !rig.connect(c); }));
}

TEST_CASE("redis_login_missing_password_and_password_that_is_not_needed_are_refused") {
    if (redis_missing()) return;
    redis_server locked({.arguments = {"--requirepass", "right"}});
    redis_server open;
    redis_rig rig;
    redis_connection without(rig.wheel(), locked.client(), locked.address());
    CHECK(rig.connect(without) == durable_errc::access_denied);
    auto o = open.client();
    o.password = "any";
    redis_connection with(rig.wheel(), o, open.address());
    CHECK(rig.connect(with) == durable_errc::access_denied);
}

TEST_CASE("redis_login_acl_user_without_info_and_role_may_use_the_connection") {
    if (redis_missing()) return;
    redis_server server({.arguments = {"--user", "worker", "on", ">pass", "~jobs:*", "+get", "+set"}});
    redis_rig rig;
    auto o = server.client();
    o.user = "worker";
    o.password = "pass";
    redis_connection c(rig.wheel(), o, server.address());
    REQUIRE(!rig.connect(c));
    CHECK(c.role() == cogwheel::redis_role::unknown);
    CHECK(c.version() == 0);
    CHECK(rig.command(c, {"SET", "jobs:1", "x"}).reply.text() == "OK");
    CHECK(rig.command(c, {"SET", "other", "x"}).reply.error() == durable_errc::access_denied);
    CHECK(rig.command(c, {"DEL", "jobs:1"}).reply.error() == durable_errc::access_denied);
}

TEST_CASE("redis_login_database_is_selected_after_each_connection") {
    if (redis_missing()) return;
    redis_server server({.port = reserved_tcp_port()});
    redis_rig rig;
    auto o = server.client();
    o.database = 3;
    redis_connection c(rig.wheel(), o, server.tcp_address());
    REQUIRE(!rig.connect(c));
    CHECK(rig.command(c, {"SET", "k", "three"}).reply.text() == "OK");
    CHECK(server.call({"INFO", "keyspace"}).find("db3:keys=1") != std::string::npos);
    server.call({"CLIENT", "KILL", "TYPE", "normal"});
    REQUIRE(eventually([&] { return rig.command(c, {"GET", "k"}).reply.text() == "three"; }));
    auto beyond = o;
    beyond.database = 99;
    beyond.log = rig.log();
    redis_connection refused(rig.wheel(), beyond, server.tcp_address());
    CHECK(eventually([&] { return rig.logged().find("SELECT as user \"default\": ERR") != std::string::npos; }));
}

TEST_CASE("redis_login_host_name_is_resolved") {
    if (redis_missing()) return;
    redis_server server({.port = reserved_tcp_port()});
    redis_rig rig;
    auto address = server.tcp_address();
    address.host = "localhost";
    auto o = server.client();
    o.log = rig.log();
    redis_connection c(rig.wheel(), o, address);
    REQUIRE(!rig.connect(c));
    redis_connection nowhere(rig.wheel(), o, {.host = "no-such-host.invalid"});
    CHECK(
        eventually([&] { return rig.logged().find("no-such-host.invalid:6379: cannot connect: resolve: ") < 9'999; }));
}

TEST_CASE("redis_login_tls_verifies_the_certificate_and_its_name") {
    if (redis_missing()) return;
    redis_server server({.arguments = {"--tls-auth-clients", "optional"}, .tls = true});
    redis_rig rig;
    auto o = server.client();
    o.tls.enabled = true;
    o.tls.ca_file = server.certificate();
    redis_connection good(rig.wheel(), o, server.tls_address());
    REQUIRE(!rig.connect(good));
    CHECK(rig.command(good, {"SET", "k", std::string(300'000, 'x')}).reply.text() == "OK");
    CHECK(rig.command(good, {"GET", "k"}).reply.text().size() == 300'000);

    o.log = rig.log();
    auto unknown = o;
    unknown.tls.ca_file.clear();
    redis_connection self_signed(rig.wheel(), unknown, server.tls_address());
    CHECK(eventually([&] { return rig.logged().find("cannot connect: TLS: certificate verify failed") < 9'999; }));
    auto named = o;
    named.tls.server_name = "elsewhere.example";
    redis_connection other_name(rig.wheel(), named, server.tls_address());
    CHECK(!eventually([&] { return other_name.connected(); }, std::chrono::milliseconds(100)));
    auto trusting = unknown;
    trusting.tls.verify = false;
    redis_connection blind(rig.wheel(), trusting, server.tls_address());
    CHECK(!rig.connect(blind));

    server.restart(); // on another port; the old one refuses
    REQUIRE(eventually([&] { return !good.connected(); }));
    redis_connection again(rig.wheel(), o, server.tls_address());
    CHECK(!rig.connect(again));
}

TEST_CASE("redis_login_tls_files_that_cannot_be_read_are_named") {
    asio::io_context io;
    const cogwheel::timer_wheel wheel(io);
    cogwheel::redis_options o;
    o.tls.enabled = true;
    o.tls.ca_file = "/nonexistent/ca.pem";
    CHECK_THROWS_WITH_AS(redis_connection(wheel, o, {.host = "localhost"}), doctest::Contains("/nonexistent/ca.pem"),
                         std::invalid_argument);
}

TEST_CASE("redis_login_loading_server_is_not_ready") {
    if (redis_missing()) return;
    redis_server server({.arguments = {"--key-load-delay", "0", "--loading-process-events-interval-bytes", "1024"}});
    server.call({"DEBUG", "POPULATE", "20000"});
    server.call({"SET", "last", "x"});
    server.call({"SAVE"});
    redis_rig rig;
    redis_connection c(rig.wheel(), server.client(), server.address());
    REQUIRE(!rig.connect(c));
    server.restart();
    REQUIRE(eventually([&] { return rig.command(c, {"GET", "last"}).reply.text() == "x"; }));
}
