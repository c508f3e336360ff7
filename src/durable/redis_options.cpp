// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "url_parts.hpp"

#include <cogwheel/detail/constant_name.hpp>
#include <cogwheel/durable/redis_options.hpp>

#include <stdexcept>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

namespace {

[[noreturn]] void refuse(const std::string& words) { throw std::invalid_argument("redis_options: " + words); }

constexpr std::string_view forms =
    "write redis://user:password@host:6379/0, rediss://..., unix:///path, sentinel://host:26379,host:26379/master or "
    "cluster://host:7000,host:7001";

void set_user(redis_options& o, std::string_view userinfo) {
    const auto colon = userinfo.find(':');
    const auto user = detail::percent_decode(userinfo.substr(0, colon));
    const auto password =
        detail::percent_decode(colon == userinfo.npos ? std::string_view() : userinfo.substr(colon + 1));
    if (!user || !password) refuse("a % in the URL's user or password is not followed by two hex digits: write %25");
    o.user = *user;
    o.password = *password;
    if (!o.user.empty() && o.password.empty())
        refuse("the URL has a user without a password: write user:password@, or :password@ for the default user");
}

void add_addresses(redis_options& o, std::string_view list, std::uint16_t default_port) {
    for (;;) {
        const auto comma = list.find(',');
        const auto one = list.substr(0, comma);
        const auto parsed = detail::host_and_port(one, default_port);
        if (!parsed)
            refuse("\"" + std::string(one) + "\" in the URL is not host or host:port (port 1..65535, IPv6 in [ ])");
        o.addresses.push_back({.host = parsed->first, .port = parsed->second});
        if (comma == list.npos) return;
        list.remove_prefix(comma + 1);
    }
}

std::uint32_t database_of(std::string_view text) {
    const auto n = detail::decimal(text, 1'000'000);
    if (!n) refuse("the database in the URL is not a number 0..1000000: write .../0");
    return static_cast<std::uint32_t>(*n);
}

void read_unix(redis_options& o, std::string_view rest) {
    const auto query = rest.find("?db=");
    if (query != rest.npos) o.database = database_of(rest.substr(query + 4));
    rest = rest.substr(0, query);
    const auto path = detail::percent_decode(rest);
    if (!path || path->empty() || (*path)[0] != '/') refuse("a unix socket needs an absolute path: write unix:///path");
    o.addresses.push_back({.host = {}, .path = *path});
}

void read_path(redis_options& o, std::string_view path) {
    if (o.topology == redis_topology::sentinel) {
        const auto slash = path.find('/');
        const auto name = detail::percent_decode(path.substr(0, slash));
        if (!name || name->empty()) refuse("the URL does not name the master: write sentinel://host:26379/master");
        o.master_name = *name;
        path = slash == path.npos ? std::string_view() : path.substr(slash + 1);
    }
    if (!path.empty()) o.database = database_of(path);
}

void check_limit(std::chrono::nanoseconds value, const char* name) {
    if (value > std::chrono::hours(24))
        refuse(std::string(name) + " is " + std::to_string(value.count()) + " ns: set it to at most a day");
    if (value <= std::chrono::nanoseconds::zero())
        refuse(std::string(name) + " is " + std::to_string(value.count()) + " ns: set it above zero, such as 2 s");
}

} // namespace

std::string redis_address::text() const {
    if (!path.empty()) return path;
    const bool v6 = host.find(':') != std::string::npos;
    return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

redis_options redis_options::from_url(std::string_view url) {
    redis_options o;
    const auto separator = url.find("://");
    // The URL is not repeated in messages: it may hold a password.
    if (separator == url.npos) refuse("the URL has no scheme: " + std::string(forms));
    const auto scheme = url.substr(0, separator);
    auto rest = url.substr(separator + 3);
    // The path of a unix socket may have an @; a password has none that is not encoded.
    const auto at = scheme == "unix" ? rest.substr(0, rest.find('/')).rfind('@') : rest.rfind('@');
    if (at != rest.npos) {
        set_user(o, rest.substr(0, at));
        rest.remove_prefix(at + 1);
    }
    if (scheme == "unix") {
        read_unix(o, rest);
        o.validate();
        return o;
    }
    std::uint16_t port = 6379;
    if (scheme == "rediss") {
        o.tls.enabled = true;
    } else if (scheme == "sentinel") {
        o.topology = redis_topology::sentinel;
        port = 26379;
    } else if (scheme == "cluster") {
        o.topology = redis_topology::cluster;
    } else if (scheme != "redis") {
        refuse("the URL's scheme \"" + std::string(scheme) + "\" is not known: " + std::string(forms));
    }
    const auto slash = rest.find('/');
    add_addresses(o, rest.substr(0, slash), port);
    if (o.topology == redis_topology::single && o.addresses.size() > 1)
        refuse("the URL has several hosts: give one, or use sentinel:// or cluster://");
    read_path(o, slash == rest.npos ? std::string_view() : rest.substr(slash + 1));
    o.validate();
    return o;
}

void redis_options::validate() const {
    if (addresses.empty()) refuse("there is no address: give at least one");
    for (const auto& a : addresses) {
        if (a.path.empty() && a.host.empty()) refuse("an address has neither a host nor a path: set one of them");
        if (a.path.empty() && a.port == 0) refuse("the port of " + a.host + " is 0: set it to 1..65535");
        if (a.path.size() > 107) refuse("the path of a unix socket has more than 107 bytes: use a shorter one");
    }
    if (topology == redis_topology::sentinel && master_name.empty())
        refuse("master_name is empty: set it to the name that the sentinels know, such as mymaster");
    if (topology == redis_topology::cluster && database != 0)
        refuse("database is " + std::to_string(database) + ": a cluster has only 0");
    if (!user.empty() && password.empty()) refuse("user is set and password is empty: set both, or none");
    if (!sentinel_user.empty() && sentinel_password.empty())
        refuse("sentinel_user is set and sentinel_password is empty: set both, or none");
    if (tls.certificate.empty() != tls.key.empty()) refuse("set both tls.certificate and tls.key, or none");
    check_limit(connect_timeout, "connect_timeout");
    check_limit(command_timeout, "command_timeout");
    if (max_in_flight == 0) refuse("max_in_flight is 0: set it to at least 1");
    if (max_reply == 0) refuse("max_reply is 0: set it to the longest reply in bytes, such as 64 MiB");
}

std::string_view to_string(redis_topology topology) noexcept {
    return detail::constant_name(topology, {"single", "sentinel", "cluster"});
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
