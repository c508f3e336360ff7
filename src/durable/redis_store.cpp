// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How calls reach the server, and hints the store.
#include "redis_store.hpp"

#include "redis_store_state.hpp"

#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <charconv>

namespace cogwheel::inline v0::detail {

namespace {
bool lacks_script(const redis_reply& r) { return r.is_error() && r.text().starts_with("NOSCRIPT"); }
} // namespace

redis_store::redis_store(const timer_wheel& wheel, asio::any_io_executor executor, durable_options options)
    : options_((options.validate(), std::move(options))),
      executor_(std::move(executor)),
      wheel_(&wheel),
      state_(std::make_shared<shared_state>()),
      client_(wheel, options_.redis) {
    shards_.reserve(options_.shards);
    for (std::uint32_t s = 0; s < options_.shards; ++s) shards_.emplace_back(library_, options_.name, s);
    client_.on_state([strand = executor_, weak = std::weak_ptr(state_)](bool connected, std::error_code ec) {
        asio::post(strand, [weak, connected, ec] {
            const auto state = weak.lock();
            if (!state || state->closed) return;
            if (!connected) {
                state->trouble = "the Redis server cannot be reached: " + ec.message();
                return;
            }
            const bool again = std::exchange(state->was_connected, true);
            if (again && state->hooks.on_connected) state->hooks.on_connected();
        });
    });
}

redis_store::~redis_store() { close(); }

void redis_store::close() noexcept {
    state_->closed = true;
    client_.close();
    if (subscription_) subscription_->close();
}

std::string redis_store::trouble() const { return state_->trouble; }

void redis_store::log(const std::string& line) const {
    if (options_.redis.log) options_.redis.log(line);
}

std::error_code redis_store::refuse(std::error_code ec, std::string words) {
    log(words);
    state_->trouble = std::move(words);
    return ec;
}

void redis_store::listen(hints h) {
    state_->hooks = std::move(h);
    subscription_.emplace(
        *wheel_, options_.redis, std::vector<std::string>{queue_names::channel(options_.name)},
        [strand = executor_, weak = std::weak_ptr(state_)](std::string_view, std::string_view payload) {
            asio::post(strand, [weak, text = std::string(payload)] {
                const auto state = weak.lock();
                if (!state || state->closed) return;
                std::uint32_t shard = 0;
                const char* const end = text.data() + text.size();
                const auto read = std::from_chars(text.data(), end, shard);
                if (text == "w") {
                    if (state->hooks.on_workers) state->hooks.on_workers();
                } else if (read.ec == std::errc() && read.ptr == end && state->hooks.on_wake) {
                    state->hooks.on_wake(shard);
                }
            });
        });
    // What was published while the subscription was broken is lost.
    subscription_->on_subscribed([strand = executor_, weak = std::weak_ptr(state_)] {
        asio::post(strand, [weak] {
            const auto state = weak.lock();
            if (!state || state->closed) return;
            const bool again = std::exchange(state->was_subscribed, true);
            if (again && state->hooks.on_connected) state->hooks.on_connected();
        });
    });
}

asio::awaitable<redis_store::sent> redis_store::send_commands(std::vector<redis_command> commands) {
    std::error_code ec;
    auto token = asio::redirect_error(asio::use_awaitable, ec);
    auto replies = co_await client_.async_commands(std::move(commands), token);
    sent s;
    s.error = ec;
    s.replies = std::move(replies);
    co_return s;
}

asio::awaitable<redis_store::sent> redis_store::send(calls all, std::span<const std::string> keys, bool confirm) {
    const bool waits = confirm && options_.durability.what() == durable_durability::kind::replicas;
    const std::string route(all.front().command.routing_key());
    const auto wait = [&] {
        return redis_command("WAIT")
            .add(options_.durability.count())
            .add(options_.replica_timeout.count())
            .route(route);
    };
    std::vector<redis_command> commands;
    for (const script_call& c : all) commands.push_back(c.command);
    if (waits) commands.push_back(wait());
    sent s = co_await send_commands(std::move(commands));
    if (s.error) co_return s;

    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (lacks_script(s.replies[i])) missing.push_back(i);
    if (!missing.empty()) {
        std::vector<redis_command> again;
        std::vector<const server_script*> loaded;
        for (const std::size_t i : missing) {
            const server_script* script = all[i].script;
            if (std::find(loaded.begin(), loaded.end(), script) != loaded.end()) continue;
            loaded.push_back(script);
            again.push_back(redis_command{"SCRIPT", "LOAD", script->text}.route(route));
        }
        for (const std::size_t i : missing) again.push_back(std::move(all[i].command));
        if (waits) again.push_back(wait());
        sent second = co_await send_commands(std::move(again));
        if (second.error) co_return second;
        for (std::size_t i = 0; i < missing.size(); ++i)
            s.replies[missing[i]] = std::move(second.replies[loaded.size() + i]);
        if (waits) s.replies.back() = std::move(second.replies.back());
    }

    if (waits) {
        const std::int64_t confirmed = s.replies.back().integer();
        if (confirmed < options_.durability.count()) {
            s.unconfirmed = durable_errc::durability_unknown;
            state_->trouble = std::to_string(confirmed) + " of " + std::to_string(options_.durability.count()) +
                              " replicas confirmed a change within " +
                              std::to_string(options_.replica_timeout.count()) +
                              " ms: the change may be lost with the master; see that the replicas run";
        }
        s.replies.pop_back();
    }
    for (const redis_reply& r : s.replies) {
        if (!r.is_error()) continue;
        s.error = r.error();
        state_->trouble = "the Redis server answers: " + r.text();
        if (s.error == durable_errc::wrong_type && !keys.empty()) {
            const std::error_code named = co_await name_wrong_type(keys);
            (void)named;
        }
        break;
    }
    co_return s;
}

asio::awaitable<redis_store::sent> redis_store::send(script_call call, std::uint32_t shard, bool confirm) {
    calls one;
    one.push_back(std::move(call));
    sent s = co_await send(std::move(one), shards_[shard].keys(), confirm);
    co_return s;
}

// Redis does not say which key has the wrong type.
asio::awaitable<std::error_code> redis_store::name_wrong_type(std::span<const std::string> keys) {
    std::vector<redis_command> commands;
    for (const std::string& k : keys) commands.push_back(redis_command("TYPE").key(k));
    sent s = co_await send_commands(std::move(commands));
    if (s.error) co_return s.error;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (s.replies[i].is_error()) co_return s.replies[i].error();
        const bool hash = i == 1 || i == 2 || i == 3 || i == 6; // shard_calls::key_names
        const std::string wanted = hash ? "hash" : "zset";
        const std::string& type = s.replies[i].text();
        if (type == wanted || type == "none") continue;
        co_return refuse(durable_errc::wrong_type,
                         "the key " + keys[i] + " holds a " + type + ", but a queue keeps a " + wanted +
                             " there; delete or rename it, or give the queue " + "another name");
    }
    co_return std::error_code();
}

} // namespace cogwheel::inline v0::detail
