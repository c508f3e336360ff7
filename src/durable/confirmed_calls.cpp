// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "confirmed_calls.hpp"

#include COGWHEEL_ASIO_HEADER(co_spawn.hpp)
#include COGWHEEL_ASIO_HEADER(redirect_error.hpp)
#include COGWHEEL_ASIO_HEADER(use_awaitable.hpp)

#include <algorithm>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

constexpr std::size_t most_calls = 64; // of a pipeline: each may take the server milliseconds

// The server is silent while it waits for the replicas.
redis_options patient(const durable_options& options) {
    redis_options o = options.redis;
    o.command_timeout += options.replica_timeout;
    return o;
}

} // namespace

confirmed_calls::confirmed_calls(const timer_wheel& wheel, asio::any_io_executor executor,
                                 const durable_options& options)
    : client_(std::make_shared<redis_client>(wheel, patient(options))), lanes_(std::make_shared<lanes>()) {
    lanes_->executor = std::move(executor);
    lanes_->client = client_;
    lanes_->wait = {options.durability.count(), options.replica_timeout};
    lanes_->cluster = options.redis.topology == redis_topology::cluster;
}

void confirmed_calls::close() {
    lanes_->closed = true;
    client_->close();
}

asio::awaitable<sent_calls> confirmed_calls::send(std::vector<script_call> calls) {
    auto start = [all = lanes_, some = std::move(calls)](completion<sent_calls> done) mutable {
        add(all, {std::move(some), std::move(done), clock::now()});
    };
    error_code ec;
    auto token = asio::redirect_error(asio::use_awaitable, ec);
    sent_calls s = co_await initiate<sent_calls>(lanes_->executor, token, std::move(start));
    if (ec) s.error = ec;
    co_return s;
}

void confirmed_calls::add(const std::shared_ptr<lanes>& all, one call) {
    std::string node;
    if (const auto client = all->client.lock()) node = client->node_of(call.calls.front().command.routing_key());
    lane& own = all->by_node[node];
    own.waiting.push_back(std::move(call));
    if (std::exchange(own.busy, true)) return;
    asio::co_spawn(all->executor, work(all, own), [](const std::exception_ptr& e) {
        if (e) std::rethrow_exception(e); // no memory to report a failure: run() of the context throws
    });
}

std::vector<confirmed_calls::one> confirmed_calls::take(const lanes& all, lane& from) {
    std::vector<one> some;
    std::vector<one> rest;
    std::size_t calls = 0;
    const std::string route(from.waiting.front().calls.front().command.routing_key());
    for (one& o : from.waiting) {
        const bool fits = some.empty() || calls + o.calls.size() <= most_calls;
        if (fits && (!all.cluster || o.calls.front().command.routing_key() == route)) {
            calls += o.calls.size();
            some.push_back(std::move(o));
        } else {
            rest.push_back(std::move(o));
        }
    }
    from.waiting = std::move(rest);
    return some;
}

asio::awaitable<void> confirmed_calls::work(std::shared_ptr<lanes> all, lane& own) {
    while (!own.waiting.empty()) {
        std::vector<one> some = take(*all, own);
        co_await send_some(all, some);
    }
    own.busy = false;
}

asio::awaitable<void> confirmed_calls::send_some(std::shared_ptr<lanes> all, std::vector<one>& some) {
    std::vector<script_call> calls;
    for (one& o : some)
        for (script_call& c : o.calls) calls.push_back(std::move(c));
    // What the last call has waited already is a part of its limit. So in a cluster a lost replica does not cost
    // replica_timeout for each shard of a node.
    replica_wait wait = all->wait;
    const auto left = wait.timeout - (clock::now() - some.back().since);
    wait.timeout = std::max(std::chrono::milliseconds(1), std::chrono::ceil<std::chrono::milliseconds>(left));
    sent_calls sent;
    try {
        if (all->closed)
            sent.error = asio::error::operation_aborted;
        else
            sent = co_await send_calls(all->client, std::move(calls), wait);
    } catch (const std::exception&) {
        sent.error = asio::error::no_memory;
    }
    auto next = sent.replies.begin();
    for (one& o : some) {
        sent_calls part;
        part.error = sent.error;
        part.confirmed = sent.confirmed;
        if (!sent.error) {
            const auto end = next + static_cast<std::ptrdiff_t>(o.calls.size());
            part.replies.assign(std::make_move_iterator(next), std::make_move_iterator(end));
            next = end;
        }
        o.done(error_code(), std::move(part));
    }
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
