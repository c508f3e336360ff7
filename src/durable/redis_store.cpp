// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How calls reach the server, and hints the store.
#include "redis_store.hpp"

#include "redis_store_state.hpp"
#include "redis_subscription_impl.hpp"
#include "serial_log.hpp"

#include COGWHEEL_ASIO_HEADER(post.hpp)

#include <algorithm>
#include <charconv>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

durable_options with_serial_log(durable_options o) {
    o.redis = detail::with_serial_log(std::move(o.redis));
    return o;
}

} // namespace

void redis_store::shared_state::hint(std::string_view payload) const {
    if (payload == "w") {
        if (hooks.on_workers) hooks.on_workers();
        return;
    }
    if (payload == "a") {
        if (hooks.on_alive) hooks.on_alive();
        return;
    }
    const bool soon = !payload.starts_with('+');
    if (!soon) payload.remove_prefix(1);
    std::uint32_t shard = 0;
    const char* const end = payload.data() + payload.size();
    const auto read = std::from_chars(payload.data(), end, shard);
    if (read.ec == std::errc() && read.ptr == end && hooks.on_wake) hooks.on_wake(shard, soon);
}

redis_store::redis_store(const timer_wheel& wheel, asio::any_io_executor executor, durable_options options)
    : options_((options.validate(), with_serial_log(std::move(options)))),
      executor_(std::move(executor)),
      wheel_(&wheel),
      state_(std::make_shared<shared_state>()),
      client_(std::make_shared<redis_client>(wheel, options_.redis)) {
    if (options_.durability.what() == durable_durability::kind::replicas)
        confirmed_.emplace(wheel, executor_, options_);
    shards_.reserve(options_.shards);
    for (std::uint32_t s = 0; s < options_.shards; ++s) shards_.emplace_back(library_, options_.name, s);
    subscription_ = std::make_shared<redis_subscription_impl>(
        wheel, std::make_shared<const redis_options>(options_.redis),
        std::vector<std::string>{queue_names::channel(options_.name)},
        [strand = executor_, weak = std::weak_ptr(state_)](std::string_view, std::string_view payload) {
            asio::post(strand, [weak, text = std::string(payload)] {
                const auto state = weak.lock();
                if (state && !state->closed) state->hint(text);
            });
        });
    // What was published before, or while the subscription was broken, is lost.
    subscription_->set_on_subscribed([strand = executor_, weak = std::weak_ptr(state_)] {
        asio::post(strand, [weak] {
            const auto state = weak.lock();
            if (state && !state->closed && state->hooks.on_connected) state->hooks.on_connected();
        });
    });
    client_->on_state([strand = executor_, weak = std::weak_ptr(state_)](bool connected, error_code ec) {
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
    client_->close();
    if (confirmed_) confirmed_->close();
    subscription_->close();
}

std::string redis_store::trouble() const { return state_->trouble; }

void redis_store::log(const std::string& line) const {
    if (options_.redis.log) options_.redis.log(line);
}

error_code redis_store::refuse(error_code ec, std::string words) {
    if (words != state_->trouble) log(words); // open() may look again and again
    state_->trouble = std::move(words);
    return ec;
}

void redis_store::listen(hints h) {
    state_->hooks = std::move(h);
    if (!state_->closed) subscription_->run();
}

asio::awaitable<redis_store::sent> redis_store::send_commands(std::vector<redis_command> commands) {
    sent_calls answer = co_await detail::send_commands(client_, std::move(commands));
    if (answer.error) state_->trouble = "a call of the Redis server failed: " + answer.error.message();
    sent s;
    s.error = answer.error;
    s.replies = std::move(answer.replies);
    co_return s;
}

asio::awaitable<redis_store::sent> redis_store::exchange(calls all, bool confirm) {
    sent_calls answer;
    if (confirm && confirmed_)
        answer = co_await confirmed_->send(std::move(all));
    else
        answer = co_await send_calls(client_, std::move(all), replica_wait());
    sent s;
    s.error = answer.error;
    s.replies = std::move(answer.replies);
    if (s.error) {
        state_->trouble = "a call of the Redis server failed: " + s.error.message();
        co_return s;
    }
    if (confirm && confirmed_ && answer.confirmed < options_.durability.count()) {
        s.unconfirmed = durable_errc::durability_unknown;
        state_->trouble = std::to_string(answer.confirmed) + " of " + std::to_string(options_.durability.count()) +
                          " replicas confirmed a change within " + std::to_string(options_.replica_timeout.count()) +
                          " ms: the change may be lost with the master; see that the replicas run";
    }
    co_return s;
}

asio::awaitable<error_code> redis_store::explain(const redis_reply& r, std::span<const std::string> keys) {
    const error_code ec = r.error();
    // Named first: what is said again is not logged again.
    if (ec == durable_errc::wrong_type && !keys.empty()) {
        const error_code named = co_await name_wrong_type(keys);
        if (named == ec) co_return ec;
    }
    state_->trouble = "the Redis server answers: " + r.text();
    co_return ec;
}

asio::awaitable<redis_store::sent> redis_store::send(calls all, std::span<const std::string> keys, bool confirm) {
    sent s = co_await exchange(std::move(all), confirm);
    if (s.error) co_return s;
    const auto wrong = std::find_if(s.replies.begin(), s.replies.end(), [](const auto& r) { return r.is_error(); });
    if (wrong != s.replies.end()) s.error = co_await explain(*wrong, keys);
    co_return s;
}

asio::awaitable<redis_store::sent> redis_store::send(script_call call, std::uint32_t shard, bool confirm) {
    calls one;
    one.push_back(std::move(call));
    sent s = co_await send(std::move(one), shards_[shard].keys(), confirm);
    co_return s;
}

// Redis does not say which key has the wrong type.
asio::awaitable<error_code> redis_store::name_wrong_type(std::span<const std::string> keys) {
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
        std::string words = "the key ";
        words.append(keys[i]).append(" holds a ").append(type).append(", but a queue keeps a ").append(wanted);
        words += " there; delete or rename it, or give the queue another name";
        co_return refuse(durable_errc::wrong_type, std::move(words));
    }
    co_return error_code();
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
