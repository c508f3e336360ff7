// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Durable tasks in a Redis server, a group with sentinels, or a cluster: each change is one call of a script.
//
// - Calls of more tasks than a script takes at once (max_script_batch) become several, in one pipeline: each is a
//   whole. In begin(), an occurrence counts as a task. begin() and finish() may need two pipelines (attempt_calls.hpp).
// - A server that has lost its scripts (restart, failover, SCRIPT FLUSH) answers NOSCRIPT: the store loads them and
//   repeats these calls.
// - With durability replicas(n), add, cancel, reschedule and hold wait for n replicas. If these do not confirm in time,
//   the error is durability_unknown, and the answer has its values. Calls of other kinds do not wait behind them.
#pragma once

#include "attempt_calls.hpp"
#include "confirmed_calls.hpp"
#include "shard_calls.hpp"

#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/durable/durable_options.hpp>
#include <cogwheel/durable/redis_client.hpp>

#include COGWHEEL_ASIO_HEADER(any_io_executor.hpp)

#include <memory>
#include <optional>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

class redis_subscription_impl;

/// Lifetime: the wheel exists until open() has completed; the store outlives its calls.
class redis_store final : public task_store {
public:
    /// executor: the strand of all calls and hints. Starts to connect. Errors: std::invalid_argument (options).
    redis_store(const timer_wheel& wheel, asio::any_io_executor executor, durable_options options);
    ~redis_store() override;

    std::uint32_t shards() const noexcept override { return options_.shards; }
    asio::awaitable<error_code> open() override;
    void close() noexcept override;
    std::string trouble() const override;

    awaitable_answer<std::vector<added_task>> add(std::uint32_t shard, std::vector<new_task>, on_duplicate) override;
    awaitable_answer<claimed_tasks> claim(std::uint32_t shard, std::int64_t horizon_ms, std::uint32_t n,
                                          std::int64_t lease_ms, const retention_limits&) override;
    awaitable_answer<begun_tasks> begin(std::int64_t lease_ms, std::uint32_t nonce,
                                        std::span<const begin_request>) override;
    awaitable_answer<std::vector<std::optional<bool>>> finish(const retention_limits&,
                                                              std::span<const finish_request>) override;
    awaitable_answer<std::vector<extended>> extend(std::uint32_t shard, std::int64_t lease_ms,
                                                   std::vector<attempt_ref>) override;
    awaitable_answer<removal> cancel(std::string id) override;
    awaitable_answer<removal> reschedule(std::string id, std::int64_t due, bool relative, added_task& now) override;
    awaitable_answer<removal> hold(std::string id, bool held) override;
    awaitable_answer<stored_task> find(std::string id) override;
    awaitable_answer<stored_page> list(std::string cursor, std::uint32_t n) override;
    awaitable_answer<stored_page> dead(std::string cursor, std::uint32_t n) override;
    awaitable_answer<bool> redrive(std::string id) override;
    awaitable_answer<bool> purge(std::string id) override;
    asio::awaitable<error_code> pause(bool paused) override;
    awaitable_answer<shard_counts> counts(std::uint32_t shard) override;
    awaitable_answer<audit_step> audit(std::uint32_t shard, std::string cursor, std::uint32_t n) override;
    awaitable_answer<live_workers> heartbeat(std::string worker, std::int64_t ttl_ms) override;
    asio::awaitable<error_code> retire(std::string worker) override;
    void listen(hints) override;

private:
    struct shared_state; // what the hooks of the client use: they may run after the store
    struct sent {
        error_code error{};
        error_code unconfirmed{}; // by the replicas
        std::vector<redis_reply> replies{};
    };
    using calls = std::vector<script_call>;

    /// keys: those of the calls' shard, to name one of a wrong type; may be empty.
    asio::awaitable<sent> send(calls, std::span<const std::string> keys, bool confirm);
    asio::awaitable<sent> send(script_call, std::uint32_t shard, bool confirm = false);
    /// Without a look at the replies.
    asio::awaitable<sent> exchange(calls, bool confirm);
    asio::awaitable<sent> send_commands(std::vector<redis_command>);
    /// What an error reply says. keys: as of send().
    asio::awaitable<error_code> explain(const redis_reply&, std::span<const std::string> keys);
    template <class Ways>
    asio::awaitable<error_code> send(attempt_calls<Ways>&);
    asio::awaitable<error_code> name_wrong_type(std::span<const std::string> keys);
    awaitable_answer<std::int64_t> ask_integer(script_call, std::uint32_t shard, bool confirm = false);

    asio::awaitable<error_code> check();
    asio::awaitable<error_code> check_info();
    asio::awaitable<error_code> check_policy();
    asio::awaitable<error_code> check_shards();
    asio::awaitable<sent> ask_all(redis_command);

    error_code refuse(error_code, std::string words);
    void log(const std::string& line) const;

    durable_options options_;
    script_library library_;
    std::vector<shard_calls> shards_;
    asio::any_io_executor executor_;
    const timer_wheel* wheel_;
    std::shared_ptr<shared_state> state_;
    std::shared_ptr<redis_client> client_;
    bool shards_share_calls_ = true;           // false: the server is a part of a cluster, whatever the options say
    std::optional<confirmed_calls> confirmed_; // with durability replicas(n)
    std::shared_ptr<redis_subscription_impl> subscription_; // runs when someone listens
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
