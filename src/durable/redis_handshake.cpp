// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "redis_handshake.hpp"

#include <charconv>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

redis_role read_role(const redis_reply& reply) {
    if (reply.elements().empty()) return redis_role::unknown;
    const auto& word = reply.elements()[0].text();
    if (word == "master") return redis_role::master;
    if (word == "slave") return redis_role::replica;
    return word == "sentinel" ? redis_role::sentinel : redis_role::unknown;
}

const char* name_of(handshake_step step) {
    switch (step) {
    case handshake_step::auth:
        return "AUTH";
    case handshake_step::select:
        return "SELECT";
    case handshake_step::info:
        return "INFO";
    case handshake_step::role:
        return "ROLE";
    default:
        return "PING";
    }
}

// A first reply of any text may be the server's goodbye: "ERR max number of clients reached".
bool is_fatal(handshake_step step, const redis_reply& reply) {
    if (!reply.is_error()) return false;
    return step == handshake_step::auth || step == handshake_step::select || !reply.text().starts_with("NOPERM");
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

error_code error_of(handshake_step step, const redis_reply& reply) {
    const std::string_view text = reply.text();
    if (contains(text, "max number of clients")) return durable_errc::server_busy;
    // "ERR invalid password", "ERR AUTH <password> called without any password configured"
    const bool login = contains(text, "AUTH") || contains(text, "password");
    if (step == handshake_step::auth && text.starts_with("ERR") && login) return durable_errc::access_denied;
    return reply.error();
}

// A server that does not know AUTH repeats its arguments, which it may cut off.
std::string harmless(std::string_view text, std::string_view secret) {
    text = text.substr(0, text.find(", with args"));
    if (!secret.empty() && contains(text, secret)) return "an error whose words hold the password";
    return std::string(text);
}

} // namespace

handshake make_handshake(const redis_options& o, bool sentinel) {
    handshake h;
    const auto step = [&h](handshake_step s, redis_command c) {
        h.steps.push_back(s);
        h.commands.push_back(std::move(c));
    };
    const auto& user = sentinel ? o.sentinel_user : o.user;
    const auto& password = sentinel ? o.sentinel_password : o.password;
    h.secret = password;
    if (!password.empty()) {
        redis_command auth("AUTH");
        if (!user.empty()) auth.add(user);
        auth.add(password);
        step(handshake_step::auth, std::move(auth));
    }
    if (!sentinel && o.database != 0) step(handshake_step::select, redis_command("SELECT").add(o.database));
    step(handshake_step::info, redis_command{"INFO", "server"});
    step(handshake_step::role, redis_command{"ROLE"});
    step(handshake_step::ping, redis_command{"PING"}); // the only one that a loading server refuses
    return h;
}

server_facts read_handshake(const handshake& made, std::span<const redis_reply> replies, std::string_view user) {
    server_facts facts;
    for (std::size_t i = 0; i < made.steps.size() && i < replies.size(); ++i) {
        const auto step = made.steps[i];
        const auto& reply = replies[i];
        if (is_fatal(step, reply)) {
            facts.error = error_of(step, reply);
            facts.message = std::string(name_of(step)) + " as user \"" + std::string(user.empty() ? "default" : user) +
                            "\": " + harmless(reply.text(), made.secret);
            return facts;
        }
        if (step == handshake_step::info) {
            facts.version = read_version(reply.text());
            facts.server = server_name(reply.text());
        }
        if (step == handshake_step::role) facts.role = read_role(reply);
    }
    return facts;
}

int read_version(std::string_view info) noexcept {
    constexpr std::string_view name = "redis_version:";
    const auto at = info.find(name);
    if (at == info.npos) return 0;
    const char* p = info.data() + at + name.size();
    const char* const end = info.data() + info.size();
    int version = 0;
    for (int part = 0; part < 3; ++part) {
        unsigned n = 0;
        const auto [next, ec] = std::from_chars(p, end, n);
        if (ec != std::errc() || n > 99) return 0;
        version = version * 100 + static_cast<int>(n);
        p = next != end && *next == '.' ? next + 1 : next;
    }
    return version;
}

std::string server_name(std::string_view info) {
    for (const auto& [field, name] : {std::pair{"valkey_version:", "Valkey "}, std::pair{"redis_version:", "Redis "}}) {
        const auto at = info.find(field);
        if (at == info.npos) continue;
        const std::string_view version = info.substr(at + std::string_view(field).size(), 20);
        return name + std::string(version.substr(0, version.find_first_not_of("0123456789.")));
    }
    return "a server of unknown version";
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
