// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Which addresses a callback may reach: the first and the last address of each net, and their neighbours.
#include "support/constant_names.hpp"

#include <cogwheel/durable/ssrf_guard.hpp>

#include <doctest/doctest.h>

#include <array>
#include <stdexcept>

using namespace cogwheel;
using namespace cogwheel_tests;

namespace {

struct net_row {
    const char* before; // nullptr: there is none
    address_kind before_kind;
    const char* first;
    const char* last;
    address_kind kind;
    const char* after;
    address_kind after_kind;
};

constexpr auto global = address_kind::global;

constexpr std::array net_rows{
    net_row{nullptr, global, "0.0.0.0", "0.255.255.255", address_kind::this_network, "1.0.0.0", global},
    net_row{"9.255.255.255", global, "10.0.0.0", "10.255.255.255", address_kind::private_use, "11.0.0.0", global},
    net_row{"100.63.255.255", global, "100.64.0.0", "100.127.255.255", address_kind::shared, "100.128.0.0", global},
    net_row{"126.255.255.255", global, "127.0.0.0", "127.255.255.255", address_kind::loopback, "128.0.0.0", global},
    net_row{"169.253.255.255", global, "169.254.0.0", "169.254.255.255", address_kind::link_local, "169.255.0.0",
            global},
    net_row{"172.15.255.255", global, "172.16.0.0", "172.31.255.255", address_kind::private_use, "172.32.0.0", global},
    net_row{"191.255.255.255", global, "192.0.0.0", "192.0.0.255", address_kind::protocol, "192.0.1.0", global},
    net_row{"192.0.1.255", global, "192.0.2.0", "192.0.2.255", address_kind::documentation, "192.0.3.0", global},
    net_row{"192.88.98.255", global, "192.88.99.0", "192.88.99.255", address_kind::protocol, "192.88.100.0", global},
    net_row{"192.167.255.255", global, "192.168.0.0", "192.168.255.255", address_kind::private_use, "192.169.0.0",
            global},
    net_row{"198.17.255.255", global, "198.18.0.0", "198.19.255.255", address_kind::benchmarking, "198.20.0.0", global},
    net_row{"198.51.99.255", global, "198.51.100.0", "198.51.100.255", address_kind::documentation, "198.51.101.0",
            global},
    net_row{"203.0.112.255", global, "203.0.113.0", "203.0.113.255", address_kind::documentation, "203.0.114.0",
            global},
    net_row{"223.255.255.255", global, "224.0.0.0", "239.255.255.255", address_kind::multicast, "240.0.0.0",
            address_kind::reserved},
    net_row{"239.255.255.255", address_kind::multicast, "240.0.0.0", "255.255.255.254", address_kind::reserved,
            "255.255.255.255", address_kind::broadcast},
    net_row{nullptr, global, "::", "::", address_kind::this_network, "::1", address_kind::loopback},
    net_row{"::1", address_kind::loopback, "::2", "::ff", address_kind::reserved, "::100", address_kind::this_network},
    net_row{"64:ff9b:0:ffff:ffff:ffff:ffff:ffff", address_kind::reserved, "64:ff9b:1::",
            "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", address_kind::protocol, "64:ff9b:2::", address_kind::reserved},
    net_row{"ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", address_kind::reserved, "100::", "100::ffff:ffff:ffff:ffff",
            address_kind::protocol, "100:0:0:1::", address_kind::reserved},
    net_row{"1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", address_kind::reserved,
            "2000::", "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", global, "2001::", address_kind::protocol},
    net_row{"2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", global, "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
            address_kind::protocol, "2001:200::", global},
    net_row{"2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", global, "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
            address_kind::documentation, "2001:db9::", global},
    net_row{"3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", global, "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
            address_kind::documentation, "3fff:1000::", global},
    net_row{"3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", global, "4000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
            address_kind::reserved, "fc00::", address_kind::unique_local},
    net_row{"fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", address_kind::reserved, "fc00::",
            "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", address_kind::unique_local, "fe00::", address_kind::reserved},
    net_row{"fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff", address_kind::reserved, "fe80::",
            "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", address_kind::link_local, "fec0::", address_kind::unique_local},
    net_row{"febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", address_kind::link_local, "fec0::",
            "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", address_kind::unique_local, "ff00::", address_kind::multicast},
    net_row{"feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", address_kind::unique_local,
            "ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", address_kind::multicast, nullptr, global},
};

address_kind kind_of_text(const std::string& text) { return kind_of(asio::ip::make_address(text)); }

std::string as_6to4(const char* v4) {
    const auto b = asio::ip::make_address_v4(v4).to_bytes();
    asio::ip::address_v6::bytes_type bytes{0x20, 0x02, b[0], b[1], b[2], b[3], 0, 1, 0, 0, 0, 0, 0, 0, 0, 9};
    return asio::ip::address_v6(bytes).to_string();
}

} // namespace

TEST_CASE("kind_of_each_net_covers_its_first_and_last_address_only") {
    for (const net_row& row : net_rows) {
        INFO(row.first);
        CHECK(kind_of_text(row.first) == row.kind);
        CHECK(kind_of_text(row.last) == row.kind);
        if (row.before != nullptr) CHECK(kind_of_text(row.before) == row.before_kind);
        if (row.after != nullptr) CHECK(kind_of_text(row.after) == row.after_kind);
    }
}

TEST_CASE("kind_of_a_wrapped_address_is_that_of_the_inner_one") {
    for (const net_row& row : net_rows) {
        if (std::string(row.first).find(':') != std::string::npos) continue;
        for (const char* v4 : {row.first, row.last, row.after}) {
            INFO(v4);
            const address_kind kind = kind_of_text(v4);
            CHECK(kind_of_text(std::string("::ffff:") + v4) == kind);
            CHECK(kind_of_text(std::string("64:ff9b::") + v4) == kind);
            CHECK(kind_of_text(as_6to4(v4)) == kind);
        }
    }
    CHECK(kind_of_text("::7f00:1") == address_kind::loopback); // the deprecated form of 127.0.0.1
    CHECK(kind_of_text("::a9fe:a9fe") == address_kind::link_local);
    CHECK(kind_of_text("64:ff9b::1:0:0") == address_kind::reserved);
}

TEST_CASE("kind_of_public_addresses_is_global") {
    for (const char* text : {"8.8.8.8", "1.1.1.1", "193.0.0.1", "2606:4700:4700::1111", "2a00:1450:4001:81b::200e",
                             "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"})
        CHECK(kind_of_text(text) == address_kind::global);
}

TEST_CASE("ip_network_contains_what_shares_its_prefix") {
    const auto in = [](const char* net, const char* address) {
        return ip_network::from_text(net).contains(asio::ip::make_address(address));
    };
    CHECK(in("10.1.0.0/16", "10.1.0.0"));
    CHECK(in("10.1.0.0/16", "10.1.255.255"));
    CHECK(in("10.1.0.0/16", "::ffff:10.1.2.3"));
    CHECK(!in("10.1.0.0/16", "10.2.0.0"));
    CHECK(!in("10.1.0.0/16", "10.0.255.255"));
    CHECK(in("127.0.0.1", "127.0.0.1"));
    CHECK(!in("127.0.0.1", "127.0.0.2"));
    CHECK(!in("127.0.0.1", "::1"));
    CHECK(in("0.0.0.0/0", "255.1.2.3"));
    CHECK(!in("0.0.0.0/0", "fd00::1"));
    CHECK(in("fd00::/8", "fdff::1"));
    CHECK(!in("fd00::/8", "fc00::1"));
    CHECK(in("fe80::/10", "febf::1"));
    CHECK(!in("fe80::/10", "fec0::1"));
    CHECK(in("::1", "::1"));
    CHECK(in("::/0", "::ffff:10.0.0.1"));
    CHECK(!in("::/0", "10.0.0.1"));
}

TEST_CASE("ip_network_text_is_refused_if_it_is_not_one") {
    for (const char* text :
         {"", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8x", "10.0.0.0/ 8", "10.0.0.1/8", "10/8",
          "fd00::/129", "fd00::1/64", "localhost", "10.0.0.0/8/8", "fe80::1%lo", "0x7f.0.0.1"})
        CHECK_THROWS_AS(ip_network::from_text(text), std::invalid_argument);
    CHECK_THROWS_WITH(ip_network::from_text("10.0.0.1/8"),
                      doctest::Contains("'10.0.0.1/8' has bits beyond its prefix"));
    CHECK(ip_network::from_text("10.0.0.0/8").text() == "10.0.0.0/8");
    CHECK(ip_network::from_text("::1").text() == "::1/128");
}

TEST_CASE("ssrf_guard_allows_public_addresses_and_what_it_is_told") {
    const auto address = [](const char* text) { return asio::ip::make_address(text); };
    ssrf_guard guard;
    CHECK(guard.allows(address("8.8.8.8"), "dns.example"));
    CHECK(!guard.allows(address("127.0.0.1"), "dns.example"));
    guard.networks.push_back(ip_network::from_text("127.0.0.0/8"));
    CHECK(guard.allows(address("127.9.9.9"), "dns.example"));
    CHECK(guard.allows(address("::ffff:127.0.0.1"), "dns.example"));
    CHECK(!guard.allows(address("::1"), "dns.example"));
    guard.hosts.emplace_back("Internal.Example");
    CHECK(guard.allows(address("10.0.0.1"), "internal.example."));
    CHECK(!guard.allows(address("10.0.0.1"), "internal.example.org"));
    guard.allow_private = true;
    CHECK(guard.allows(address("10.0.0.1"), "other.example"));
}

TEST_CASE("address_kind_has_words") {
    check_names<address_kind>({{address_kind::global, "global"},
                               {address_kind::this_network, "this network"},
                               {address_kind::loopback, "loopback"},
                               {address_kind::private_use, "private"},
                               {address_kind::shared, "shared"},
                               {address_kind::link_local, "link-local"},
                               {address_kind::unique_local, "unique local"},
                               {address_kind::protocol, "protocol"},
                               {address_kind::documentation, "documentation"},
                               {address_kind::benchmarking, "benchmarking"},
                               {address_kind::multicast, "multicast"},
                               {address_kind::broadcast, "broadcast"},
                               {address_kind::reserved, "reserved"}});
}
