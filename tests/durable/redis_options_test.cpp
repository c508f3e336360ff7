// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Addresses of Redis servers: which are right, and what is said of the others.
#include <cogwheel/durable/redis_options.hpp>

#include <doctest/doctest.h>

#include <ostream>
#include <stdexcept>

using cogwheel::redis_address;
using cogwheel::redis_options;
using cogwheel::redis_topology;

namespace {

std::string url_refusal(std::string_view url) {
    try {
        redis_options::from_url(url);
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return "accepted";
}

} // namespace

TEST_CASE("redis_url_of_one_server_has_all_parts") {
    const auto o = redis_options::from_url("redis://us%40er:p%3Aw%2F@db.example:7001/3");
    CHECK(o.topology == redis_topology::single);
    CHECK(o.addresses == std::vector<redis_address>{{.host = "db.example", .port = 7001}});
    CHECK(o.user == "us@er");
    CHECK(o.password == "p:w/");
    CHECK(o.database == 3);
    CHECK(!o.tls.enabled);
}

TEST_CASE("redis_url_parts_have_defaults") {
    const auto o = redis_options::from_url("redis://localhost");
    CHECK(o.addresses.at(0).port == 6379);
    CHECK(o.database == 0);
    CHECK(o.user.empty());
    CHECK(redis_options::from_url("redis://:secret@localhost/").password == "secret");
    CHECK(redis_options::from_url("redis://a:p@w@localhost").password == "p@w");
    CHECK(redis_options::from_url("rediss://localhost").tls.enabled);
    CHECK(redis_options::from_url("redis://[::1]:7000").addresses.at(0) == redis_address{.host = "::1", .port = 7000});
    CHECK(redis_options::from_url("redis://[fe80::1]").addresses.at(0).host == "fe80::1");
}

TEST_CASE("redis_url_of_a_unix_socket_is_its_path") {
    const auto o = redis_options::from_url("unix:///run/redis/a%20b.sock");
    CHECK(o.addresses.at(0).path == "/run/redis/a b.sock");
    CHECK(redis_options::from_url("unix://u:p@/s?db=4").database == 4);
    CHECK(redis_options::from_url("unix://u:p@/s?db=4").user == "u");
}

TEST_CASE("redis_url_of_sentinels_names_the_master") {
    const auto o = redis_options::from_url("sentinel://:pw@10.0.0.1,10.0.0.2:26380/orders/2");
    CHECK(o.topology == redis_topology::sentinel);
    CHECK(o.addresses.size() == 2);
    CHECK(o.addresses.at(0).port == 26379);
    CHECK(o.addresses.at(1).port == 26380);
    CHECK(o.master_name == "orders");
    CHECK(o.database == 2);
}

TEST_CASE("redis_url_of_a_cluster_lists_nodes") {
    const auto o = redis_options::from_url("cluster://a:7000,b:7001,c");
    CHECK(o.topology == redis_topology::cluster);
    CHECK(o.addresses.size() == 3);
    CHECK(o.addresses.at(2).port == 6379);
}

TEST_CASE("redis_url_that_is_wrong_is_refused_by_its_part") {
    const auto contains = [](std::string_view url, std::string_view words) {
        CAPTURE(url);
        CHECK(url_refusal(url).find(words) != std::string::npos);
    };
    contains("", "no scheme");
    contains("localhost:6379", "no scheme");
    contains("http://localhost", "scheme \"http\"");
    contains("redis://", "is not host or host:port");
    contains("redis://host:0", "host:0");
    contains("redis://host:65536", "host:65536");
    contains("redis://host:12x", "host:12x");
    contains("redis://[::1", "[::1");
    contains("redis://[::1]7", "[::1]7");
    contains("redis://a,b", "several hosts");
    contains("redis://host/x", "database");
    contains("redis://host/-1", "database");
    contains("redis://user@host", "without a password");
    contains("redis://u:%zz@host", "%25");
    contains("redis://u:%4@host", "%25");
    contains("unix://run/redis", "absolute path");
    contains("unix:///" + std::string(200, 'x'), "107");
    contains("sentinel://a:1,b:2", "does not name the master");
    contains("sentinel://a:1,b:2/", "does not name the master");
    contains("cluster://a:1,,b:2", "\"\"");
    contains("cluster://a:1/1", "a cluster has only 0");
}

TEST_CASE("redis_url_that_is_wrong_is_refused_without_its_password") {
    for (const char* url : {"redis://u:secret@", "redis://u:secret@h:x", "bad://u:secret@h", "unix://u:secret@x",
                            "redis://u:secret%@h", "cluster://u:secret@h/7"}) {
        CAPTURE(url);
        const auto words = url_refusal(url);
        CHECK(words != "accepted");
        CHECK(words.find("secret") == std::string::npos);
    }
}

TEST_CASE("redis_options_out_of_range_are_refused_by_name") {
    const auto refused = [](auto change, const char* name) {
        redis_options o;
        o.addresses = {{.host = "h"}};
        change(o);
        CAPTURE(name);
        CHECK_THROWS_WITH_AS(o.validate(), doctest::Contains(name), std::invalid_argument);
    };
    refused([](auto& o) { o.addresses.clear(); }, "no address");
    refused([](auto& o) { o.addresses[0].host.clear(); }, "neither a host nor a path");
    refused([](auto& o) { o.addresses[0].port = 0; }, "port of h");
    refused([](auto& o) { o.connect_timeout = {}; }, "connect_timeout");
    refused([](auto& o) { o.command_timeout = std::chrono::nanoseconds(-1); }, "command_timeout");
    refused([](auto& o) { o.connect_timeout = std::chrono::hours(25); }, "connect_timeout");
    refused([](auto& o) { o.command_timeout = std::chrono::nanoseconds::max(); }, "command_timeout");
    refused([](auto& o) { o.max_in_flight = 0; }, "max_in_flight");
    refused([](auto& o) { o.max_reply = 0; }, "max_reply");
    refused([](auto& o) { o.user = "u"; }, "password");
    refused([](auto& o) { o.tls.certificate = "c"; }, "tls.key");
    refused([](auto& o) { o.topology = redis_topology::sentinel, o.master_name.clear(); }, "master_name");
    refused([](auto& o) { o.sentinel_user = "u"; }, "sentinel_password");
}

TEST_CASE("redis_address_text_can_be_read_again") {
    CHECK(redis_address{.host = "h", .port = 1}.text() == "h:1");
    CHECK(redis_address{.host = "::1", .port = 2}.text() == "[::1]:2");
    CHECK(redis_address{.host = {}, .path = "/s"}.text() == "/s");
}

TEST_CASE("redis_url_path_of_a_unix_socket_may_have_an_at") {
    const auto o = redis_options::from_url("unix:///run/redis@main/redis.sock");
    CHECK(o.addresses[0].path == "/run/redis@main/redis.sock");
    CHECK(o.password.empty());
    const auto both = redis_options::from_url("unix://u:p@/run/redis@main?db=2");
    CHECK(both.addresses[0].path == "/run/redis@main");
    CHECK(both.password == "p");
    CHECK(both.database == 2);
}
