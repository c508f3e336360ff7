// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Decides which addresses a callback may reach. Whoever may schedule a callback chooses its URL. Without a guard, such
// a URL could reach services inside the network that trust every caller, such as a cloud's metadata at 169.254.169.254:
// server-side request forgery (CWE-918).
//
// The guard sees the resolved address, just before the connection. So the spelling of the URL does not matter, and
// neither does a name that resolves to another address the second time.
//
// By default only addresses of the public internet are allowed. The nets are those of the IANA registries of special
// addresses (RFC 6890 and its updates). IPv4 addresses inside IPv6 ones are unwrapped: ::ffff:0:0/96, ::/96,
// 64:ff9b::/96 (NAT64), 2002::/16 (6to4).
#pragma once

#include <cogwheel/detail/which_asio.hpp>

#include COGWHEEL_ASIO_HEADER(ip/address.hpp)

#include <string>
#include <string_view>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// What an address is for.
enum class address_kind : std::uint8_t {
    global,        ///< the public internet
    this_network,  ///< 0.0.0.0/8, ::
    loopback,      ///< 127.0.0.0/8, ::1
    private_use,   ///< 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16
    shared,        ///< 100.64.0.0/10: a provider's network
    link_local,    ///< 169.254.0.0/16, fe80::/10: also the metadata service of clouds
    unique_local,  ///< fc00::/7, and fec0::/10, which it replaces
    protocol,      ///< 192.0.0.0/24, 192.88.99.0/24, 2001::/23, 64:ff9b:1::/48, 100::/64: of protocols, not hosts
    documentation, ///< 192.0.2.0/24, 198.51.100.0/24, 203.0.113.0/24, 2001:db8::/32, 3fff::/20
    benchmarking,  ///< 198.18.0.0/15
    multicast,     ///< 224.0.0.0/4, ff00::/8
    broadcast,     ///< 255.255.255.255
    reserved,      ///< 240.0.0.0/4, and IPv6 outside of 2000::/3
};

/// Returns the words for a message, such as "loopback".
std::string_view to_string(address_kind) noexcept;

/// Returns what the address is for; of an IPv4 address inside an IPv6 one, what the IPv4 one is for.
/// Complexity: O(1), no allocation.
address_kind kind_of(const asio::ip::address& address) noexcept;

/// The addresses that share a prefix.
class ip_network {
public:
    /// Parses "10.0.0.0/8", "fd00::/8", or an address alone. Errors: std::invalid_argument: not an address, a prefix
    /// that is too long, or bits that are set beyond it (probably a mistake).
    static ip_network from_text(std::string_view text);

    /// Returns true if the address is in the network. Complexity: O(1).
    bool contains(const asio::ip::address& address) const noexcept;

    std::string text() const;

private:
    ip_network(const asio::ip::address& a, unsigned prefix) noexcept : address_(a), prefix_(prefix) {}

    asio::ip::address address_;
    unsigned prefix_;
};

/// What is allowed beside the public internet. An allowed network or host may be private.
struct ssrf_guard {
    bool allow_private = false;         ///< allows every address: for a service whose callers are all trusted
    std::vector<ip_network> networks{}; ///< their addresses are allowed, also if wrapped in IPv6
    std::vector<std::string> hosts{};   ///< names, as in the URL, whose addresses are all allowed; case does not matter

    /// Returns true if `host`, a name in a URL, is one of the hosts.
    bool allows_host(std::string_view host) const noexcept;

    /// Returns true if a connection to the address may be opened for a URL with this host.
    /// Complexity: O(networks + hosts), no allocation. Thread safety: any thread, while no thread changes the guard.
    bool allows(const asio::ip::address& address, std::string_view host) const noexcept;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
