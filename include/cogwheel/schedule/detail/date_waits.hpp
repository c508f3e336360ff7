// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The waits for a date on one wheel, and the watch that tells when the wall clock is set. All waits then read the clock
// again: their timers move to now. This takes O(waits), under the wheel's lock.
//
// The watch runs only while there is a wait, so it does not keep run() from returning. Without a file descriptor or
// memory for the watch, the waits notice a set clock within their recheck time.
#pragma once

#include <cogwheel/asio/clock_watch.hpp>
#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/detail/linked_list.hpp>

#include COGWHEEL_ASIO_HEADER(error.hpp)

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <utility>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Needs the engine's lock.
template <class Engine, class Watch>
class date_waits final : public wheel_extension {
    using lock_type = typename Engine::lock_type;

public:
    struct member : list_links<member> {
        timer_id timer; // of the present wait
        bool joined = false;
    };

    /// Makes the watch notify the member when the clock is set. May be called again.
    void join(Engine& engine, member& m) noexcept {
        if (!std::exchange(m.joined, true)) members_.push_back(m);
        listen(engine);
    }
    void leave(member& m) noexcept {
        if (!m.joined) return;
        members_.erase(m);
        if (members_.empty() && listening_) watch_->cancel();
    }

    void shut_down() noexcept override {
        listening_ = false;
        watch_.reset();
    }

private:
    /// The handler of the watch. Keeps the wheel's impl, and so this extension.
    class clock_set {
    public:
        clock_set(Engine& e, date_waits& w) noexcept : engine_(&e), waits_(&w) {}
        clock_set(clock_set&& other) noexcept : engine_(std::exchange(other.engine_, nullptr)), waits_(other.waits_) {}
        clock_set& operator=(clock_set&&) = delete;
        // Destroyed without a call: by a failing async_wait() under the lock (listening_ is false then), by an executor
        // that could not take it, or by the end of its context.
        ~clock_set() {
            if (engine_ == nullptr || !waits_->listening_) return;
            lock_type lock = engine_->lock();
            waits_->listening_ = false;
            engine_->leave(lock);
        }
        void operator()(error_code ec) {
            Engine& engine = *std::exchange(engine_, nullptr);
            lock_type lock = engine.lock();
            waits_->heard(engine, ec);
            engine.leave(lock);
        }

    private:
        Engine* engine_;
        date_waits* waits_;
    };

    void listen(Engine& engine) noexcept {
        if (listening_ || engine.is_shut_down()) return;
        COGWHEEL_TRY {
            if (!ensure_open(watch_, engine.executor())) return;
            watch_->async_wait(clock_set(engine, *this));
        }
        COGWHEEL_CATCH { return; }
        listening_ = true;
        engine.join();
    }

    // With operation_aborted, the last member has left; a new one may have come, and the clock may have been set since.
    void heard(Engine& engine, error_code ec) noexcept {
        listening_ = false;
        if (!ec || ec == asio::error::operation_aborted) read_again(engine); // each member that waits on joins again
    }

    void read_again(Engine& engine) noexcept {
        COGWHEEL_TRY {
            for (const member* m = members_.front(); m != nullptr; m = members_.next(*m))
                if (timer_node* node = engine.nodes.find(m->timer)) engine.rearm(*node, from_present{});
        }
        COGWHEEL_CATCH {
            // No memory: the waits read the clock within their recheck time.
        }
    }

    linked_list<member> members_;
    std::optional<Watch> watch_;
    std::atomic<bool> listening_ = false;
};

/// For a clock without a watch.
template <class Engine>
class date_waits<Engine, void> final : public wheel_extension {
public:
    struct member {
        timer_id timer;
    };
    void join(Engine&, member&) noexcept {}
    void leave(member&) noexcept {}
    void shut_down() noexcept override {}
};

/// The date of one wait. Keeps the impl of its wheel, because the timer_wheel may be destroyed between two readings.
template <class Wheel, class WallClock>
class pending_date {
    using impl = impl_type<Wheel>;
    using clock = typename Wheel::clock_type;
    using waits = date_waits<typename impl::engine, typename watch_of<WallClock>::type>;

public:
    using point = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>;

    /// Errors: std::bad_alloc.
    pending_date(impl& w, point at, std::chrono::nanoseconds recheck) : wheel(w), at_(at), recheck_(recheck) {
        const auto lock = w.lock();
        waits_ = &w.template extension<waits>();
    }
    ~pending_date() {
        const auto lock = wheel->lock();
        waits_->leave(member_);
    }
    pending_date(const pending_date&) = delete;
    pending_date& operator=(const pending_date&) = delete;

    std::chrono::nanoseconds left() const {
        return saturating_add(at_.time_since_epoch(), -saturate_to_ns(WallClock::now().time_since_epoch()));
    }

    /// Returns a callable for start_wait(). Under the lock, it joins, then reads the wall clock. If the clock is set
    /// before the reading, the timer is right; if it is set later, the watch finds the timer.
    auto next_reading() {
        return [this](timer_id id) {
            waits_->join(*wheel, member_);
            member_.timer = id;
            return from_present{std::min(left(), recheck_)};
        };
    }

    const wheel_hold<impl> wheel; // the first member: it must outlive the others

private:
    point at_;
    std::chrono::nanoseconds recheck_;
    waits* waits_ = nullptr;
    typename waits::member member_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
