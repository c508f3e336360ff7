// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// tokio's timers, in Rust: a hierarchical wheel of six levels with 64 slots each, ticks of 1 ms, behind a mutex that
// nobody else wants here. A timer is a Sleep, its user's own object: cancelling is dropping it, pushing back leaves it
// where it is until then. Its clock is paused and told the time. One at a time in a process (peers/tokio).
#pragma once

#include "contenders/virtual_time.hpp"

extern "C" {
struct cogwheel_bench_tokio;
cogwheel_bench_tokio* cogwheel_bench_tokio_new(std::size_t timers);
void cogwheel_bench_tokio_free(cogwheel_bench_tokio* self);
void cogwheel_bench_tokio_schedule(cogwheel_bench_tokio* self, std::uint32_t number, std::uint64_t at);
bool cogwheel_bench_tokio_cancel(cogwheel_bench_tokio* self, std::uint32_t number);
void cogwheel_bench_tokio_move(cogwheel_bench_tokio* self, std::uint32_t number, std::uint64_t at);
void cogwheel_bench_tokio_advance_to(cogwheel_bench_tokio* self, std::uint64_t now);
std::size_t cogwheel_bench_tokio_pending(const cogwheel_bench_tokio* self);
void cogwheel_bench_tokio_fired(const cogwheel_bench_tokio* self, std::uint64_t* count, std::uint64_t* sum);
}

namespace bench {

class tokio : public virtual_time<tokio> {
public:
    static constexpr std::string_view name = "tokio";
    static constexpr bool handle_is_timer = true;

    /// Stands for the Sleep of the same number, which Rust owns: empty, so that no load comes before that.
    struct handle {
        explicit handle(const handle*& first) {
            if (first == nullptr) first = this;
        }
    };

    fixed_array<handle> make_handles(std::size_t n) {
        timers_.reset(cogwheel_bench_tokio_new(n));
        first_ = nullptr;
        return fixed_array<handle>(n, first_);
    }

    void schedule(handle&, std::uint32_t number, milliseconds delay) {
        cogwheel_bench_tokio_schedule(timers_.get(), number, after(delay).tick);
    }
    bool cancel(handle& h) {
        return cogwheel_bench_tokio_cancel(timers_.get(), static_cast<std::uint32_t>(&h - first_));
    }
    void move(handle& h, std::uint32_t number, milliseconds delay) { move_to(h, number, after(delay)); }
    void move_to(handle&, std::uint32_t number, time_point at) {
        cogwheel_bench_tokio_move(timers_.get(), number, at.tick);
    }

    std::size_t pending() const noexcept { return cogwheel_bench_tokio_pending(timers_.get()); }
    tally fired() const noexcept {
        tally t;
        cogwheel_bench_tokio_fired(timers_.get(), &t.fired, &t.sum);
        return t;
    }

    void expire_due() { cogwheel_bench_tokio_advance_to(timers_.get(), now()); }

private:
    struct free {
        void operator()(cogwheel_bench_tokio* t) const noexcept { cogwheel_bench_tokio_free(t); }
    };

    std::unique_ptr<cogwheel_bench_tokio, free> timers_;
    const handle* first_ = nullptr;
};

static_assert(firing_contender<tokio> && movable_contender<tokio>);

} // namespace bench
