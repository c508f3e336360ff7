// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Whether a server can hold a queue. Each refusal says what is wrong, what is wanted, and what to do.
#include "redis_store.hpp"
#include "redis_store_state.hpp"
#include "server_check.hpp"

#include <cogwheel/asio/wheel_timer.hpp>

#include COGWHEEL_ASIO_HEADER(redirect_error.hpp)
#include COGWHEEL_ASIO_HEADER(use_awaitable.hpp)

#include <chrono>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

constexpr std::chrono::seconds failover_patience(10);

bool passes(error_code ec) {
    return ec == durable_errc::disconnected || ec == durable_errc::not_connected || ec == durable_errc::server_busy;
}

} // namespace

asio::awaitable<redis_store::sent> redis_store::ask_all(redis_command command) {
    error_code ec;
    auto token = asio::redirect_error(asio::use_awaitable, ec);
    auto replies = co_await client_->async_on_all(std::move(command), token);
    sent s;
    s.error = ec;
    s.replies = std::move(replies);
    co_return s;
}

asio::awaitable<error_code> redis_store::open() {
    // A failover may be under way: then the new master has no replica yet, or the old one has just become one.
    const bool may_fail_over = options_.redis.topology != redis_topology::single;
    const auto until =
        std::chrono::steady_clock::now() + (may_fail_over ? failover_patience : failover_patience.zero());
    for (;;) {
        error_code ec;
        auto token = asio::redirect_error(asio::use_awaitable, ec);
        co_await client_->async_wait_connected(token);
        if (!ec && confirmed_) co_await confirmed_->client().async_wait_connected(token);
        if (ec == durable_errc::access_denied)
            co_return refuse(ec, "the Redis server refuses the user or the password; check both, and the server's ACL");
        if (ec) co_return ec;
        ec = co_await check();
        const bool may_pass = ec == durable_errc::wrong_server || ec == durable_errc::durability_refused;
        if (!passes(ec) && !(may_pass && std::chrono::steady_clock::now() < until)) co_return ec;
        // It loads its data, or fails over.
        error_code ignored;
        auto pause = asio::redirect_error(asio::use_awaitable, ignored);
        wheel_timer timer(*wheel_, std::chrono::milliseconds(100));
        co_await timer.async_wait(pause);
        if (state_->closed) co_return asio::error::operation_aborted;
    }
}

asio::awaitable<error_code> redis_store::check() {
    error_code ec = co_await check_info();
    if (!ec) ec = co_await check_policy();
    if (!ec) ec = co_await check_shards();
    for (std::uint32_t s = 0; s < shards() && !ec; ++s) ec = co_await name_wrong_type(shards_[s].keys());
    if (!ec) state_->trouble.clear();
    co_return ec;
}

asio::awaitable<error_code> redis_store::check_info() {
    redis_command info("INFO");
    sent s = co_await ask_all(std::move(info));
    if (s.error) co_return s.error;
    for (const redis_reply& r : s.replies) {
        if (r.error() == durable_errc::access_denied) {
            log("the user may not run INFO: version, role and durability of the Redis server are not checked");
            continue;
        }
        if (r.is_error()) co_return refuse(r.error(), "the Redis server answers to INFO: " + r.text());
        server_refusal refusal = check_server(r.text(), options_.durability);
        if (refusal.error) co_return refuse(refusal.error, std::move(refusal.words));
    }
    co_return error_code();
}

asio::awaitable<error_code> redis_store::check_policy() {
    redis_command get{"CONFIG", "GET", "maxmemory-policy"};
    sent s = co_await ask_all(std::move(get));
    if (s.error) co_return s.error;
    for (const redis_reply& r : s.replies) {
        if (r.is_error() && passes(r.error())) co_return r.error();
        if (r.is_error() || r.elements().size() != 2) {
            log("the user may not run CONFIG GET: see that maxmemory-policy of the Redis server is noeviction");
            continue;
        }
        const std::string& policy = r.elements()[1].text();
        if (policy != "noeviction")
            co_return refuse(durable_errc::wrong_server,
                             "maxmemory-policy of the Redis server is " + policy +
                                 ": a full server would drop tasks; set it to noeviction (CONFIG SET maxmemory-policy "
                                 "noeviction, and redis.conf)");
    }
    co_return error_code();
}

asio::awaitable<error_code> redis_store::check_shards() {
    const std::string key = queue_names::key(options_.name, "shards");
    std::vector<redis_command> commands;
    commands.push_back(redis_command("SETNX").key(key).add(options_.shards));
    commands.push_back(redis_command("GET").key(key));
    sent s = co_await send_commands(std::move(commands));
    if (s.error) co_return s.error;
    // A full server refuses SETNX even if the key exists.
    const redis_reply& r = s.replies[1].is_error() || s.replies[1].is_nil() ? s.replies[0] : s.replies[1];
    if (r.is_error()) {
        if (passes(r.error())) co_return r.error();
        co_return refuse(r.error(), "the Redis server answers for the key " + key + ": " + r.text());
    }
    if (r.text() == std::to_string(options_.shards)) co_return error_code();
    co_return refuse(durable_errc::wrong_server, "the queue \"" + options_.name + "\" has " + s.replies[1].text() +
                                                     " shards, but the options ask for " +
                                                     std::to_string(options_.shards) + "; set shards to " +
                                                     s.replies[1].text() + ", or give the queue another name");
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
