// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "script_pipeline.hpp"

#include COGWHEEL_ASIO_HEADER(redirect_error.hpp)
#include COGWHEEL_ASIO_HEADER(use_awaitable.hpp)

#include <algorithm>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

bool lacks_script(const redis_reply& r) { return r.is_error() && r.text().starts_with("NOSCRIPT"); }

// On the connection of the changes: WAIT counts the replicas that have what this connection has written.
void add_wait(std::vector<redis_command>& to, const replica_wait& wait, const std::string& route) {
    if (wait.replicas == 0) return;
    to.push_back(redis_command("WAIT").add(wait.replicas).add(wait.timeout.count()).route(route));
}

std::int64_t take_confirmed(std::vector<redis_reply>& replies) {
    const std::int64_t n = replies.back().integer();
    replies.pop_back();
    return n;
}

} // namespace

asio::awaitable<sent_calls> send_commands(std::weak_ptr<redis_client> to, std::vector<redis_command> commands) {
    sent_calls s;
    auto client = to.lock();
    if (!client) {
        s.error = asio::error::operation_aborted;
        co_return s;
    }
    auto token = asio::redirect_error(asio::use_awaitable, s.error);
    auto operation = client->async_commands(std::move(commands), token);
    client.reset(); // the client's owner decides when it ends
    s.replies = co_await std::move(operation);
    co_return s;
}

asio::awaitable<sent_calls> send_calls(std::weak_ptr<redis_client> to, std::vector<script_call> all,
                                       replica_wait wait) {
    const std::string route(all.front().command.routing_key());
    std::vector<redis_command> commands;
    commands.reserve(all.size() + 1);
    for (const script_call& c : all) commands.push_back(c.command);
    add_wait(commands, wait, route);
    sent_calls s = co_await send_commands(to, std::move(commands));
    if (s.error) co_return s;
    if (wait.replicas > 0) s.confirmed = take_confirmed(s.replies);

    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (lacks_script(s.replies[i])) missing.push_back(i);
    if (missing.empty()) co_return s;
    std::vector<redis_command> again;
    std::vector<const server_script*> loaded;
    for (const std::size_t i : missing) {
        const server_script* script = all[i].script;
        if (std::find(loaded.begin(), loaded.end(), script) != loaded.end()) continue;
        loaded.push_back(script);
        again.push_back(redis_command{"SCRIPT", "LOAD", script->text}.route(route));
    }
    for (const std::size_t i : missing) again.push_back(std::move(all[i].command));
    add_wait(again, wait, route);
    sent_calls second = co_await send_commands(to, std::move(again));
    if (second.error) {
        if (missing.size() < all.size()) second.error = durable_errc::disconnected; // the others were executed
        co_return second;
    }
    if (wait.replicas > 0) {
        // The second round may have had another connection.
        const std::int64_t confirmed = take_confirmed(second.replies);
        s.confirmed = missing.size() == all.size() ? confirmed : std::min(s.confirmed, confirmed);
    }
    for (std::size_t i = 0; i < missing.size(); ++i)
        s.replies[missing[i]] = std::move(second.replies[loaded.size() + i]);
    co_return s;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
