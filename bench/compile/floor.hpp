// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The floor of a wheel: the least that binds the compiled core to Asio. One steady_timer, a lock, a service of
// the context, posted turns, a callable behind each node. It leaves out options, limits, counts, stop(), failures of
// allocation, handlers on other executors, and the end of the context.
#pragma once

#include <cogwheel/wheel/hashed_wheel.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/associated_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/execution_context.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>
namespace least {
using clock = std::chrono::steady_clock;
using cogwheel::tick;
using cogwheel::timer_id;
using cogwheel::timer_node;
struct target {
    virtual bool cancel(timer_id) = 0;
    virtual bool reschedule(timer_id, std::chrono::nanoseconds) = 0;
    virtual bool pending(timer_id) = 0;
};
struct timer_token {
    target* t = nullptr;
    timer_id id;
    bool cancel() const { return t && t->cancel(id); }
};
struct engine : target {
    cogwheel::node_table nodes;
    std::optional<cogwheel::hashed_wheel> wheel;
    std::mutex mutex;
    std::optional<asio::any_io_executor> executor;
    std::optional<asio::steady_timer> timer;
    clock::time_point origin = clock::now();
    std::uint64_t planned = ~0ull, serial = 0;
    bool turning = false, posted = false;
    void start(const asio::any_io_executor& e) {
        std::unique_lock lock(mutex);
        wheel.emplace(nodes, 512, tick{});
        executor.emplace(e);
        timer.emplace(e);
    }
    void shutdown() {
        std::unique_lock lock(mutex);
        timer.reset();
        executor.reset();
        wheel.reset();
    }
    tick due(std::chrono::nanoseconds d) {
        return tick{std::uint64_t((clock::now() - origin + d).count() / 10'000'000 + 1)};
    }
    void arm(timer_node& n, tick t) {
        wake_by(t);
        wheel->schedule(n, t);
    }
    void wake_by(tick t) {
        if (turning || posted) return;
        if (t <= wheel->now()) {
            posted = true;
            asio::post(*executor, [this] {
                std::unique_lock lock(mutex);
                posted = false;
                turn(lock);
            });
        } else if (t.value < planned)
            plan(t);
    }
    void plan(tick t) {
        planned = t.value;
        timer->expires_at(origin + std::chrono::nanoseconds(t.value * 10'000'000));
        timer->async_wait([this, s = ++serial](std::error_code) {
            std::unique_lock lock(mutex);
            if (s != serial) return;
            planned = ~0ull;
            turn(lock);
        });
    }
    void turn(std::unique_lock<std::mutex>& lock) {
        if (turning || !wheel) return;
        turning = true;
        wheel->advance(due({}), cogwheel::work_budget::expiries(1000), &lock);
        turning = false;
        if (auto d = wheel->next_due()) plan(*d);
    }
    bool cancel(timer_id id) override {
        std::unique_lock lock(mutex);
        timer_node* n = nodes.find(id);
        if (!n) return false;
        wheel->cancel(*n);
        if (wheel->size() == 0 && planned != ~0ull) timer->cancel(), planned = ~0ull;
        return true;
    }
    bool reschedule(timer_id id, std::chrono::nanoseconds d) override {
        std::unique_lock lock(mutex);
        timer_node* n = nodes.find(id);
        if (!n) return false;
        tick t = due(d);
        wake_by(t);
        wheel->reschedule(*n, t);
        return true;
    }
    bool pending(timer_id id) override {
        std::unique_lock lock(mutex);
        return nodes.find(id) != nullptr;
    }
};
struct service : asio::execution_context::service {
    using key_type = service;
    static inline asio::execution_context::id id;
    explicit service(asio::execution_context& c) : asio::execution_context::service(c) {}
    engine& acquire() {
        std::lock_guard lock(mutex);
        engines.push_back(std::make_unique<engine>());
        return *engines.back();
    }
    void shutdown() noexcept override {
        for (auto& e : engines) e->shutdown();
    }
    std::mutex mutex;
    std::vector<std::unique_ptr<engine>> engines;
};
template <class F>
struct op {
    static void end(timer_node& n, void* c) {
        auto& lock = *static_cast<std::unique_lock<std::mutex>*>(c);
        engine& e = *at(n)->first;
        F f = std::move(at(n)->second);
        at(n)->second.~F();
        e.nodes.release(n, 32 + sizeof(std::pair<engine*, F>));
        lock.unlock();
        f();
        lock.lock();
    }
    static std::pair<engine*, F>* at(timer_node& n) { return reinterpret_cast<std::pair<engine*, F>*>(&n + 1); }
    static timer_node& create(engine& e, F f) {
        timer_node& n = e.nodes.allocate(32 + sizeof(std::pair<engine*, F>));
        new (&n + 1) std::pair<engine*, F>(&e, std::move(f));
        n.completion(&end);
        return n;
    }
};
class timer_wheel {
public:
    explicit timer_wheel(asio::io_context& io) : executor_(io.get_executor()) {
        engine_ = &asio::use_service<service>(io).acquire();
        engine_->start(executor_);
    }
    ~timer_wheel() {
        std::unique_lock lock(engine_->mutex);
        engine_->wheel->clear([](timer_node&) {});
    }
    template <class F>
    timer_token schedule(std::chrono::nanoseconds d, F f) {
        std::unique_lock lock(engine_->mutex);
        timer_node& n = op<F>::create(*engine_, std::move(f));
        engine_->arm(n, engine_->due(d));
        return {engine_, n.id()};
    }
    struct init {
        using executor_type = asio::any_io_executor;
        timer_wheel* w;
        executor_type get_executor() const noexcept { return w->executor_; }
        template <class H>
        void operator()(H&& h, std::chrono::nanoseconds d) const {
            auto slot = asio::get_associated_cancellation_slot(h);
            const timer_token t = w->schedule(d, [h = std::move(h)]() mutable { h(std::error_code()); });
            if (slot.is_connected()) slot.assign([t](asio::cancellation_type_t) { t.cancel(); });
        }
    };
    template <class T>
    auto async_wait(std::chrono::nanoseconds d, T&& t) {
        return asio::async_initiate<T, void(std::error_code)>(init{this}, t, d);
    }

private:
    engine* engine_;
    asio::any_io_executor executor_;
};
} // namespace least
