// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The two backends of durable tasks, for tests that run on both.
#pragma once

#include "src/durable/journal_store.hpp"
#include "src/durable/redis_store.hpp"
#include "support/durable/redis_server.hpp"

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <doctest/doctest.h>

#include <exception>
#include <optional>

namespace cogwheel_tests {

/// Runs a coroutine to its end, and all else that the context has to do meanwhile.
template <class T>
T run_until_done(asio::io_context& io, asio::awaitable<T> work) {
    std::optional<T> result;
    std::exception_ptr failure;
    bool done = false;
    asio::co_spawn(io, std::move(work), [&](std::exception_ptr e, T value) {
        failure = e;
        result = std::move(value);
        done = true;
    });
    io.restart();
    while (!done && io.run_one() > 0) {
    }
    if (failure) std::rethrow_exception(failure);
    if (!done) throw std::runtime_error("the coroutine waits for ever");
    return std::move(*result);
}

/// A store that is open.
struct store_rig {
    virtual ~store_rig() = default;
    virtual cogwheel::detail::task_store& store() = 0;

    template <class T>
    T operator()(asio::awaitable<T> work) {
        return run_until_done(io, std::move(work));
    }
    /// The value of an answer without an error.
    template <class T>
    T value(asio::awaitable<cogwheel::detail::answer<T>> work) {
        auto a = run_until_done(io, std::move(work));
        INFO("error: ", a.error.message(), ", trouble: ", store().trouble());
        REQUIRE(!a.error);
        return std::move(a.value);
    }

    asio::io_context io;
    cogwheel::detail::retention_limits limits;
};

struct journal_rig_of_stores final : store_rig {
    journal_rig_of_stores() : made(io.get_executor(), storage) { REQUIRE(!(*this)(made.open())); }
    cogwheel::detail::task_store& store() override { return made; }

    cogwheel::memory_storage storage;
    cogwheel::detail::journal_store made;
};

struct redis_rig_of_stores final : store_rig {
    explicit redis_rig_of_stores(std::vector<std::string> server_options = {}, bool open = true)
        : server({.arguments = std::move(server_options)}), wheel(io) {
        if (open) REQUIRE(!(*this)(make().open()));
    }
    cogwheel::durable_options options() const {
        cogwheel::durable_options o;
        o.redis.addresses = {{.host = {}, .path = server.socket()}};
        o.durability = cogwheel::durable_durability::memory();
        o.shards = 4;
        return o;
    }
    cogwheel::detail::redis_store& make() { return make(options()); }
    cogwheel::detail::redis_store& make(const cogwheel::durable_options& o) {
        made.reset();
        return made.emplace(wheel, io.get_executor(), o);
    }
    cogwheel::detail::task_store& store() override { return *made; }

    redis_server server;
    cogwheel::timer_wheel wheel;
    std::optional<cogwheel::detail::redis_store> made;
};

/// Runs a test on both. Skips Redis if it is not installed.
template <class F>
void on_both_stores(F test) {
    SUBCASE("journal") {
        journal_rig_of_stores rig;
        test(rig);
    }
    SUBCASE("redis") {
        if (!redis_server::installed()) {
            MESSAGE("skipped: redis-server is not installed");
            return;
        }
        redis_rig_of_stores rig;
        test(rig);
    }
}

} // namespace cogwheel_tests
