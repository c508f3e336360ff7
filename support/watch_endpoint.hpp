// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Shows over HTTP/1.1 what a program does, beside whatever else it serves: GET /metrics for Prometheus, and GET / for
// people, a page that a stream of events keeps up to date. One answer for each connection.
//
// - No client holds it up: the head of a request has a size and a time limit, the answer has a time limit, and the
//   connections have a number. What a limit refuses, it ends. A viewer of the page that takes nothing is dropped.
// - It renders slice by slice; other handlers run in between. All viewers get the same update.
// - It has no TLS and asks for no password: listen on loopback, or behind a proxy. It shows the page only to those who
//   ask for an address or for localhost, not for another name.
#pragma once

#include "support/accept_loop.hpp"
#include "support/address.hpp"
#include "support/http_request_head.hpp"
#include "support/listen.hpp"
#include "support/output.hpp"
#include "support/spawned.hpp"
#include "support/steady_write.hpp"

#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/observe/debug_page.hpp>
#include <cogwheel/observe/metrics.hpp>

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

/// What it shows. Null: not this. Lifetime: both outlive the endpoint.
struct watch_sources {
    const cogwheel::metrics* metrics = nullptr; // at /metrics
    const cogwheel::debug_page* page = nullptr; // at / and /events
};

/// What a watch_endpoint has done. 32 connections at most are served at once; further ones are closed.
struct watch_endpoint_counts {
    std::uint64_t served = 0;  // 200, taken by the client; or a viewer that has left
    std::uint64_t refused = 0; // any other answer, or one connection too many
    std::uint64_t dropped = 0; // the client left too early, or did not take the answer in time
    std::size_t viewers = 0;   // that get updates now
};

/// For one thread or strand, that of the executor. The functions of the metrics are called there.
/// Lifetime: the wheel outlives it. It lives until the context has run after stop().
template <cogwheel::any_timer_wheel Wheel>
class watch_endpoint {
    using tcp = asio::ip::tcp;
    using clock = typename Wheel::clock_type;

public:
    static constexpr std::size_t max_connections = 32, max_viewers = 16, max_head_bytes = 8192;
    static constexpr std::chrono::seconds head_within{5}, answer_within{10}, refusal_within{2};
    static constexpr std::chrono::seconds viewer_takes_within{5}; // some bytes, if any wait

    /// Listens; `program` begins each line on standard error. Errors: std::system_error that names the address.
    watch_endpoint(const asio::any_io_executor& executor, Wheel& wheel, watch_sources sources,
                   const tcp::endpoint& address, std::string_view program)
        : wheel_{wheel},
          sources_{sources},
          acceptor_{listen_on(executor, address)},
          news_{executor, asio::steady_timer::time_point::max()},
          program_{program} {
        if (sources.metrics != nullptr) paths_.emplace_back("/metrics");
        if (sources.page != nullptr) paths_.insert(paths_.end(), {"/", "/events"});
    }
    watch_endpoint(const watch_endpoint&) = delete;
    watch_endpoint& operator=(const watch_endpoint&) = delete;

    /// "ADDRESS:PORT", with the port that the system chose.
    std::string endpoint() const { return to_text(acceptor_.local_endpoint()); }

    /// Serves until stop(). Failures of one connection end that connection; any other leaves the context's run().
    void start() { asio::co_spawn(acceptor_.get_executor(), accept(), rethrow); }

    /// Closes all connections. The context's run() can then return.
    void stop() {
        stopped_ = true;
        std::error_code ignored;
        acceptor_.close(ignored);
        for (const auto& c : clients_) c->socket.close(ignored);
        news_.cancel();
        next_update_.cancel();
    }

    const watch_endpoint_counts& counts() const { return counts_; }

private:
    struct client {
        explicit client(tcp::socket&& s) : socket{std::move(s)} {}
        tcp::socket socket;
        std::array<char, max_head_bytes> data;
    };
    static constexpr int gone = 0;
    static constexpr std::size_t max_drained = 256 * 1024;

    asio::awaitable<void> accept() {
        return accept_loop(acceptor_, wheel_, program_, [this](tcp::socket socket) {
            if (clients_.size() >= max_connections) {
                ++counts_.refused;
                return true; // closes it
            }
            const auto c = *clients_.insert(std::make_shared<client>(std::move(socket))).first;
            try {
                asio::co_spawn(acceptor_.get_executor(), serve(*c),
                               [this, c](const std::exception_ptr& failure) { left(c, failure); });
            } catch (...) {
                clients_.erase(c);
                throw;
            }
            return true;
        });
    }

    void left(const std::shared_ptr<client>& c, const std::exception_ptr& failure) {
        clients_.erase(c);
        try {
            rethrow(failure);
        } catch (const std::exception& error) {
            failed(error.what());
        } catch (...) {
            failed("unknown exception");
        }
    }

    // A scraper comes back every few seconds: one line until an answer succeeds.
    void failed(std::string_view why) {
        if (!std::exchange(complained_, true)) output::complain("{}: cannot answer over HTTP: {}\n", program_, why);
    }

    asio::awaitable<void> serve(client& c) {
        http_request_head head{paths_};
        int status = co_await read_head(c, head);
        bool taken = false;
        if (status == 200 && head.path() != "/metrics") {
            status = co_await show_page(c, head, taken);
        } else if (status == 200) {
            std::string body;
            const auto format = cogwheel::format_for(head.accept());
            try {
                body = co_await render(format);
            } catch (const std::exception& error) { // of a function that the program gave to the metrics, or no memory
                failed(error.what());
                status = 500;
            }
            const auto fields = fmt::format("Content-Type: {}\r\n", cogwheel::content_type(format));
            if (!stopped_) taken = co_await answer(c, status, head_of_answer(status, fields, body.size()), body);
        } else if (status != gone && !stopped_) {
            taken = co_await answer(c, status, head_of_answer(status, {}, 0), {});
        }
        if (!taken)
            ++counts_.dropped;
        else if (status == 200)
            ++counts_.served;
        else
            ++counts_.refused;
        if (taken && status == 200) complained_ = false;
        std::error_code ignored;
        c.socket.close(ignored);
    }

    // Returns the status of the answer. Someone else's name may lead to this machine (DNS rebinding). Then a browser
    // would let the pages of that name read this one.
    asio::awaitable<int> show_page(client& c, const http_request_head& head, bool& taken) {
        if (const int refusal = !command_line::names_address(head.host()) ? 421 : head.is_cross_site() ? 403 : 0) {
            if (!stopped_) taken = co_await answer(c, refusal, head_of_answer(refusal, {}, 0), {});
            co_return refusal;
        }
        const auto page = cogwheel::debug_page::answer("GET", head.path());
        if (!page.events) {
            if (!stopped_) taken = co_await answer(c, page.status, page.head(), page.body);
            co_return page.status;
        }
        if (counts_.viewers == max_viewers) {
            if (!stopped_) taken = co_await answer(c, 503, head_of_answer(503, {}, 0), {});
            co_return 503;
        }
        ++counts_.viewers;
        try {
            taken = co_await stream(c, page.head() + std::string{page.body});
        } catch (...) {
            --counts_.viewers;
            throw;
        }
        --counts_.viewers;
        co_return page.status;
    }

    // ---- the viewers: one coroutine renders updates, and those of the viewers send the latest one ----

    // Sends updates until the viewer leaves. Returns false if it stops reading. A slow one misses updates: at most one
    // waits for each viewer.
    asio::awaitable<bool> stream(client& c, std::string head) {
        std::error_code ec;
        c.socket.set_option(asio::socket_base::send_buffer_size(16 * 1024), ec); // a larger one hides a stop
        steady_writer writer{c.socket, wheel_, viewer_takes_within};
        ec = co_await writer.write(asio::buffer(head));
        if (!ec && !updating_) {
            updating_ = true;
            try {
                asio::co_spawn(acceptor_.get_executor(), update_viewers(), rethrow);
            } catch (...) {
                updating_ = false;
                throw;
            }
        }
        std::shared_ptr<const std::string> sent;
        while (!ec && !stopped_) {
            if (latest_ == sent) {
                std::error_code ignored;
                co_await news_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
                continue;
            }
            sent = latest_;
            ec = co_await writer.write(asio::buffer(*sent));
        }
        co_return !writer.gave_up();
    }

    asio::awaitable<void> update_viewers() {
        while (counts_.viewers != 0 && !stopped_) {
            try {
                auto event = std::make_shared<std::string>();
                auto update = sources_.page->update();
                while (update.next(*event) && !stopped_) co_await asio::post(asio::use_awaitable);
                latest_ = std::move(event);
                news_.cancel();
            } catch (const std::exception& error) { // no memory
                failed(error.what());
            }
            if (stopped_) break;
            next_update_.expires_after(cogwheel::debug_page::period);
            std::error_code ignored;
            co_await next_update_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        }
        updating_ = false;
        latest_ = nullptr; // the next viewer begins with what is new
    }

    // Returns the status of the answer, or `gone`.
    asio::awaitable<int> read_head(client& c, http_request_head& head) {
        const auto until = clock::now() + head_within;
        for (std::size_t size = 0; size != c.data.size();) {
            std::error_code ec;
            const auto token = asio::redirect_error(asio::use_awaitable, ec);
            const std::size_t bytes =
                co_await c.socket.async_read_some(asio::buffer(c.data) + size, cogwheel::timeout(wheel_, until, token));
            size += bytes;
            if (ec) co_return ec == asio::error::timed_out ? 408 : gone;
            if (const int status = head.look({c.data.data(), size}); status != 0) co_return status;
        }
        co_return 431;
    }

    asio::awaitable<std::string> render(cogwheel::metrics_format format) {
        std::string body;
        auto text = sources_.metrics->render(format);
        while (text.next(body) && !stopped_) co_await asio::post(asio::use_awaitable);
        co_return body;
    }

    // Returns true if the client has taken the answer. The limit also covers a client that takes it but stays.
    asio::awaitable<bool> answer(client& c, int status, std::string head, std::string_view body) {
        const auto until = clock::now() + (status == 200 ? answer_within : refusal_within);
        std::error_code ec;
        const auto token = asio::redirect_error(asio::use_awaitable, ec);
        const std::array<asio::const_buffer, 2> both{asio::buffer(head), asio::buffer(body)};
        co_await asio::async_write(c.socket, both, cogwheel::timeout(wheel_, until, token));
        if (!ec) c.socket.shutdown(tcp::socket::shutdown_send, ec);
        // Closed with bytes unread, the connection would be reset, and the answer perhaps lost.
        for (std::size_t drained = 0; !ec && drained < max_drained;) {
            const std::size_t bytes =
                co_await c.socket.async_read_some(asio::buffer(c.data), cogwheel::timeout(wheel_, until, token));
            drained += bytes;
        }
        co_return ec == asio::error::eof;
    }

    static std::string head_of_answer(int status, std::string_view fields, std::size_t size) {
        std::string_view line;
        switch (status) {
        case 200:
            line = "200 OK";
            break;
        case 400:
            line = "400 Bad Request";
            break;
        case 403:
            line = "403 Forbidden";
            break;
        case 404:
            line = "404 Not Found";
            break;
        case 405:
            line = "405 Method Not Allowed";
            fields = "Allow: GET\r\n";
            break;
        case 408:
            line = "408 Request Timeout";
            break;
        case 421:
            line = "421 Misdirected Request";
            break;
        case 431:
            line = "431 Request Header Fields Too Large";
            break;
        case 503:
            line = "503 Service Unavailable";
            break;
        default:
            line = "500 Internal Server Error";
            fields = {};
        }
        return fmt::format("HTTP/1.1 {}\r\n{}Content-Length: {}\r\nConnection: close\r\n\r\n", line, fields,
                           status == 200 ? size : 0);
    }

    Wheel& wheel_;
    const watch_sources sources_;
    std::vector<std::string_view> paths_;
    tcp::acceptor acceptor_;
    asio::steady_timer news_; // never expires; cancelled for each update: all viewers wait for it
    asio::steady_timer next_update_{acceptor_.get_executor()};
    const std::string program_;
    std::unordered_set<std::shared_ptr<client>> clients_;
    watch_endpoint_counts counts_;
    std::shared_ptr<const std::string> latest_; // the update for the viewers
    bool updating_ = false;
    bool stopped_ = false;
    bool complained_ = false;
};
