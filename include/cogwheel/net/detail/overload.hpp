// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The overload factor of a wheel, the list of the monitors that it affects, and the counts of their events.
//
// When the factor falls, a walk through the list moves the monitors' timers forward, by the most that the fall can
// matter. A monitor whose timer fires too early waits again. The walk runs on the wheel's executor, 1,024 monitors in
// each turn. When the factor rises, no timer moves: each fires early, and its monitor waits again.
#pragma once

#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/detail/linked_list.hpp>
#include <cogwheel/detail/post_flag.hpp>
#include <cogwheel/net/idle_stats.hpp>
#include <cogwheel/net/idle_timeouts.hpp>

#include COGWHEEL_ASIO_HEADER(post.hpp)

#include <array>
#include <atomic>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Needs the engine's lock, except for factor() and count(), which any thread may call.
template <class Engine>
class overload final : public wheel_extension {
    using lock_type = typename Engine::lock_type;

public:
    /// A wait that ends at `until` under `factor`. If the factor falls by d, it ends earlier by at most d x `period`.
    struct member : list_links<member> {
        wheel_timer_impl<Engine>* timer = nullptr;
        std::chrono::nanoseconds until{}; // since the clock's epoch
        std::chrono::nanoseconds period{};
        double factor = 1;
    };

    double factor() const noexcept { return factor_.load(std::memory_order_relaxed); }

    void shut_down() noexcept override {}

    void join(member& m) noexcept {
        members_.push_front(m);
        ++monitors_;
    }
    void leave(member& m) noexcept {
        --monitors_;
        if (cursor_ == &m) cursor_ = members_.next(m);
        members_.erase(m);
    }
    void count(idle_kind kind) noexcept {
        events_[static_cast<std::size_t>(kind)].fetch_add(1, std::memory_order_relaxed);
    }
    idle_stats stats() const noexcept {
        const auto events = [this](idle_kind kind) {
            return events_[static_cast<std::size_t>(kind)].load(std::memory_order_relaxed);
        };
        return {monitors_, events(idle_kind::reader), events(idle_kind::writer), events(idle_kind::all),
                events(idle_kind::ping)};
    }

    /// Puts `to` into the list in place of `from`.
    void replace(member& from, member& to) noexcept {
        leave(from);
        to.until = from.until;
        to.period = from.period;
        to.factor = from.factor;
        join(to); // at the front, which a running walk does not reach: so shorten() is called here
        shorten(to);
    }

    /// Sets the factor, and starts a walk if it falls. Errors: those of a post; nothing changes then.
    void set(Engine& engine, lock_type& lock, double factor) {
        const bool falls = factor < factor_ && !members_.empty() && !engine.is_shut_down();
        if (falls && !walk_posted_.is_set()) post_walk(engine, lock);
        factor_.store(factor, std::memory_order_relaxed);
        if (falls && walk_posted_.is_set()) cursor_ = members_.front();
    }

private:
    static constexpr int members_per_turn = 1024;

    struct posted_walk {
        Engine* engine;
        overload* of;

        posted_walk(Engine& e, overload& o) noexcept : engine(&e), of(&o) {}
        posted_walk(posted_walk&& other) noexcept : engine(std::exchange(other.engine, nullptr)), of(other.of) {}
        posted_walk& operator=(posted_walk&&) = delete;
        ~posted_walk() {
            if (engine == nullptr || !of->walk_posted_.lose()) return;
            lock_type lock = engine->lock();
            of->end_walk(*engine, lock);
        }
        void operator()() {
            Engine& e = *std::exchange(engine, nullptr);
            lock_type turn = e.lock();
            of->walk_posted_.clear();
            of->walk(e, turn);
            e.leave(turn);
        }
    };

    void post_walk(Engine& engine, lock_type& lock) {
        engine.join();
        walk_posted_.begin();
        COGWHEEL_TRY { asio::post(engine.executor(), posted_walk(engine, *this)); }
        COGWHEEL_CATCH {
            walk_posted_.fail();
            engine.leave(lock);
            COGWHEEL_RETHROW;
        }
        if (!walk_posted_.succeed()) end_walk(engine, lock);
    }
    // Ends a walk that the executor has destroyed: the timers keep their old times.
    void end_walk(Engine& engine, lock_type& lock) noexcept {
        walk_posted_.clear();
        cursor_ = nullptr;
        engine.leave(lock);
    }
    void walk(Engine& engine, lock_type& lock) noexcept {
        COGWHEEL_TRY {
            // The turn plans once for all timers. Without it, each earlier timer would arm the driver again.
            engine.request_turn();
        }
        COGWHEEL_CATCH {
            // No memory: each timer arms the driver.
        }
        for (int n = 1; cursor_ != nullptr; ++n) {
            shorten(*cursor_);
            cursor_ = members_.next(*cursor_);
            if (cursor_ == nullptr || n % members_per_turn != 0) continue;
            COGWHEEL_TRY { return post_walk(engine, lock); }
            COGWHEEL_CATCH {
                // No memory for another turn: this turn continues.
            }
        }
    }
    // Computes from the factor at the start of the wait, so many small steps have the effect of a large one.
    void shorten(member& m) noexcept {
        const double by = m.factor - factor();
        if (by <= 0) return;
        const std::chrono::duration<double, std::nano> sooner(static_cast<double>(m.period.count()) * by);
        COGWHEEL_TRY {
            m.timer->bring_forward(
                point_after(typename Engine::time_point(), saturating_add(m.until, -saturate_to_ns(sooner))));
        }
        COGWHEEL_CATCH {
            // No memory: this timer keeps its old time.
        }
    }

    std::atomic<double> factor_{1};
    std::uint64_t monitors_ = 0;
    std::array<std::atomic<std::uint64_t>, 4> events_{}; // in the order of idle_kind
    linked_list<member> members_;
    member* cursor_ = nullptr; // the member that the walk visits next
    post_flag walk_posted_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
