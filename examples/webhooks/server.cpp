// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors

#include "server.hpp"

#include "support/accept_loop.hpp"
#include "support/listen.hpp"
#include "support/spawned.hpp"

#include <cogwheel/asio/timeout.hpp>

#include <asio/co_spawn.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <fmt/format.h>

#include <array>

namespace {

constexpr std::size_t max_head = 16'384;
constexpr std::chrono::seconds linger_within{2};

std::string_view reason(int status) {
    switch (status) {
    case 200:
        return "OK";
    case 400:
        return "Bad Request";
    case 401:
        return "Unauthorized";
    case 405:
        return "Method Not Allowed";
    case 408:
        return "Request Timeout";
    case 411:
        return "Length Required";
    case 413:
        return "Content Too Large";
    case 431:
        return "Request Header Fields Too Large";
    case 501:
        return "Not Implemented";
    case 503:
        return "Service Unavailable";
    case 505:
        return "HTTP Version Not Supported";
    default:
        return "Error";
    }
}

} // namespace

struct server::client {
    client(cogwheel::timer_wheel& wheel, std::chrono::nanoseconds idle, asio::ip::tcp::socket socket)
        : stream{wheel, {.all = idle}, std::move(socket)} {}

    cogwheel::idle_stream<asio::ip::tcp::socket> stream;
    std::string received; // not yet taken
    std::array<char, 4096> piece;
    bool in_request = false;
    bool timed_out = false;
};

server::server(asio::io_context& io, const server_options& wanted, receiver& receiver, report each)
    : options_{wanted},
      receiver_{receiver},
      each_{std::move(each)},
      wheel_{io},
      acceptor_{listen_on(io.get_executor(), wanted.address)} {}

std::string server::endpoint() const { return to_text(acceptor_.local_endpoint()); }

void server::start() { asio::co_spawn(acceptor_.get_executor(), accept(), rethrow); }

void server::stop() {
    stopping_ = true;
    std::error_code ignored;
    acceptor_.close(ignored);
    for (const auto& c : clients_)
        if (!c->in_request) c->stream.close();
}

asio::awaitable<void> server::accept() {
    return accept_loop(acceptor_, wheel_, "webhooks", [this](asio::ip::tcp::socket socket) {
        if (clients_.size() >= options_.max_connections) {
            ++counts_.refused;
            return true; // closes it
        }
        ++counts_.connections;
        auto c = std::make_shared<client>(wheel_, options_.idle, std::move(socket));
        c->stream.close_when_idle();
        clients_.insert(c);
        try {
            asio::co_spawn(acceptor_.get_executor(), serve(c), [this, c](const std::exception_ptr& failure) {
                counts_.failed += failure != nullptr ? 1 : 0; // no memory
                c->stream.close();
                clients_.erase(c);
            });
        } catch (...) {
            clients_.erase(c);
            throw;
        }
        return true;
    });
}

asio::awaitable<void> server::serve(client_ptr c) {
    for (bool keep = true; keep && !stopping_;) {
        http_request request;
        const int refused = co_await read_request(*c, request);
        if (refused < 0) break; // the client has gone, or was idle
        verdict result{refused, std::string{reason(refused)}};
        if (refused == 0) {
            result = receiver_.judge(request);
            each_(request, result);
        }
        count(result);
        keep = refused == 0 && request.keep_alive && !stopping_;
        const bool taken = co_await answer(*c, result, keep);
        if (taken && !keep) co_await linger(*c);
        keep = keep && taken;
        c->in_request = false;
    }
}

// Returns 0, the status of a refusal, or -1.
asio::awaitable<int> server::read_request(client& c, http_request& request) {
    constexpr std::string_view end_of_head = "\r\n\r\n";
    auto until = clock::time_point::max(); // before the first byte, the idle timeout counts
    for (;;) {
        if (!c.received.empty() && !c.in_request) {
            c.in_request = true;
            until = clock::now() + options_.within;
        }
        const auto end = c.received.find(end_of_head);
        if (end != c.received.npos) {
            const int refused = request.read_head(std::string_view{c.received}.substr(0, end + end_of_head.size()));
            c.received.erase(0, end + end_of_head.size());
            if (refused != 0) co_return refused;
            break;
        }
        if (c.received.size() > max_head) co_return 431;
        const bool more = co_await read_more(c, until);
        if (!more) co_return c.timed_out&& c.in_request ? 408 : -1;
    }
    if (request.body_size > options_.max_body) co_return 413;
    while (c.received.size() < request.body_size) {
        const bool more = co_await read_more(c, until);
        if (!more) co_return c.timed_out ? 408 : -1;
    }
    request.body = c.received.substr(0, request.body_size);
    c.received.erase(0, request.body_size);
    co_return 0;
}

asio::awaitable<bool> server::read_more(client& c, clock::time_point until) {
    std::error_code ec;
    auto token = asio::redirect_error(asio::use_awaitable, ec);
    std::size_t bytes = 0;
    if (until == clock::time_point::max())
        bytes = co_await c.stream.async_read_some(asio::buffer(c.piece), token);
    else
        bytes = co_await c.stream.async_read_some(asio::buffer(c.piece), cogwheel::timeout(wheel_, until, token));
    c.received.append(c.piece.data(), bytes);
    c.timed_out = ec == asio::error::timed_out && c.stream.lowest_layer().is_open();
    co_return !ec;
}

asio::awaitable<bool> server::answer(client& c, verdict v, bool keep_alive) {
    std::error_code ec;
    auto token = asio::redirect_error(asio::use_awaitable, ec);
    if (options_.delay.count() > 0) {
        c.stream.monitor().begin_read(); // meanwhile the client is not idle
        co_await wheel_.async_wait(options_.delay, token);
        c.stream.monitor().end_read();
    }
    const bool wait = v.status >= 400 && !options_.retry_after.empty();
    const std::string text =
        fmt::format("HTTP/1.1 {} {}\r\n{}{}Content-Type: text/plain\r\nContent-Length: {}\r\n\r\n{}\n", v.status,
                    reason(v.status), keep_alive ? "" : "Connection: close\r\n",
                    wait ? "Retry-After: " + options_.retry_after + "\r\n" : "", v.words.size() + 1, v.words);
    co_await asio::async_write(c.stream, asio::buffer(text), cogwheel::timeout(wheel_, options_.within, token));
    co_return !ec;
}

// Closed with bytes unread, the connection would be reset, and the answer perhaps lost.
asio::awaitable<void> server::linger(client& c) {
    std::error_code ignored;
    c.stream.lowest_layer().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    const auto until = clock::now() + linger_within;
    for (bool more = true; more;) {
        c.received.clear();
        more = co_await read_more(c, until);
    }
}

void server::count(const verdict& v) {
    if (v.failed)
        ++counts_.failed;
    else if (v.status == 408)
        ++counts_.late;
    else if (v.status >= 400)
        ++counts_.refused;
    else
        ++(v.words == "repeated" ? counts_.repeated : counts_.fresh);
}

std::string server::summary() const {
    return fmt::format("deliveries   {} new, {} repeated, {} failed\n"
                       "refused      {} requests and connections, {} too slow\n"
                       "served       {} connections\n",
                       counts_.fresh, counts_.repeated, counts_.failed, counts_.refused, counts_.late,
                       counts_.connections);
}
