// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A TCP proxy that treats connections as bad networks and bad peers do (chaos_script.hpp), to test programs through it.
//
// One buffer a direction, of a fixed size; what does not fit is left to the kernel, and so to the sender. Everything
// runs on one executor, which must be a strand if several threads run its context. Pauses are timers of a wheel.
#pragma once

#include "support/asio_versions.hpp"
#include "support/net/chaos_script.hpp"

#include <cogwheel/asio/wheel_timer.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/socket_base.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

#include <functional>
#include <list>
#include <memory>

namespace cogwheel_tests {

struct chaos_counts {
    std::uint64_t accepted = 0;
    std::uint64_t refused = 0;                      ///< the server could not be reached
    std::uint64_t accept_failures = 0;              ///< no descriptor left, say: tried again later
    std::uint64_t finished = 0;                     ///< accepted and gone, however
    std::uint64_t bytes_up = 0, bytes_down = 0;     ///< forwarded
    std::uint64_t swallowed = 0;                    ///< bytes
    std::array<std::uint64_t, chaos_kinds> begun{}; ///< steps, by kind

    std::uint64_t of(chaos kind) const { return begun[static_cast<std::size_t>(kind)]; }
    std::uint64_t open() const { return accepted - finished; }
};

struct chaos_options {
    std::size_t buffer = 4096; ///< bytes, for each direction
};

class chaos_proxy {
    using tcp = asio::ip::tcp;

public:
    using planner = std::function<chaos_plan(std::uint64_t connection)>;

    /// Accepts at once. `plan` is asked for each connection, numbered from 0. Errors: std::system_error (the address is
    /// taken).
    chaos_proxy(const asio::any_io_executor& executor, const cogwheel::timer_wheel& wheel, const tcp::endpoint& listen,
                const tcp::endpoint& server, planner plan, const chaos_options& options = {})
        : state_(std::make_shared<state>(executor, wheel, listen, server, std::move(plan), options)) {
        asio::co_spawn(executor, accept(state_), asio::detached);
    }
    chaos_proxy(chaos_proxy&&) = delete;
    ~chaos_proxy() { close(); }

    tcp::endpoint endpoint() const { return state_->acceptor.local_endpoint(); }
    const chaos_counts& counts() const { return state_->counts; }

    /// No more connections, and an end to those there are; their descriptors are closed when this returns.
    void close() {
        std::error_code ignored;
        state_->acceptor.close(ignored);
        state_->retry.cancel();
        while (!state_->open.empty()) state_->open.front()->end();
    }

private:
    template <class T = void>
    using awaitable = asio::awaitable<T>;
    static constexpr auto token = as_tuple(asio::use_awaitable);

    struct connection;

    struct state {
        tcp::acceptor acceptor;
        tcp::endpoint server;
        const cogwheel::timer_wheel& wheel;
        cogwheel::wheel_timer retry;
        planner plan;
        chaos_options options;
        chaos_counts counts;
        std::list<connection*> open;

        state(const asio::any_io_executor& executor, const cogwheel::timer_wheel& w, const tcp::endpoint& listen,
              tcp::endpoint s, planner p, const chaos_options& o)
            : acceptor(executor, listen), server(std::move(s)), wheel(w), retry(w), plan(std::move(p)), options(o) {}
    };

    struct connection {
        // One way through.
        struct way {
            tcp::socket& from;
            tcp::socket& to;
            chaos_cursor cursor;
            cogwheel::wheel_timer pause;
            std::uint64_t& bytes;
        };

        std::shared_ptr<state> owner;
        tcp::socket client, server;
        std::list<connection*>::iterator place;
        way up, down;
        bool half = false; // one way has come to its end
        bool truncated = false;
        bool ended = false;

        connection(std::shared_ptr<state> s, tcp::socket accepted, chaos_plan plan)
            : owner(std::move(s)),
              client(std::move(accepted)),
              server(client.get_executor()),
              place(owner->open.insert(owner->open.end(), this)),
              up{client, server, chaos_cursor(std::move(plan.up)), cogwheel::wheel_timer(owner->wheel),
                 owner->counts.bytes_up},
              down{server, client, chaos_cursor(std::move(plan.down)), cogwheel::wheel_timer(owner->wheel),
                   owner->counts.bytes_down} {}
        ~connection() { end(); }

        void end(bool by_reset = false) {
            if (std::exchange(ended, true)) return;
            std::error_code ignored;
            for (tcp::socket* s : {&client, &server}) {
                if (by_reset) s->set_option(asio::socket_base::linger(true, 0), ignored);
                s->close(ignored);
            }
            up.pause.cancel();
            down.pause.cancel();
            owner->open.erase(place);
            ++owner->counts.finished;
        }

        // Both peers see the end of a stream. What they still send is read, for a socket that is closed with bytes
        // unread resets.
        void truncate() {
            std::error_code ignored;
            truncated = true;
            for (way* w : {&up, &down}) {
                w->cursor.cut();
                w->pause.cancel();
                w->to.shutdown(tcp::socket::shutdown_send, ignored);
            }
        }

        // No more will come this way. The other one may go on.
        void end_way(way& w) {
            std::error_code ignored;
            if (std::exchange(half, true)) return end();
            w.to.shutdown(tcp::socket::shutdown_send, ignored);
        }
    };

    static awaitable<> accept(std::shared_ptr<state> s) {
        for (std::uint64_t number = 0; s->acceptor.is_open();) {
            auto [ec, socket] = co_await s->acceptor.async_accept(token);
            if (!s->acceptor.is_open()) co_return;
            if (ec == asio::error::connection_aborted) continue;
            if (ec) {
                ++s->counts.accept_failures;
                s->retry.expires_after(std::chrono::milliseconds(20));
                co_await s->retry.async_wait(token);
                continue;
            }
            ++s->counts.accepted;
            auto c = std::make_shared<connection>(s, std::move(socket), s->plan(number++));
            asio::co_spawn(s->acceptor.get_executor(), serve(std::move(c)), asio::detached);
        }
    }

    static awaitable<> serve(std::shared_ptr<connection> c) {
        const auto [ec] = co_await c->server.async_connect(c->owner->server, token);
        if (ec || c->ended) {
            if (!c->ended) ++c->owner->counts.refused;
            co_return c->end(true);
        }
        std::error_code ignored;
        for (tcp::socket* s : {&c->client, &c->server}) s->set_option(tcp::no_delay(true), ignored);
        asio::co_spawn(c->client.get_executor(), pump(c, c->down), asio::detached);
        co_await pump(c, c->up);
    }

    static awaitable<> pump(std::shared_ptr<connection> c, connection::way& w) {
        using what = chaos_cursor::what;
        std::vector<char> buffer(c->owner->options.buffer);
        std::size_t first = 0, last = 0; // what is in it
        while (!c->ended) {
            const auto order = w.cursor.next(last - first);
            if (order.begun != nullptr) ++c->owner->counts.begun[static_cast<std::size_t>(order.begun->kind)];
            switch (order.todo) {
            case what::read: {
                const auto [ec, n] = co_await w.from.async_read_some(asio::buffer(buffer), token);
                if (c->ended) co_return;
                if (ec == asio::error::eof) co_return w.cursor.swallows() ? c->end() : c->end_way(w);
                if (ec) co_return c->end(true); // a peer that is gone is gone for the other, too
                first = 0;
                last = n;
                break;
            }
            case what::forward: {
                const auto [ec, n] = co_await asio::async_write(w.to, asio::buffer(&buffer[first], order.bytes), token);
                if (c->ended) co_return;
                if (ec && !c->truncated) co_return c->end(true);
                w.cursor.forwarded(n);
                w.bytes += n;
                first += n;
                break;
            }
            case what::drop:
                c->owner->counts.swallowed += order.bytes;
                first += order.bytes;
                break;
            case what::wait:
                w.pause.expires_after(order.time);
                co_await w.pause.async_wait(token);
                break;
            case what::close:
                c->truncate();
                break;
            case what::reset:
                co_return c->end(true);
            }
        }
    }

    std::shared_ptr<state> state_;
};

} // namespace cogwheel_tests
