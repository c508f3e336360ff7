// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A call, the connection that calls go over, and what keeps it alive.

#include "client.hpp"

#include "support/output.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/redirect_error.hpp>

#include <utility>

namespace rpc {

using namespace std::chrono_literals;

/// A call has a deadline, each attempt a timeout, and all retries share a budget.
asio::awaitable<std::string> client::call(std::string body, cogwheel::deadline until) {
    const auto attempt = [&](cogwheel::retry_attempt& a) -> asio::awaitable<std::string> {
        const std::uint64_t id = send(body);
        const auto limit = requests_.from_write(options_.timeout, a.deadline());
        co_return co_await requests_.async_wait(id, limit, asio::use_awaitable);
    };
    auto [result, answer] = co_await cogwheel::async_retry(
        wheel_, {.attempts = options_.attempts, .deadline = until, .budget = &budget_}, attempt, asio::use_awaitable);
    co_return answer;
}

std::uint64_t client::send(const std::string& body) {
    if (channel_ == nullptr) throw std::system_error(asio::error::connection_aborted); // until there is another one
    channel_->send(kind::request, ++last_id_, body);
    return last_id_;
}

asio::awaitable<void> client::run() {
    // From one answer to the next: that a server accepts is no sign that it works.
    cogwheel::backoff_sequence pause{
        cogwheel::backoff::exponential(20ms).cap(1s).jitter(cogwheel::backoff_jitter::decorrelated)};
    while (!stopped_) {
        std::error_code why = asio::error::connection_aborted;
        try {
            channel_ = co_await connect();
            ++counts_.connects;
            channel_->stream().keep_alive([this, &c = *channel_] { // or a pending read hears that it is closed
                c.send(kind::ping, 0, {});
                ++counts_.pings;
            });
            for (;;) {
                frame f = co_await channel_->receive();
                if (f.what != kind::response) continue;
                if (requests_.complete(f.id, std::move(f.body))) pause.reset();
            }
        } catch (const std::system_error& error) {
            why = error.code();
            static bool complained = false; // by one of all the clients
            if (why == asio::error::no_descriptors && !std::exchange(complained, true))
                output::complain("rpc: cannot connect: {}; trying again\n", why.message());
        }
        if (channel_ != nullptr) {
            ++counts_.drops;
            channel_->close();
            channel_ = nullptr;
            requests_.fail_all(why);
        }
        std::error_code ignored;
        if (!stopped_)
            co_await wheel_.async_wait(
                pause.next(random_), asio::bind_cancellation_slot(stop_connecting_.slot(),
                                                                  asio::redirect_error(asio::use_awaitable, ignored)));
    }
}

asio::awaitable<std::shared_ptr<channel>> client::connect() {
    tcp::socket socket{co_await asio::this_coro::executor};
    co_await socket.async_connect(
        options_.server, cogwheel::timeout(wheel_, options_.connect,
                                           asio::bind_cancellation_slot(stop_connecting_.slot(), asio::use_awaitable)));
    socket.set_option(tcp::no_delay{true});
    const cogwheel::idle_timeouts idle{.reader = 2 * options_.heartbeat, .ping = options_.heartbeat, .jitter = 0.2};
    const auto made = std::make_shared<channel>(wheel_, channel_limits{.idle = idle}, std::move(socket));
    made->on_written([this](std::error_code ec, const std::vector<std::uint64_t>& ids) {
        if (ec) return;
        for (const std::uint64_t id : ids) requests_.written(id);
    });
    co_return made;
}

void client::stop() {
    stopped_ = true;
    stop_connecting_.emit(asio::cancellation_type::terminal);
    if (channel_ != nullptr) channel_->close();
}

} // namespace rpc
