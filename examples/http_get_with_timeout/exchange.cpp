// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The steps of an exchange: plain Asio, each operation with its limit as the token.

#include "exchange.hpp"

#include <cogwheel/asio/wheel_timer.hpp>

#include <asio/connect.hpp>
#include <asio/read.hpp>
#include <asio/read_until.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace http {
namespace {

using asio::redirect_error;
using asio::use_awaitable;
using asio::ip::tcp;

constexpr std::size_t longest_head = 64 * 1024;
constexpr std::size_t longest_line = 4096; // of a chunk's size

std::string name_of(limit l) {
    switch (l) {
    case limit::connect:
        return "connect";
    case limit::first_byte:
        return "first-byte";
    case limit::header:
        return "header";
    case limit::body_idle:
        return "body-idle";
    default:
        return "total";
    }
}

} // namespace

limit_reached::limit_reached(limit w) : std::runtime_error{fmt::format("the {} limit", name_of(w))}, which_{w} {}

exchange::exchange(const asio::any_io_executor& executor, wheel& timers, cogwheel::deadline total)
    : stream_{timers, {}, tcp::socket{executor}}, timers_{timers}, total_{total} {}

// TCP itself gives up with timed_out, too, after minutes: that was no limit of ours.
void exchange::check(std::error_code ec, const char* what, limit step, cogwheel::deadline until) {
    if (!ec) return;
    if (ec == asio::error::timed_out && until.expired()) throw limit_reached{until == total_ ? limit::total : step};
    if (ec == asio::error::timed_out && !stream_.lowest_layer().is_open()) throw limit_reached{limit::body_idle};
    if (ec == asio::error::eof) throw std::runtime_error{fmt::format("the peer closed the connection within {}", what)};
    throw std::system_error{ec, what};
}

// Asio asks the system in a thread that nothing can interrupt. So it is the wait for the answer that ends in time.
asio::awaitable<tcp::resolver::results_type> exchange::look_up(const target& to, cogwheel::deadline until) {
    struct question {
        tcp::resolver resolver;
        cogwheel::basic_wheel_timer<cogwheel::local_timer_wheel> answered;
        std::error_code ec{asio::error::timed_out};
        tcp::resolver::results_type results{};
    };
    const auto asked = std::make_shared<question>(
        question{tcp::resolver{stream_.get_executor()},
                 cogwheel::basic_wheel_timer<cogwheel::local_timer_wheel>{timers_, until.expiry()}});
    asked->resolver.async_resolve(to.host, to.port, [asked](std::error_code ec, tcp::resolver::results_type results) {
        asked->ec = ec;
        asked->results = std::move(results);
        asked->answered.cancel();
    });
    std::error_code ignored;
    co_await asked->answered.async_wait(redirect_error(use_awaitable, ignored));
    check(asked->ec, "the look-up of the name", limit::connect, until);
    co_return asked->results;
}

asio::awaitable<void> exchange::connect(const target& to, cogwheel::deadline until) {
    const auto endpoints = co_await look_up(to, until);
    std::error_code ec;
    co_await asio::async_connect(stream_.next_layer(), endpoints,
                                 timeout(timers_, until.expiry(), redirect_error(use_awaitable, ec)));
    check(ec, "the connection", limit::connect, until);
}

asio::awaitable<void> exchange::ask(const target& to, cogwheel::deadline until) {
    const bool is_v6 = to.host.find(':') != std::string::npos;
    const std::string request =
        fmt::format("GET {} HTTP/1.1\r\nHost: {}{}{}:{}\r\nUser-Agent: cogwheel-example\r\nConnection: close\r\n\r\n",
                    to.path, is_v6 ? "[" : "", to.host, is_v6 ? "]" : "", to.port);
    std::error_code ec;
    co_await asio::async_write(stream_, asio::buffer(request),
                               timeout(timers_, until.expiry(), redirect_error(use_awaitable, ec)));
    check(ec, "the request", limit::first_byte, until);
    co_await asio::async_read(stream_, asio::dynamic_buffer(data_, longest_head), asio::transfer_at_least(1),
                              timeout(timers_, until.expiry(), redirect_error(use_awaitable, ec)));
    check(ec, "the wait for the response", limit::first_byte, until);
}

asio::awaitable<std::string> exchange::head(cogwheel::deadline until) {
    std::error_code ec;
    const std::size_t size =
        co_await asio::async_read_until(stream_, asio::dynamic_buffer(data_, longest_head), std::string{"\r\n\r\n"},
                                        timeout(timers_, until.expiry(), redirect_error(use_awaitable, ec)));
    if (ec == asio::error::not_found) throw bad_response{"its header has no end within 64 KiB"};
    check(ec, "the header", limit::header, until);
    std::string text = data_.substr(0, size);
    data_.erase(0, size);
    co_return text;
}

asio::awaitable<response> exchange::header(cogwheel::deadline until) {
    for (;;) {
        response answer = parse_head(co_await head(until));
        if (answer.status >= 200) co_return answer; // before it: 100 Continue, 103 Early Hints
    }
}

asio::awaitable<void> exchange::body(const response& answer, std::chrono::nanoseconds idle, const body_sink& sink) {
    stream_.monitor().set_limits({.reader = idle}); // counted from the last piece of the header
    stream_.close_when_idle();
    if (answer.chunked)
        co_await chunks(sink);
    else
        co_await pass(answer.length, sink);
}

// Passes on the next `left` bytes of the body; without a number, all until the end of the connection.
asio::awaitable<void> exchange::pass(std::optional<std::uint64_t> left, const body_sink& sink) {
    std::error_code ec;
    for (;;) {
        const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(left.value_or(data_.size()), data_.size()));
        if (now != 0) sink(std::string_view{data_}.substr(0, now));
        data_.erase(0, now);
        if (left && (*left -= now) == 0) co_return;
        co_await asio::async_read(stream_, asio::dynamic_buffer(data_), asio::transfer_at_least(1),
                                  timeout(timers_, total_.expiry(), redirect_error(use_awaitable, ec)));
        if (ec == asio::error::eof && !left) co_return;
        check(ec, "the body", limit::total, total_);
    }
}

// Up to and without the next "\r\n".
asio::awaitable<std::string> exchange::line() {
    std::error_code ec;
    const std::size_t size = co_await asio::async_read_until(
        stream_, asio::dynamic_buffer(data_, data_.size() + longest_line), std::string{"\r\n"},
        timeout(timers_, total_.expiry(), redirect_error(use_awaitable, ec)));
    if (ec == asio::error::not_found) throw bad_response{"a line within its body has no end"};
    check(ec, "the body", limit::total, total_);
    std::string text = data_.substr(0, size - 2);
    data_.erase(0, size);
    co_return text;
}

asio::awaitable<void> exchange::chunks(const body_sink& sink) {
    while (const std::uint64_t size = parse_chunk_size(co_await line())) {
        co_await pass(size, sink);
        if (!(co_await line()).empty()) throw bad_response{"a chunk is longer than it says"};
    }
    while (!(co_await line()).empty()) {
    } // trailers
}

int exit_code(const std::exception_ptr& failure) {
    try {
        if (failure != nullptr) std::rethrow_exception(failure);
        return 0;
    } catch (const limit_reached& reached) {
        return static_cast<int>(reached.which());
    } catch (...) {
        return 1;
    }
}

std::string describe(const std::exception_ptr& failure) {
    try {
        if (failure != nullptr) std::rethrow_exception(failure);
        return "complete";
    } catch (const limit_reached& reached) {
        return fmt::format("ended by {}", reached.what());
    } catch (const std::exception& error) {
        return error.what();
    }
}

} // namespace http
