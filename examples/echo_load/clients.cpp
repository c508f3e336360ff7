// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What one client does, and how all of them end.

#include "clients.hpp"

#include <asio/buffer.hpp>
#include <asio/co_spawn.hpp>
#include <asio/read.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>

namespace load {
namespace {

/// A number that is the same in every run, and different for each pair (splitmix64).
std::uint64_t scrambled(std::uint64_t a, std::uint64_t b) {
    std::uint64_t z = (a << 32) + b + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

using message = std::array<char, 512>;

/// Fills a message of 32 to 512 bytes that no other connection and no other round sends.
std::size_t compose(message& out, std::uint64_t index, std::uint64_t round) {
    const std::uint64_t key = scrambled(index, round);
    const std::size_t words = 4 + key % 61;
    for (std::size_t i = 0; i < words; ++i) {
        const std::uint64_t word = scrambled(key, i);
        std::memcpy(out.data() + 8 * i, &word, 8);
    }
    return 8 * words;
}

} // namespace

const results& clients::run() {
    std::exception_ptr failure;
    asio::co_spawn(io_, connect_all(), [&](std::exception_ptr error) {
        failure = std::move(error);
        connecting_ = false;
        end_if_done();
    });
    last_resort_ = wheel_.schedule(end_ + grace, [this] {
        abandoned_ = true;
        std::error_code ignored;
        for (const auto& one : clients_) one->socket.close(ignored);
    });
    show_progress();
    schedule_progress();

    io_.run(); // returns when the last client has left: end_if_done() leaves no timer behind

    if (failure) std::rethrow_exception(failure);
    show_progress();
    return seen_;
}

asio::awaitable<void> clients::connect_all() {
    const asio::ip::tcp::endpoint server{options_.address, options_.port};
    for (std::size_t i = 0; i < options_.connections && !abandoned_; ++i) {
        auto self = std::make_shared<client>(i, io_);
        self->before_last_send = clock::now();
        std::error_code ec;
        co_await self->socket.async_connect(server, asio::redirect_error(asio::use_awaitable, ec));
        if (ec && seen_.connected == 0)
            throw std::system_error{
                ec, fmt::format("cannot connect to {} port {}", options_.address.to_string(), options_.port)};
        if (ec) {
            seen_.first_connect_error = seen_.first_connect_error.empty() ? ec.message() : seen_.first_connect_error;
            continue;
        }
        self->last_receipt = clock::now();
        ++seen_.connected;
        clients_.insert(self);
        asio::co_spawn(io_, live(self), [this, self](const std::exception_ptr& failure) {
            seen_.failed += failure != nullptr ? 1 : 0;
            left(self);
        });
    }
}

asio::awaitable<void> clients::live(std::shared_ptr<client> self) {
    const bool falls_silent = self->index % 2 == 1;
    const auto share = static_cast<double>(self->index) / static_cast<double>(options_.connections);
    const auto silence = started_ + std::chrono::duration_cast<clock::duration>(share * options_.silence_spread);

    if (!co_await chat(*self, falls_silent ? silence : end_)) {
        if (!abandoned_) ++(falls_silent ? seen_.kicked_before_silent : seen_.kicked_while_chatting);
    } else if (falls_silent) {
        ++seen_.waiting;
        co_await await_kick(*self);
        --seen_.waiting;
    }
}

/// Talks at least once, and then every options_.chat until `end`. False if the connection ended first.
asio::awaitable<bool> clients::chat(client& self, clock::time_point end) {
    // A first pause of its own spreads the connections evenly over the period.
    const auto phase = static_cast<double>(scrambled(self.index, 0) % 1000) / 1000;
    auto next = clock::now() + std::chrono::duration_cast<clock::duration>(phase * options_.chat);
    for (;; next += options_.chat) {
        if (!co_await exchange(self)) co_return false;
        if (next >= end) co_return true;
        std::error_code ec;
        co_await wheel_.async_wait(next, asio::redirect_error(asio::use_awaitable, ec));
        if (ec) co_return false;
    }
}

/// Sends one message, and reads exactly its echo. False if the connection ended first.
asio::awaitable<bool> clients::exchange(client& self) {
    message sent;
    message received;
    const std::size_t size = compose(sent, self.index, self.round++);

    std::error_code ec;
    ++seen_.messages_sent;
    self.before_last_send = clock::now();
    co_await asio::async_write(self.socket, asio::buffer(sent, size), asio::redirect_error(asio::use_awaitable, ec));
    if (!ec)
        co_await asio::async_read(self.socket, asio::buffer(received, size),
                                  asio::redirect_error(asio::use_awaitable, ec));
    if (ec) co_return false;

    self.last_receipt = clock::now();
    if (std::memcmp(sent.data(), received.data(), size) == 0) ++seen_.messages_intact;
    seen_.bytes_echoed += size;
    co_return true;
}

asio::awaitable<void> clients::await_kick(client& self) {
    message rest;
    for (;;) {
        std::error_code ec;
        seen_.stray_bytes +=
            co_await self.socket.async_read_some(asio::buffer(rest), asio::redirect_error(asio::use_awaitable, ec));
        if (!ec) continue;
        if (abandoned_) {
            ++seen_.never_kicked;
        } else {
            const auto now = clock::now();
            seen_.kicks.push_back({now - self.before_last_send, now - self.last_receipt});
            lateness_.record(seen_.kicks.back().after_last_receipt - options_.idle);
            if (ec != asio::error::eof) ++seen_.resets;
        }
        co_return;
    }
}

void clients::left(const std::shared_ptr<client>& self) {
    std::error_code ignored;
    self->socket.close(ignored);
    clients_.erase(self);
    end_if_done();
}

void clients::end_if_done() {
    if (!connecting_ && clients_.empty()) {
        progress_.cancel();
        last_resort_.cancel();
    }
}

void clients::show_progress() {
    const auto seconds = [](std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); };
    const auto now = clock::now();
    const auto chatting = clients_.size() - seen_.waiting;
    const auto closed = seen_.kicks.size() + seen_.kicked_before_silent + seen_.kicked_while_chatting;
    // One that is closed is counted before it leaves the list.
    const auto left = seen_.connected - std::min<std::uint64_t>(seen_.connected, clients_.size() + closed);
    const auto rate = messages_.per_second(seen_.messages_intact, now);
    view_.show({output::labelled("time", fmt::format("{:.1f} s of {:.1f} s, {} of {} connected, {} have left",
                                                     seconds(now - started_), seconds(options_.seconds),
                                                     seen_.connected, options_.connections, left)),
                output::labelled_bar("chatting", chatting, options_.connections),
                output::labelled_bar("silent", seen_.waiting, options_.connections),
                output::labelled_bar("closed", closed, options_.connections),
                output::labelled("messages", fmt::format("{:.0f}/s, {} came back intact", rate, seen_.messages_intact)),
                output::labelled("lateness", output::to_text(lateness_) + " after the idle limit")},
               fmt::format("{:5.1f} s | open {} | silent {} | kicked {} | echoed {}", seconds(now - started_),
                           clients_.size(), seen_.waiting, closed, seen_.messages_intact));
}

void clients::schedule_progress() {
    using namespace std::chrono_literals;
    progress_ = wheel_.schedule(view_.on_terminal() ? 200ms : 1000ms, [this] {
        show_progress();
        schedule_progress();
    });
}

} // namespace load
