// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// One factor for all idle limits of a wheel, and those whose timers run under it.
//
// Who waits under the factor stands in a list. When the factor falls, their timers are brought forward: by the most
// that it can matter, for what they wait for is known to their owner alone, who looks again when the timer fires and
// may find that it is too early. That is done on the wheel's executor, so many at a time. When the factor rises, nobody
// is touched: timers come early then.
#pragma once

#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/detail/exceptions.hpp>

#include <asio/post.hpp>

#include <atomic>

namespace cogwheel::detail {

/// All but factor() needs the engine's lock.
template <class Engine>
class overload final : public wheel_extension {
    using lock_type = typename Engine::lock_type;

public:
    /// Who waits, and for what: `until` under `factor`, of which a share of `period` goes with the factor.
    struct member {
        member* previous = nullptr;
        member* next = nullptr;
        wheel_timer_impl<Engine>* timer = nullptr;
        std::chrono::nanoseconds until{}; // since the clock's epoch
        std::chrono::nanoseconds period{};
        double factor = 1;
    };

    /// Any thread.
    double factor() const noexcept { return factor_.load(std::memory_order_relaxed); }

    void join(member& m) noexcept {
        m.previous = nullptr;
        m.next = first_;
        if (first_ != nullptr) first_->previous = &m;
        first_ = &m;
    }
    void leave(member& m) noexcept {
        if (cursor_ == &m) cursor_ = m.next;
        (m.previous != nullptr ? m.previous->next : first_) = m.next;
        if (m.next != nullptr) m.next->previous = m.previous;
    }
    /// `to` takes the place of `from`.
    void replace(member& from, member& to) noexcept {
        leave(from);
        to.until = from.until;
        to.period = from.period;
        to.factor = from.factor;
        join(to); // at the front, behind a walk; so its timer is looked after here
        shorten(to);
    }

    /// Errors: those of a post; nothing changes.
    void set(Engine& engine, lock_type& lock, double factor) {
        const bool falls = factor < factor_ && first_ != nullptr && !engine.is_shut_down();
        if (falls && cursor_ == nullptr) post_walk(engine, lock);
        factor_.store(factor, std::memory_order_relaxed);
        if (falls) cursor_ = first_;
    }

private:
    static constexpr int members_per_turn = 1024;

    void post_walk(Engine& engine, lock_type& lock) {
        engine.join();
        COGWHEEL_TRY {
            asio::post(engine.executor(), [&engine, this] {
                lock_type turn = engine.lock();
                walk(engine, turn);
                engine.leave(turn);
            });
        }
        COGWHEEL_CATCH {
            engine.leave(lock);
            COGWHEEL_RETHROW;
        }
    }
    void walk(Engine& engine, lock_type& lock) noexcept {
        COGWHEEL_TRY {
            engine.request_turn(); // which plans for all of them; else each that is sooner would arm the driver anew
        }
        COGWHEEL_CATCH {
            // No memory for it: each plans for itself.
        }
        for (int n = 1; cursor_ != nullptr; ++n) {
            shorten(*cursor_);
            cursor_ = cursor_->next;
            if (cursor_ == nullptr || n % members_per_turn != 0) continue;
            COGWHEEL_TRY { return post_walk(engine, lock); }
            COGWHEEL_CATCH {
                // No memory for another turn: this one goes on.
            }
        }
    }
    // From what the wait was at its start, so that many small steps are as good as one.
    void shorten(member& m) noexcept {
        const double by = m.factor - factor();
        if (by <= 0) return;
        const std::chrono::duration<double, std::nano> sooner(static_cast<double>(m.period.count()) * by);
        COGWHEEL_TRY {
            m.timer->bring_forward(
                point_after(typename Engine::time_point(), saturating_add(m.until, -saturate_to_ns(sooner))));
        }
        COGWHEEL_CATCH {
            // No memory for it: this one comes at its old time.
        }
    }

    std::atomic<double> factor_{1};
    member* first_ = nullptr;
    member* cursor_ = nullptr; // whom the walk visits next; nullptr: there is none
};

} // namespace cogwheel::detail
