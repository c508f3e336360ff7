// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Callbacks to addresses that they may not reach, in each spelling; and proxies of the environment.
#include "support/durable/callback_rig.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

using namespace cogwheel;
using namespace cogwheel_tests;

namespace {

/// Sets variables of the environment for a test.
class environment {
public:
    explicit environment(std::vector<std::string> names, const std::string& value) : names_(std::move(names)) {
        for (const auto& n : names_) ::setenv(n.c_str(), value.c_str(), 1);
    }
    environment(const environment&) = delete;
    environment& operator=(const environment&) = delete;
    ~environment() {
        for (const auto& n : names_) ::unsetenv(n.c_str());
    }

private:
    std::vector<std::string> names_;
};

} // namespace

TEST_CASE("address_of_loopback_is_refused_in_each_spelling") {
    auto options = loopback_options();
    options.guard = {};
    callback_rig rig(options);
    callback_receiver receiver(rig.io);
    const std::string port = ":" + std::to_string(receiver.port()) + "/200";
    for (const char* host : {"127.0.0.1", "localhost", "LOCALHOST", "2130706433", "0x7f.1", "0x7f000001", "0177.0.0.1",
                             "127.1", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0.0.0.0", "0", "[::]"}) {
        INFO(host);
        const callback_result r = rig.send_to("http://" + (host + port));
        CHECK(r.error == callback_errc::address_refused);
        CHECK(r.outcome == callback_outcome::failed_for_good);
        CHECK(!r.sent);
        CHECK(r.status == 0);
        const bool any = std::string(host).find('0') == 0 || std::string(host) == "[::]";
        const bool named = r.message.find("is loopback") != std::string::npos ||
                           (any && r.message.find("is this network") != std::string::npos);
        CHECK_MESSAGE(named, r.message);
    }
    CHECK(receiver.log.accepted == 0);
    CHECK(rig.sender->stats().connections == 0);
    CHECK(rig.sender->stats().addresses_refused == 14);
}

TEST_CASE("address_in_a_private_net_is_refused_without_a_connection") {
    callback_rig rig;
    for (const char* host : {"10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "198.18.0.1",
                             "224.0.0.1", "255.255.255.255", "[fd00::1]", "[fe80::1]", "[64:ff9b::a00:1]",
                             "[2002:a00:1::1]", "[::ffff:10.0.0.1]", "167772161", "0xa9.0xfe.0xa9.0xfe"}) {
        INFO(host);
        const callback_result r = rig.send_to(std::string("http://") + host + "/latest/meta-data");
        CHECK(r.error == callback_errc::address_refused);
        CHECK(!r.sent);
    }
    CHECK(rig.sender->stats().connections == 0);
}

TEST_CASE("address_is_allowed_by_its_network_its_host_or_altogether") {
    callback_rig by_network;
    callback_receiver receiver(by_network.io);
    CHECK(by_network.send_to(receiver.url("/200")).outcome == callback_outcome::succeeded);
    CHECK(by_network.send_to(receiver.url("/200", "2130706433")).outcome == callback_outcome::succeeded);

    auto options = loopback_options();
    options.guard = {.hosts = {"localhost"}};
    callback_rig by_host(options);
    callback_receiver second(by_host.io);
    CHECK(by_host.send_to(second.url("/200", "localhost")).outcome == callback_outcome::succeeded);
    CHECK(by_host.send_to(second.url("/200", "LocalHost")).outcome == callback_outcome::succeeded);
    CHECK(by_host.send_to(second.url("/200", "127.0.0.1")).error == callback_errc::address_refused);

    options.guard = {.allow_private = true};
    callback_rig all(options);
    callback_receiver third(all.io);
    CHECK(all.send_to(third.url("/200")).outcome == callback_outcome::succeeded);
}

TEST_CASE("proxy_of_the_environment_is_not_used") {
    callback_rig rig;
    callback_receiver receiver(rig.io), proxy(rig.io);
    const environment set({"http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"}, proxy.url(""));
    CHECK(rig.send_to(receiver.url("/200")).outcome == callback_outcome::succeeded);
    CHECK(proxy.log.accepted == 0);
    CHECK(receiver.log.accepted == 1);
}

TEST_CASE("redirect_to_another_address_is_not_followed") {
    callback_rig rig;
    callback_receiver receiver(rig.io), target(rig.io);
    receiver.log.answer = [&](const received_callback&) {
        return http_answer(302, "Location: " + target.url("/200") + "\r\n");
    };
    const callback_result r = rig.send_to(receiver.url("/"));
    CHECK(r.status == 302);
    CHECK(r.outcome == callback_outcome::failed_for_good);
    CHECK(target.log.accepted == 0);
}
