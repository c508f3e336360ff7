// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A pool of client connections to one endpoint. Copy it, and change what you need changed.
//
//     auto pool = std::make_shared<connection_pool<>>(executor, wheel, endpoint, pool_options{.max_connections = 8});
//     auto connection = co_await pool->acquire(cogwheel::deadline::after(2s));
//     ... use connection.socket() ...
//     connection.release(); // only when the exchange is complete: else the connection is closed, and not used again
//
// - acquire() reuses the connection that was released last, so that the others can expire; else it opens one; else, at
//   max_connections, it waits its turn: first come, first served, and timed_out at its deadline.
// - A waiting call gets a connection or timed_out, never both, and no connection is lost between the two.
// - A connection that idles for idle_limit is closed; so is one whose peer closes it, or speaks out of turn.
// - Timers: one for each idle connection, one for each who waits, none for a connection in use.
//
// Thread safety: one thread or one strand, `executor`; acquire() is awaited there.
// Lifetime: the wheel outlives the last acquire() and release(). Leases keep the pool alive. Call close() in the end:
// idle connections keep the context running.
#pragma once

#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/asio/wheel_timer.hpp>
#include <cogwheel/resilience/deadline.hpp>

#include <asio/awaitable.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include <cassert>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include <sys/socket.h>

struct pool_options {
    std::size_t max_connections = 16; // at least 1
    std::chrono::nanoseconds idle_limit = std::chrono::seconds{30};
    std::chrono::nanoseconds connect_limit = std::chrono::seconds{5}; // or the deadline of acquire(), if that is sooner
};

struct pool_stats {
    std::uint64_t opened = 0;
    std::uint64_t reused = 0;
    std::uint64_t expired = 0;        // idle for too long
    std::uint64_t closed_by_peer = 0; // while idle
    std::uint64_t broken = 0;         // not released, or not fit for it
    std::uint64_t timed_out = 0;      // waited in vain
};

template <cogwheel::any_timer_wheel Wheel = cogwheel::timer_wheel>
class connection_pool : public std::enable_shared_from_this<connection_pool<Wheel>> {
    using tcp = asio::ip::tcp;
    // A closed one is a place for a new one: so one kind of thing is handed from who leaves to who waits.
    using socket_pointer = std::shared_ptr<tcp::socket>;
    using idle_sockets = std::map<std::uint64_t, socket_pointer>; // by when they came to rest

public:
    using deadline = cogwheel::basic_deadline<typename Wheel::clock_type>;

    /// A connection of the pool's, for as long as it is used.
    class lease {
    public:
        lease() = default; // of nothing
        lease(std::shared_ptr<connection_pool> pool, socket_pointer socket)
            : pool_{std::move(pool)}, socket_{std::move(socket)} {}
        lease(lease&&) noexcept = default;
        lease& operator=(lease other) noexcept {
            pool_.swap(other.pool_);
            socket_.swap(other.socket_);
            return *this;
        }
        /// Not released: whatever state the exchange is in, nobody is to find it. Closed.
        ~lease() {
            if (socket_ == nullptr) return;
            pool_->stats_.broken += socket_->is_open() ? 1 : 0;
            close(*socket_);
            pool_->take_back(std::move(socket_));
        }

        tcp::socket& socket() const { return *socket_; }

        /// For the next one. Preconditions: nothing is under way, and the last answer was read to its end.
        void release() {
            assert(socket_ != nullptr && "released already");
            if (is_quiet(*socket_))
                pool_->take_back(std::move(socket_));
            else
                const lease broken{std::move(*this)};
        }

    private:
        std::shared_ptr<connection_pool> pool_;
        socket_pointer socket_;
    };

    connection_pool(const asio::any_io_executor& executor, const Wheel& wheel, const tcp::endpoint& endpoint,
                    const pool_options& options)
        : executor_{executor}, wheel_{wheel}, endpoint_{endpoint}, options_{options} {}
    connection_pool(const connection_pool&) = delete;
    connection_pool& operator=(const connection_pool&) = delete;
    /// As close().
    ~connection_pool() { close(); }

    /// A connection by `until`. Errors: asio::error::timed_out; operation_aborted, if the pool was closed or the
    /// coroutine cancelled; those of async_connect.
    asio::awaitable<lease> acquire(deadline until) {
        const auto self = this->shared_from_this();
        if (closed_) throw std::system_error{asio::error::operation_aborted};

        socket_pointer socket = take_idle();
        if (socket == nullptr && size_ < options_.max_connections) {
            socket = std::make_shared<tcp::socket>(executor_);
            ++size_;
        }
        if (socket == nullptr) socket = co_await next_turn(until);

        lease mine{self, std::move(socket)};
        if (closed_) throw std::system_error{asio::error::operation_aborted}; // while we waited
        if (mine.socket().is_open()) {
            ++stats_.reused;
        } else {
            co_await open(mine.socket(), until);
            ++stats_.opened;
        }
        co_return mine;
    }

    /// Waiting calls get operation_aborted, idle connections are closed, those in use when they come back.
    void close() {
        closed_ = true;
        while (!idle_.empty()) drop(idle_.begin());
        for (waiter* w : waiting_) w->timer.cancel();
    }

    std::size_t size() const { return size_; } // in use, being opened, or idle
    std::size_t idle() const { return idle_.size(); }
    std::size_t waiting() const { return waiting_.size(); }
    const pool_stats& stats() const { return stats_; }

private:
    // Lives in the coroutine that waits, and tidies up however that ends.
    struct waiter {
        connection_pool& pool;
        decltype(cogwheel::basic_wheel_timer{std::declval<const Wheel&>()}) timer;
        typename std::list<waiter*>::iterator place;
        socket_pointer given;

        waiter(connection_pool& p, deadline until)
            : pool{p}, timer{p.wheel_, until.expiry()}, place{p.waiting_.insert(p.waiting_.end(), this)} {}
        waiter(const waiter&) = delete;
        waiter& operator=(const waiter&) = delete;
        ~waiter() { leave(); }
        void leave() {
            if (place != pool.waiting_.end()) pool.waiting_.erase(std::exchange(place, pool.waiting_.end()));
        }
    };

    asio::awaitable<socket_pointer> next_turn(deadline until) {
        waiter me{*this, until};
        std::error_code ec;
        co_await me.timer.async_wait(asio::redirect_error(asio::use_awaitable, ec));
        // What was given came first, or while the expiry was on its way here: then nobody has been told of that.
        if (me.given != nullptr) co_return std::move(me.given);
        if (!ec) ++stats_.timed_out;
        throw std::system_error{ec ? ec : asio::error::timed_out};
    }

    asio::awaitable<void> open(tcp::socket& socket, deadline until) {
        const auto limit = until.min(options_.connect_limit).expiry();
        std::error_code ec;
        co_await socket.async_connect(endpoint_,
                                      cogwheel::timeout(wheel_, limit, asio::redirect_error(asio::use_awaitable, ec)));
        if (!ec) co_return;
        close(socket);
        throw std::system_error{ec};
    }

    // From who leaves to the first who waits, or to rest.
    void take_back(socket_pointer socket) {
        if (closed_) close(*socket);
        if (!waiting_.empty()) {
            waiter& first = *waiting_.front();
            first.leave();
            first.given = std::move(socket);
            first.timer.cancel();
        } else if (socket->is_open()) {
            rest(socket);
        } else {
            --size_;
        }
    }

    // An idle connection waits for something to read, for no longer than the limit. Whatever ends that closes it:
    // nothing to read is what it is kept for. The handler holds the socket, for the limit may come after close() and
    // before the handler, and Asio's cancellation looks at the socket.
    void rest(const socket_pointer& socket) {
        const std::uint64_t number = ++rests_;
        idle_.emplace(number, socket);
        socket->async_wait(tcp::socket::wait_read,
                           cogwheel::timeout(wheel_, options_.idle_limit,
                                             [weak = this->weak_from_this(), number, socket](std::error_code ec) {
                                                 if (const auto pool = weak.lock()) pool->end_rest(number, ec);
                                             }));
    }
    void end_rest(std::uint64_t number, std::error_code ec) {
        const auto place = idle_.find(number);
        if (place == idle_.end()) return; // in use again
        ++(ec == asio::error::timed_out ? stats_.expired : stats_.closed_by_peer);
        drop(place);
    }
    void drop(typename idle_sockets::iterator place) {
        close(*place->second);
        idle_.erase(place);
        --size_;
    }

    socket_pointer take_idle() {
        while (!idle_.empty()) {
            const auto last = std::prev(idle_.end());
            if (is_quiet(*last->second)) {
                socket_pointer socket = std::move(last->second);
                idle_.erase(last);
                socket->cancel(); // its rest
                return socket;
            }
            ++stats_.closed_by_peer; // of which we have not been told yet
            drop(last);
        }
        return nullptr;
    }

    // Open, and nothing to read, not even the end: what there is cannot be an answer to a question not asked yet.
    static bool is_quiet(tcp::socket& socket) {
        char byte = 0;
        return socket.is_open() && ::recv(socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
               (errno == EAGAIN || errno == EWOULDBLOCK);
    }
    static void close(tcp::socket& socket) {
        std::error_code ignored;
        socket.close(ignored);
    }

    asio::any_io_executor executor_;
    const Wheel& wheel_;
    tcp::endpoint endpoint_;
    pool_options options_;
    std::size_t size_ = 0;
    std::uint64_t rests_ = 0;
    idle_sockets idle_;
    std::list<waiter*> waiting_;
    bool closed_ = false;
    pool_stats stats_;
};
