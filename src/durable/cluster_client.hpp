// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The client of a Redis cluster. A call goes to the node that the table names, on that node's connection. An answer
// that redirects it sends it to another node; one that says "later" puts it on a list, which a timer sends again. A
// coroutine reads the table again whenever an answer or a lost connection says that it is old.
#pragma once

#include "cluster_slots.hpp"
#include "redis_client_impl.hpp"

#include <map>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// A call on its way: its commands, and which of them have no answer yet.
struct cluster_call {
    redis_request_ptr caller;
    std::vector<redis_command> commands;
    std::vector<std::size_t> todo; // indexes of commands
    std::chrono::steady_clock::time_point deadline;
    unsigned redirections = 0; // since the last pause
    bool partly_done = false;

    /// Completes the call. not_connected and server_busy say that nothing was done, which may not be true.
    void fail(error_code ec) {
        const bool refused = ec == durable_errc::not_connected || ec == durable_errc::server_busy;
        caller->complete(partly_done && refused ? make_error_code(durable_errc::disconnected) : ec);
    }
};

using cluster_call_ptr = std::unique_ptr<cluster_call>;

class cluster_client final : public redis_client_impl, public std::enable_shared_from_this<cluster_client> {
public:
    cluster_client(const timer_wheel& wheel, std::shared_ptr<const redis_options> options);

    /// Starts to read the table. Called once.
    void run();

    const redis_strand& strand() const noexcept override { return strand_; }
    void start(redis_request_ptr request, std::vector<redis_command> commands) override;
    void start_on_all(redis_command command, completion<std::vector<redis_reply>> done) override;
    void wait(completion<void> done) override;
    void close() override;
    void set_hook(std::function<void(bool, error_code)> hook) override;
    bool connected() const noexcept override;
    std::string node_of(std::string_view key) const override;
    int version() const noexcept override { return version_.load(std::memory_order_relaxed); }

    /// Takes the replies of a node over. Any thread.
    void answered(cluster_call_ptr call, error_code ec, std::vector<redis_reply> replies, bool asking,
                  const redis_address& from);

private:
    using node = std::shared_ptr<redis_connection_impl>;
    struct target {
        node to{};
        redis_address address{};
    };

    target find(const cluster_call& call);
    node& node_at(const redis_address& address);
    void send(cluster_call_ptr call, const target& to, bool asking);
    void later(cluster_call_ptr call, durable_errc why);
    void send_waiting();
    void finish(cluster_call_ptr call, error_code ec);
    void want_table();
    static asio::awaitable<void> read_tables(std::shared_ptr<cluster_client> self);
    static asio::awaitable<bool> read_table(std::shared_ptr<cluster_client> self);
    std::vector<redis_address> whom_to_ask();
    void install(slot_table table);
    void node_changed(bool connected, error_code ec);
    void end_waits(error_code ec);
    void shut_down();

    const timer_wheel* const wheel_; // used while the client is open
    const redis_strand strand_;
    const std::shared_ptr<const redis_options> options_;
    const std::shared_ptr<redis_dialer> dialer_;
    std::atomic<int> version_ = 0;

    mutable std::mutex mutex_; // of these
    slot_table table_;
    std::map<std::string, node, std::less<>> nodes_; // by address
    std::size_t next_any_ = 0;
    bool closed_ = false;

    // Of the strand.
    std::vector<std::pair<cluster_call_ptr, durable_errc>> waiting_;
    sure_timer<redis_strand> retry_;
    bool retry_armed_ = false;
    bool table_wanted_ = false;
    bool reading_table_ = false;
    std::size_t next_asked_ = 0;
    bool shut_ = false;
    std::vector<completion<void>> waits_;
    std::function<void(bool, error_code)> hook_;
    backoff_sequence pauses_;
    small_random random_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
