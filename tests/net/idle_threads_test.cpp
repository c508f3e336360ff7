// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Monitors on strands of a context that several threads run: each async_idle completes once, whatever races what.
#include "support/net/idle_rig.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

#include <cogwheel/net/overload_factor.hpp>

#include <asio/bind_executor.hpp>
#include <asio/post.hpp>
#include <asio/strand.hpp>
#include <asio/use_future.hpp>
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <optional>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

using strand = asio::strand<asio::any_io_executor>;
using monitor = idle_monitor<manual_timer_wheel>;

struct idle_tally {
    std::atomic<int> started{0}, events{0}, aborted{0};
    int completed() const { return events + aborted; }
};

// A connection's life: waits for events, is touched from its strand, is moved, and goes.
struct connection : std::enable_shared_from_this<connection> {
    connection(manual_timer_wheel& wheel, strand s, idle_tally& t)
        : home(std::move(s)),
          counts(t),
          idle(std::in_place, wheel, home, idle_timeouts{.reader = 2ms, .all = 3ms, .jitter = 0.5}) {}

    void wait() {
        ++counts.started;
        idle->async_idle([self = shared_from_this()](std::error_code ec, idle_event event) {
            CHECK(self->home.running_in_this_thread());
            if (ec) {
                CHECK(ec == asio::error::operation_aborted);
                ++self->counts.aborted;
            } else {
                CHECK(event.idle_for >= 1ms); // the shortest limit by the smallest factor
                ++self->counts.events;
                if (self->idle) self->wait();
            }
        });
    }

    strand home;
    idle_tally& counts;
    std::optional<monitor> idle;
};

} // namespace

TEST_CASE("monitors_on_strands_each_wait_completes_once") {
    asio::io_context io;
    idle_tally counts;
    {
        runners threads(io, 3);
        manual_timer_wheel wheel(io, {.tick = 1ms, .work_per_turn = 16});
        std::vector<std::shared_ptr<connection>> connections;
        for (int i = 0; i < 100; ++i) {
            connections.push_back(
                std::make_shared<connection>(wheel, strand(asio::any_io_executor(io.get_executor())), counts));
            asio::post(connections.back()->home, [c = connections.back()] { c->wait(); });
        }
        random_source random(1);
        for (int step = 0; step < 3000; ++step) {
            const auto& c = connections[random.below(connections.size())];
            if (step % 8 == 0) asio::post(c->home, asio::use_future).get(); // the threads keep up
            switch (random.below(8)) {
            case 0:
                manual_clock::advance(500us);
                break;
            case 1:
                overload_factor(wheel, random.below(2) != 0 ? 0.5 : 1);
                break;
            case 2:
                asio::post(c->home, [c] {
                    if (c->idle && c->idle->cancel() != 0) c->wait();
                });
                break;
            case 3:
                asio::post(c->home, [c] {
                    if (!c->idle) return;
                    monitor moved(std::move(*c->idle));
                    c->idle.emplace(std::move(moved));
                });
                break;
            case 4:
                if (random.below(20) == 0) asio::post(c->home, [c] { c->idle.reset(); });
                break;
            default:
                asio::post(c->home, [c] {
                    if (c->idle) c->idle->touch();
                });
            }
        }
        for (const auto& c : connections) {
            asio::post(c->home, [c] { c->idle.reset(); });
            asio::post(c->home, asio::use_future).get();
        }
    }
    CHECK(counts.started == counts.completed());
    CHECK(counts.events > 0);
    CHECK(counts.aborted > 0);
}
