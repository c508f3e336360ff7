// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// rpc_client: a call has a deadline, each attempt a timeout, and all retries share a budget. An answer that comes too
// late is counted, and hurts nobody.

#include "program.hpp"

asio::awaitable<std::string> rpc::client::call(std::string body, cogwheel::deadline until) {
    const auto attempt = [&](cogwheel::retry_attempt& a) -> asio::awaitable<std::string> {
        const std::uint64_t id = send(body);
        const auto limit = cogwheel::request_timeout::from_write(options_.timeout, a.deadline());
        co_return co_await requests_.async_wait(id, limit, asio::use_awaitable);
    };
    auto [result, answer] = co_await cogwheel::async_retry(
        wheel_, {.attempts = options_.attempts, .deadline = until, .budget = &budget_}, attempt, asio::use_awaitable);
    co_return answer;
}

int main(int argc, char** argv) { return rpc::run(argc, argv); }
