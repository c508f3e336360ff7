// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// slowloris_guard: a server that wants the whole header of a request within T and at a minimum rate. A connection costs
// one timer; each piece that arrives moves it, which is a store: whoever drips wakes nobody.

#include "program.hpp"

asio::awaitable<guard::verdict> guard::connection::read_header() {
    header_due due{demands_, clock::now()}; // the grace period from now; each byte buys 1/rate seconds more
    for (;;) {
        timer_.cancel_at(due.at());
        const std::size_t bytes = co_await read_piece();
        if (bytes == 0) co_return timer_.fired() ? verdict::late : verdict::gone;
        if (header_is_complete()) co_return verdict::served;
        if (is_full()) co_return verdict::too_large;
        due.received(bytes, clock::now());
    }
}

int main(int argc, char** argv) { return guard::run(argc, argv); }
