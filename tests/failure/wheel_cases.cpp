// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The wheel and its timer objects.
#include "failure/trial.hpp"

#include <cogwheel/asio/wheel_timer.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>

#include <optional>

namespace failure {

using namespace std::chrono_literals;

namespace wheel_case {
namespace {

void end(trial& t) {
    t.run();
    t.settle();
}

void schedule(trial& t) {
    t.begin();
    for (const auto delay : {1ms, 0ms, 2ms}) t.start([&](watched h) { t.wheel.schedule(delay, std::move(h)); });
    end(t);
}

void schedule_cancelled(trial& t) {
    t.begin();
    cogwheel::timer_wheel::token_type token;
    t.start_silent([&](watched h) { token = t.wheel.schedule(1h, std::move(h)); });
    t.insist([&] { token.cancel(); });
    end(t);
}

void on_cancel(trial& t) {
    t.begin();
    cogwheel::timer_wheel::token_type token;
    t.start([&](watched h) { token = t.wheel.schedule(1h, [] {}, cogwheel::on_cancel(std::move(h))); });
    t.insist([&] { token.cancel(); });
    end(t);
}

void reschedule(trial& t) {
    t.begin();
    cogwheel::timer_wheel::token_type token;
    t.start([&](watched h) { token = t.wheel.schedule(3ms, std::move(h)); });
    t.attempt([&] { token.reschedule(1ms); });
    t.attempt([&] { token.reschedule(2ms); });
    t.attempt([&] { token.reschedule(0ms); });
    end(t);
}

void rescheduled_from_far(trial& t) {
    t.begin();
    cogwheel::timer_wheel::token_type token;
    t.start([&](watched h) { token = t.wheel.schedule(1h, std::move(h)); });
    t.insist([&] { token.reschedule(1ms); });
    end(t);
}

void wait(trial& t) {
    t.begin();
    for (const auto delay : {1ms, 0ms, 2ms}) t.start([&](watched h) { t.wheel.async_wait(delay, std::move(h)); });
    end(t);
}

void wait_elsewhere(trial& t) {
    t.begin();
    t.start_bound([&](watched h) { t.wheel.async_wait(1ms, asio::bind_executor(t.elsewhere, std::move(h))); });
    end(t);
}

void wait_cancelled_by_slot(trial& t) {
    asio::cancellation_signal signal;
    t.begin();
    t.start([&](watched h) { t.wheel.async_wait(1h, asio::bind_cancellation_slot(signal.slot(), std::move(h))); });
    t.insist([&] { signal.emit(asio::cancellation_type::terminal); });
    end(t);
}

void many_waits(trial& t) {
    t.begin();
    for (int i = 0; i < 20; ++i) t.start([&](watched h) { t.wheel.async_wait(1ms * (1 + i % 5), std::move(h)); });
    end(t);
}

void waits_started_by_a_handler(trial& t) {
    t.begin();
    t.start([&](watched h) {
        t.wheel.async_wait(1ms, [&t, first = std::move(h)](std::error_code ec) mutable {
            t.start([&](watched next) { t.wheel.async_wait(1ms, std::move(next)); });
            t.start([&](watched next) { t.wheel.schedule(0ms, std::move(next)); });
            first(ec);
        });
    });
    end(t);
}

void told_to_others(trial& t) {
    t.begin();
    std::shared_ptr<cogwheel::stats_board> board;
    t.attempt([&] { board = t.wheel.publish(); });
    t.attempt(
        [&] { t.wheel.on_slow_turn({.longer_than = 0ns, .at_most_every = 0ns}, [](const cogwheel::slow_turn&) {}); });
    t.start([&](watched h) { t.wheel.async_wait(1ms, std::move(h)); });
    t.attempt([&] { (void)t.wheel.snapshot(); });
    if (board != nullptr) t.attempt([&] { (void)board->latest(); });
    end(t);
}

template <class F>
void all_ended(trial& t, F f) {
    t.begin();
    for (int i = 0; i < 3; ++i) t.start([&](watched h) { t.wheel.async_wait(1h, std::move(h)); });
    t.start([&](watched h) { t.wheel.schedule(1h, [] {}, cogwheel::on_cancel(std::move(h))); });
    t.start_silent([&](watched h) { t.wheel.schedule(1h, std::move(h)); });
    t.insist(f);
    end(t);
}
void cancel_all(trial& t) {
    all_ended(t, [&] { t.wheel.cancel_all(); });
}
void stop(trial& t) {
    all_ended(t, [&] { t.wheel.stop(); });
}
void stop_with_visitor(trial& t) {
    all_ended(t, [&] { t.wheel.stop([](auto) {}); });
}
void refused(trial& t) {
    t.wheel.stop();
    t.begin();
    t.start([&](watched h) { t.wheel.async_wait(1ms, std::move(h)); });
    end(t);
}

void wheel_destroyed(trial& t) {
    std::optional<cogwheel::timer_wheel> wheel(std::in_place, t.io);
    t.begin();
    for (int i = 0; i < 3; ++i) t.start([&](watched h) { wheel->async_wait(1h, std::move(h)); });
    t.start([&](watched h) { wheel->schedule(1h, [] {}, cogwheel::on_cancel(std::move(h))); });
    wheel.reset();
    end(t);
}

void wheel_made(trial& t) {
    t.begin();
    std::optional<cogwheel::timer_wheel> wheel;
    if (t.attempt([&] { wheel.emplace(t.io, cogwheel::wheel_options{.tick = 1ms, .reserve = 100}); }))
        t.start([&](watched h) { wheel->async_wait(1ms, std::move(h)); });
    end(t);
}

void timer_waits(trial& t) {
    t.begin();
    cogwheel::wheel_timer timer(t.wheel, 1ms), other(t.wheel, 2ms);
    for (int i = 0; i < 3; ++i) t.start([&](watched h) { timer.async_wait(std::move(h)); });
    t.start([&](watched h) { other.async_wait(std::move(h)); });
    t.attempt([&] { other.reschedule(1ms); });
    end(t);
}

template <class F>
void timer_ended(trial& t, F f) {
    asio::cancellation_signal signal;
    t.begin();
    std::optional<cogwheel::wheel_timer> timer(std::in_place, t.wheel, 1h);
    for (int i = 0; i < 2; ++i) t.start([&](watched h) { timer->async_wait(std::move(h)); });
    t.start([&](watched h) { timer->async_wait(asio::bind_cancellation_slot(signal.slot(), std::move(h))); });
    t.insist([&] { signal.emit(asio::cancellation_type::terminal); });
    f(timer);
    end(t);
}
void timer_cancelled(trial& t) {
    timer_ended(t, [&](auto& timer) { t.insist([&] { timer->cancel(); }); });
}
void timer_cancelled_one_by_one(trial& t) {
    timer_ended(t, [&](auto& timer) {
        t.insist([&] { timer->cancel_one(); });
        t.insist([&] { timer->cancel_one(); });
    });
}
void timer_armed_anew(trial& t) {
    timer_ended(t, [&](auto& timer) { t.insist([&] { timer->expires_after(1ms); }); });
}
void timer_destroyed(trial& t) {
    timer_ended(t, [&](auto& timer) { timer.reset(); });
}

} // namespace
} // namespace wheel_case

test_cases wheel_cases() {
    using namespace wheel_case;
    return {{"schedule", schedule},
            {"schedule, cancelled", schedule_cancelled},
            {"schedule, on_cancel", on_cancel},
            {"reschedule", reschedule},
            {"reschedule from far", rescheduled_from_far},
            {"async_wait", wait},
            {"async_wait elsewhere", wait_elsewhere},
            {"async_wait, cancelled by its slot", wait_cancelled_by_slot},
            {"async_wait, many", many_waits},
            {"async_wait, by a handler", waits_started_by_a_handler},
            {"board, slow turns, snapshot", told_to_others},
            {"cancel_all", cancel_all},
            {"stop", stop},
            {"stop with a visitor", stop_with_visitor},
            {"async_wait, refused", refused},
            {"wheel destroyed", wheel_destroyed},
            {"wheel made", wheel_made},
            {"wheel_timer", timer_waits},
            {"wheel_timer, cancel", timer_cancelled},
            {"wheel_timer, cancel_one", timer_cancelled_one_by_one},
            {"wheel_timer, expires_after", timer_armed_anew},
            {"wheel_timer, destroyed", timer_destroyed}};
}

} // namespace failure
