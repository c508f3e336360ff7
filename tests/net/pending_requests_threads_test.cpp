// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Clients on strands of a context that several threads run, on one wheel: answers, timeouts and cancellations meet on
// different threads, and every request completes exactly once, on its strand.
#include "support/net/request_rig.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <optional>

using namespace cogwheel;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

using requests_type = pending_requests<int, std::string, testing::manual_timer_wheel>;

/// Works on its strand, a step at a time, without any lock.
class threaded_client : public std::enable_shared_from_this<threaded_client> {
public:
    threaded_client(asio::io_context& io, const testing::manual_timer_wheel& wheel, std::uint64_t seed)
        : strand_(asio::make_strand(io)), random_(seed) {
        requests_.emplace(wheel, strand_, request_options{.max_in_flight = 40});
    }

    void step(int left) {
        asio::post(strand_, [self = shared_from_this(), left] {
            self->act();
            if (left > 0) return self->step(left - 1);
            self->requests_->fail_all(asio::error::eof);
            self->stats_ = self->requests_->stats();
            self->requests_.reset(); // lets go of the wheel
            self->finished_ = true;
        });
    }

    bool finished() const { return finished_; }
    /// Once all has come to rest.
    void check() const {
        const request_stats& s = stats_;
        CHECK(counts_agree(s));
        CHECK(s.in_flight == 0);
        CHECK(s.started + s.refused == static_cast<std::uint64_t>(asked_));
        CHECK(ended_ == asked_);
        CHECK(off_strand_ == 0);
    }
    const request_stats& stats() const { return stats_; }

private:
    void act() {
        const int key = static_cast<int>(random_.below(60));
        switch (random_.below(8)) {
        case 0:
            requests_->complete(key, "answer");
            break;
        case 1:
            requests_->cancel(key);
            break;
        case 2:
            requests_->written(key);
            break;
        case 3:
            signals_[random_.below(signals_.size())].emit(asio::cancellation_type::total);
            break;
        default:
            ask(key);
        }
    }

    void ask(int key) {
        ++asked_;
        const auto handler = [self = shared_from_this()](std::error_code, const std::string&) {
            if (!self->strand_.running_in_this_thread()) ++self->off_strand_;
            ++self->ended_;
        };
        const auto limit = std::chrono::milliseconds(random_.below(5));
        auto& signal = signals_[random_.below(signals_.size())];
        if (random_.below(2) == 0)
            requests_->async_wait(key, limit, asio::bind_cancellation_slot(signal.slot(), handler));
        else
            requests_->async_wait(key, requests_type::from_write(limit), handler);
    }

    asio::strand<asio::io_context::executor_type> strand_;
    std::optional<requests_type> requests_;
    request_stats stats_;
    random_source random_;
    std::array<asio::cancellation_signal, 8> signals_;
    int asked_ = 0, ended_ = 0, off_strand_ = 0; // the strand is their guard
    std::atomic<bool> finished_{false};
};

} // namespace

TEST_CASE("clients_on_strands_every_request_completes_once") {
    asio::io_context io;
    std::vector<std::shared_ptr<threaded_client>> clients;
    {
        runners threads(io, 3);
        testing::manual_timer_wheel wheel(io, {.tick = 1ms, .work_per_turn = 8});
        for (std::uint64_t seed = 1; seed <= 6; ++seed) {
            clients.push_back(std::make_shared<threaded_client>(io, wheel, seed));
            clients.back()->step(3000);
        }
        while (!std::all_of(clients.begin(), clients.end(), [](const auto& c) { return c->finished(); })) {
            manual_clock::advance(1ms);
            std::this_thread::yield();
        }
    }
    request_stats sum;
    for (const auto& c : clients) {
        c->check();
        sum.answered += c->stats().answered;
        sum.timed_out += c->stats().timed_out;
        sum.cancelled += c->stats().cancelled;
    }
    CHECK(sum.answered > 0);
    CHECK(sum.timed_out > 0);
    CHECK(sum.cancelled > 0);
}

TEST_CASE("objects_destroyed_on_their_strands_while_timeouts_are_on_their_way") {
    asio::io_context io;
    std::atomic<int> ended{0};
    constexpr int rounds = 300, each = 10;
    {
        runners threads(io, 3);
        testing::manual_timer_wheel wheel(io, {.tick = 1ms});
        for (int round = 0; round < rounds; ++round) {
            const auto strand = asio::make_strand(io);
            auto requests = std::make_shared<requests_type>(wheel, strand);
            asio::post(strand, [requests, &ended] {
                for (int key = 0; key < each; ++key)
                    requests->async_wait(key, 1ms, [&](std::error_code, const std::string&) { ++ended; });
            });
            asio::post(strand, [requests = std::move(requests)]() mutable { requests.reset(); });
            manual_clock::advance(1ms);
        }
        while (ended != rounds * each) {
            manual_clock::advance(1ms);
            std::this_thread::yield();
        }
    }
    CHECK(ended == rounds * each);
}

TEST_CASE("wheels_timers_cancelled_from_another_thread_requests_end_once") {
    asio::io_context io;
    std::atomic<int> ended{0};
    constexpr int rounds = 200, each = 10;
    {
        runners threads(io, 2);
        testing::manual_timer_wheel wheel(io, {.tick = 1ms});
        const auto strand = asio::make_strand(io);
        auto requests = std::make_shared<requests_type>(wheel, strand);
        for (int round = 0; round < rounds; ++round) {
            asio::post(strand, [requests, round, &ended] {
                for (int key = round * each; key < (round + 1) * each; ++key)
                    requests->async_wait(key, 1h, [&](std::error_code, const std::string&) { ++ended; });
            });
            asio::post(strand, [requests, round] { requests->complete(round * each, ""); });
            wheel.cancel_all();
        }
        while (ended != rounds * each) {
            wheel.cancel_all();
            std::this_thread::yield();
        }
        asio::post(strand, [requests = std::move(requests)] { CHECK(counts_agree(requests->stats())); });
    }
    CHECK(ended == rounds * each);
}
