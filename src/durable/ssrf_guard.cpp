// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include <cogwheel/detail/constant_name.hpp>
#include <cogwheel/durable/ssrf_guard.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <stdexcept>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

namespace {

struct net4 {
    std::uint32_t first;
    unsigned prefix;
    address_kind kind;
};

constexpr std::uint32_t quad(unsigned a, unsigned b, unsigned c, unsigned d) noexcept {
    return (a << 24) | (b << 16) | (c << 8) | d;
}

// The first net that fits counts.
constexpr std::array nets4{
    net4{quad(0, 0, 0, 0), 8, address_kind::this_network},
    net4{quad(10, 0, 0, 0), 8, address_kind::private_use},
    net4{quad(100, 64, 0, 0), 10, address_kind::shared},
    net4{quad(127, 0, 0, 0), 8, address_kind::loopback},
    net4{quad(169, 254, 0, 0), 16, address_kind::link_local},
    net4{quad(172, 16, 0, 0), 12, address_kind::private_use},
    net4{quad(192, 0, 0, 0), 24, address_kind::protocol},
    net4{quad(192, 0, 2, 0), 24, address_kind::documentation},
    net4{quad(192, 88, 99, 0), 24, address_kind::protocol},
    net4{quad(192, 168, 0, 0), 16, address_kind::private_use},
    net4{quad(198, 18, 0, 0), 15, address_kind::benchmarking},
    net4{quad(198, 51, 100, 0), 24, address_kind::documentation},
    net4{quad(203, 0, 113, 0), 24, address_kind::documentation},
    net4{quad(224, 0, 0, 0), 4, address_kind::multicast},
    net4{quad(255, 255, 255, 255), 32, address_kind::broadcast},
    net4{quad(240, 0, 0, 0), 4, address_kind::reserved},
};

using bytes16 = asio::ip::address_v6::bytes_type;

struct net6 {
    std::array<std::uint8_t, 6> first;
    unsigned prefix;
    address_kind kind;
};

constexpr std::array nets6{
    net6{{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48, address_kind::protocol}, // NAT64 of a local network
    net6{{0x20, 0x01, 0x0d, 0xb8, 0x00, 0x00}, 32, address_kind::documentation},
    net6{{0x20, 0x01, 0x00, 0x00, 0x00, 0x00}, 23, address_kind::protocol}, // Teredo, ORCHID, benchmarking
    net6{{0x3f, 0xff, 0x00, 0x00, 0x00, 0x00}, 20, address_kind::documentation},
    net6{{0xfc, 0x00, 0x00, 0x00, 0x00, 0x00}, 7, address_kind::unique_local},
    net6{{0xfe, 0x80, 0x00, 0x00, 0x00, 0x00}, 10, address_kind::link_local},
    net6{{0xfe, 0xc0, 0x00, 0x00, 0x00, 0x00}, 10, address_kind::unique_local},
    net6{{0xff, 0x00, 0x00, 0x00, 0x00, 0x00}, 8, address_kind::multicast},
    net6{{0x20, 0x00, 0x00, 0x00, 0x00, 0x00}, 3, address_kind::global},
};

bool same_prefix(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b, unsigned bits) noexcept {
    const std::size_t whole = bits / 8;
    if (!std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(whole), b.begin())) return false;
    const unsigned rest = bits % 8;
    return rest == 0 || ((a[whole] ^ b[whole]) >> (8 - rest)) == 0;
}

std::uint32_t quad_at(const bytes16& b, std::size_t at) noexcept {
    return quad(b[at], b[at + 1], b[at + 2], b[at + 3]);
}

bool all_zero(const bytes16& b, std::size_t first, std::size_t last) noexcept {
    return std::all_of(b.begin() + static_cast<std::ptrdiff_t>(first), b.begin() + static_cast<std::ptrdiff_t>(last),
                       [](std::uint8_t byte) { return byte == 0; });
}

/// The IPv4 address inside an IPv6 one.
std::optional<std::uint32_t> unwrapped(const bytes16& b) noexcept {
    if (all_zero(b, 0, 10) && b[10] == 0xff && b[11] == 0xff) return quad_at(b, 12);
    if (all_zero(b, 0, 12) && !all_zero(b, 12, 15)) return quad_at(b, 12); // deprecated; :: and ::1 are addresses
    if (b[0] == 0x00 && b[1] == 0x64 && b[2] == 0xff && b[3] == 0x9b && all_zero(b, 4, 12)) return quad_at(b, 12);
    if (b[0] == 0x20 && b[1] == 0x02) return quad_at(b, 2);
    return std::nullopt;
}

address_kind kind_of_v4(std::uint32_t address) noexcept {
    const auto* const net = std::find_if(nets4.begin(), nets4.end(),
                                         [&](const net4& n) { return ((address ^ n.first) >> (32 - n.prefix)) == 0; });
    return net == nets4.end() ? address_kind::global : net->kind;
}

address_kind kind_of_v6(const bytes16& b) noexcept {
    if (const auto v4 = unwrapped(b)) return kind_of_v4(*v4);
    if (all_zero(b, 0, 15)) {
        if (b[15] == 0) return address_kind::this_network;
        if (b[15] == 1) return address_kind::loopback;
    }
    if (b[0] == 0x01 && all_zero(b, 1, 8)) return address_kind::protocol; // 100::/64, to discard
    const auto* const net =
        std::find_if(nets6.begin(), nets6.end(), [&](const net6& n) { return same_prefix(b, n.first, n.prefix); });
    return net == nets6.end() ? address_kind::reserved : net->kind;
}

[[noreturn]] void refuse_network(std::string_view text, const std::string& why) {
    throw std::invalid_argument("cogwheel::ip_network: '" + std::string(text) + "' " + why +
                                "; write an address and a prefix, such as 10.0.0.0/8 or fd00::/8");
}

bool same_host(std::string_view a, std::string_view b) noexcept {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
    if (a.ends_with('.')) a.remove_suffix(1);
    if (b.ends_with('.')) b.remove_suffix(1);
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

} // namespace

std::string_view to_string(address_kind kind) noexcept {
    return detail::constant_name(kind, {"global", "this network", "loopback", "private", "shared", "link-local",
                                        "unique local", "protocol", "documentation", "benchmarking", "multicast",
                                        "broadcast", "reserved"});
}

address_kind kind_of(const asio::ip::address& address) noexcept {
    return address.is_v4() ? kind_of_v4(address.to_v4().to_uint()) : kind_of_v6(address.to_v6().to_bytes());
}

ip_network ip_network::from_text(std::string_view text) {
    const std::size_t slash = text.find('/');
    error_code ec;
    const auto address = asio::ip::make_address(std::string(text.substr(0, slash)), ec);
    if (ec || (address.is_v6() && address.to_v6().scope_id() != 0)) refuse_network(text, "is not an IP address");
    const unsigned most = address.is_v4() ? 32 : 128;
    unsigned prefix = most;
    if (slash != text.npos) {
        const std::string_view digits = text.substr(slash + 1);
        const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), prefix);
        if (error != std::errc() || rest != digits.data() + digits.size() || prefix > most)
            refuse_network(text, "has no prefix from 0 to " + std::to_string(most));
    }
    bytes16 bytes{};
    if (address.is_v4()) {
        const auto four = address.to_v4().to_bytes();
        std::copy(four.begin(), four.end(), bytes.begin());
    } else {
        bytes = address.to_v6().to_bytes();
    }
    for (unsigned bit = prefix; bit < most; ++bit)
        if ((bytes[bit / 8] >> (7 - bit % 8) & 1) != 0) refuse_network(text, "has bits beyond its prefix");
    return {address, prefix};
}

bool ip_network::contains(const asio::ip::address& address) const noexcept {
    if (address_.is_v6())
        return address.is_v6() && same_prefix(address_.to_v6().to_bytes(), address.to_v6().to_bytes(), prefix_);
    const std::optional<std::uint32_t> v4 =
        address.is_v4() ? address.to_v4().to_uint() : unwrapped(address.to_v6().to_bytes());
    return v4 && (prefix_ == 0 || ((*v4 ^ address_.to_v4().to_uint()) >> (32 - prefix_)) == 0);
}

std::string ip_network::text() const { return address_.to_string() + "/" + std::to_string(prefix_); }

bool ssrf_guard::allows_host(std::string_view host) const noexcept {
    return std::any_of(hosts.begin(), hosts.end(), [&](const std::string& h) { return same_host(h, host); });
}

bool ssrf_guard::allows(const asio::ip::address& address, std::string_view host) const noexcept {
    return allow_private || kind_of(address) == address_kind::global ||
           std::any_of(networks.begin(), networks.end(), [&](const ip_network& n) { return n.contains(address); }) ||
           allows_host(host);
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
