// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The parts of redis_connection. redis_client uses them with other finders.
//
// Any thread puts commands into the inbox, under a lock. The strand takes the inbox over each time when no write is in
// flight: so all commands that came meanwhile go out in one write. Replies come in the same order. One timer watches
// the oldest command. A coroutine connects; it ends when there is a connection, and starts again when that breaks.
#pragma once

#include "redis_finder.hpp"
#include "redis_request.hpp"

#include <cogwheel/resilience/random.hpp>

#include <atomic>
#include <mutex>
#include <span>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

class redis_connection_impl : public std::enable_shared_from_this<redis_connection_impl> {
public:
    redis_connection_impl(const timer_wheel& wheel, const redis_strand& strand,
                          std::shared_ptr<const redis_options> options, std::unique_ptr<redis_finder> finder,
                          std::shared_ptr<asio::ssl::context> tls = nullptr);

    const redis_strand& strand() const noexcept { return strand_; }

    /// Starts to connect. Called once.
    void run();

    // Thread safety of these: any thread.
    void start(redis_request_ptr request, std::span<const redis_command> commands);
    void wait(completion<void> done);
    void close();
    void set_hook(std::function<void(bool, error_code)> hook);
    bool connected() const noexcept { return connected_.load(std::memory_order_acquire); }
    redis_role role() const noexcept { return role_.load(std::memory_order_relaxed); }
    int version() const noexcept { return version_.load(std::memory_order_relaxed); }
    /// Returns how many attempts to connect have failed since the last connection.
    unsigned failures() const noexcept { return failures_.load(std::memory_order_relaxed); }

private:
    /// One connection, from its handshake to its end. Operations of an earlier one find that it is not the present one.
    struct link {
        std::shared_ptr<redis_stream> stream;
        std::unique_ptr<resp_reader> reader;
        std::string name;
        std::string writing;
        std::array<char, 16 * 1024> reading;
        bool write_in_flight = false;
        bool heard = false; // a reply has come
        std::chrono::steady_clock::time_point made = std::chrono::steady_clock::now();
    };
    using clock = std::chrono::steady_clock;

    static asio::awaitable<void> connect(std::shared_ptr<redis_connection_impl> self);
    void begin_to_connect();
    void install(dialled d);
    void report(const dialled& failed);
    void breaks(error_code ec, std::string_view why, bool lost_role = false);
    bool may_find_master() const noexcept;
    void shut_down();
    void flush();
    void write();
    void read();
    void on_read(const std::shared_ptr<link>& from, std::size_t n);
    void watch_oldest();
    clock::time_point oldest();
    void on_limit();
    void tell(bool connected, error_code ec);
    void end_waits(error_code ec);

    const redis_strand strand_;
    const std::shared_ptr<const redis_options> options_;
    const std::shared_ptr<redis_dialer> dialer_;
    const std::shared_ptr<completed_requests<redis_strand>> completed_;
    std::atomic<bool> connected_ = false; // changed on the strand, under the lock
    std::atomic<redis_role> role_ = redis_role::unknown;
    bool was_master_ = false; // some time
    std::atomic<int> version_ = 0;
    std::atomic<unsigned> failures_ = 0;

    std::mutex mutex_; // of these
    std::deque<redis_request_ptr> inbox_;
    std::string inbox_bytes_;
    std::vector<std::pair<redis_request_ptr, error_code>> refused_;
    std::size_t in_flight_ = 0; // commands without a reply
    bool flush_posted_ = false;
    bool closed_ = false;

    // Of the strand.
    const std::unique_ptr<redis_finder> finder_;
    std::shared_ptr<link> link_;
    std::deque<redis_request_ptr> sent_;
    std::vector<completion<void>> waits_;
    std::function<void(bool, error_code)> hook_;
    sure_timer<redis_strand> limit_;
    bool limit_armed_ = false;
    bool shut_ = false;
    backoff_sequence pauses_;
    small_random random_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
