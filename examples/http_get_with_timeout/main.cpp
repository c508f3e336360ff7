// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// http_get_with_timeout: a plain HTTP/1.1 GET whose every step has a limit, and one deadline that travels through all
// of them.

#include "program.hpp"

asio::awaitable<http::response> http::get(wheel& timers, const target& to, const limits& most, body_sink sink) {
    const auto total = cogwheel::deadline::after(most.total);
    exchange peer{co_await asio::this_coro::executor, timers, total};

    co_await peer.connect(to, total.min(most.connect)); // the step's own limit, or what is left of the total
    co_await peer.ask(to, total.min(most.first_byte));
    const response answer = co_await peer.header(total.min(most.header));
    co_await peer.body(answer, most.body_idle, sink); // no pause in it is longer: the stream is an idle_stream
    co_return answer;
}

int main(int argc, char** argv) { return http::run(argc, argv); }
