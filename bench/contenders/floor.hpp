// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The least that a timer can cost: its own cache line, once; and the same for whoever has to know what time it is,
// because a clock reading waits for the loads before it, so that the cache misses of two operations no longer overlap
// (a prefetch it does not wait for). For a timer object: the two lines over which its first 64 bytes lie. For whoever
// is named by a handle: lines, each of which says where the next one is; behind a cancellation signal it is Asio's own
// handler that says it, and that is replaced by each wait. Keep no time, fire nothing.
#pragma once

#include "contenders/contender.hpp"

#include <asio/cancellation_signal.hpp>

#include <array>
#include <mutex>
#include <optional>

namespace bench {

class floor_base {
public:
    static constexpr bool handle_is_timer = true;
    static constexpr bool real_time = false;

    template <class F>
    void work(std::size_t, F f) {
        f();
    }

    std::size_t pending() const noexcept { return pending_; }
    tally fired() const noexcept { return {}; }

protected:
    std::size_t pending_ = 0;
};

struct own_line {
    alignas(64) std::uint64_t deadline = 0;
    std::uint64_t& last() noexcept { return deadline; }
};

/// Laid out as a wheel_timer: 120 bytes, of which the first 64 are what a push-back needs.
struct object_lines {
    std::uint64_t deadline = 0;
    std::array<std::uint64_t, 14> others{};
    std::uint64_t& last() noexcept { return others[6]; }
};

template <bool ReadsClock, class Lines = own_line>
class floor : public floor_base {
public:
    static constexpr std::string_view name = !ReadsClock                       ? "floor (one store)"
                                             : std::is_same_v<Lines, own_line> ? "floor (clock, one line)"
                                                                               : "floor (clock, two lines at once)";

    using handle = Lines;

    void schedule(handle& h, std::uint32_t, milliseconds delay) noexcept {
        if constexpr (ReadsClock) {
            __builtin_prefetch(&h, 1);
            __builtin_prefetch(&h.last(), 1);
        }
        const std::uint64_t deadline = deadline_after(delay);
        pending_ += h.deadline == 0;
        h.deadline = h.last() = deadline;
    }
    bool cancel(handle& h) noexcept {
        const bool was_pending = h.deadline != 0;
        pending_ -= was_pending;
        h.deadline = 0;
        return was_pending;
    }
    void move(handle& h, std::uint32_t number, milliseconds delay) noexcept { schedule(h, number, delay); }

private:
    static std::uint64_t deadline_after(milliseconds delay) noexcept {
        std::chrono::nanoseconds at = delay;
        if constexpr (ReadsClock) at += std::chrono::steady_clock::now().time_since_epoch();
        return static_cast<std::uint64_t>(at.count());
    }
};

/// A handle of two words, as a token is, and a line behind it; for whoever may be called by any thread, also the lock
/// of each of its calls.
template <int Locks>
class floor_token : public floor_base {
public:
    static constexpr std::string_view name = Locks == 0   ? "floor (clock, handle, line)"
                                             : Locks == 1 ? "floor (clock, handle, line, lock)"
                                                          : "floor (clock, handle, line, two locks)";

    struct alignas(64) line {
        std::uint64_t deadline = 0;
    };
    struct handle {
        line* behind = nullptr;
        std::uint64_t life = 0;
    };

    fixed_array<handle> make_handles(std::size_t n) {
        lines_.emplace(n);
        return fixed_array<handle>(n);
    }

    void schedule(handle& h, std::uint32_t, milliseconds delay) {
        if (h.behind == nullptr) h.behind = &(*lines_)[next_++]; // as memory is given out
        line& l = *h.behind;
        __builtin_prefetch(&l, 1);
        const auto at = std::chrono::steady_clock::now() + delay;
        for (int i = 1; i < Locks; ++i) const std::lock_guard once_more(mutex_);
        const auto lock = Locks > 0 ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
        pending_ += l.deadline == 0;
        l.deadline = static_cast<std::uint64_t>(at.time_since_epoch().count());
    }
    bool cancel(handle& h) {
        line& l = *h.behind;
        const auto lock = Locks > 0 ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
        const bool was_pending = l.deadline != 0;
        pending_ -= was_pending;
        l.deadline = 0;
        return was_pending;
    }
    void move(handle& h, std::uint32_t number, milliseconds delay) { schedule(h, number, delay); }

private:
    std::optional<fixed_array<line>> lines_;
    std::size_t next_ = 0;
    std::mutex mutex_;
};

/// A cancellation signal, the handler in its slot, and a line behind that, which then serves the next timer.
class floor_slot : public floor_base {
public:
    static constexpr std::string_view name = "floor (clock, signal, handler, line)";

    using handle = asio::cancellation_signal;

    fixed_array<handle> make_handles(std::size_t n) {
        lines_.emplace(n);
        for (std::size_t i = n; i-- > 0;) release((*lines_)[i]);
        return fixed_array<handle>(n);
    }

    void schedule(handle& h, std::uint32_t, milliseconds delay) {
        const auto at = std::chrono::steady_clock::now() + delay;
        line& l = *free_;
        free_ = l.next_free;
        l.deadline = static_cast<std::uint64_t>(at.time_since_epoch().count());
        h.slot().emplace<release_line>(*this, l);
        ++pending_;
    }
    bool cancel(handle& h) {
        const std::size_t before = pending_;
        h.emit(asio::cancellation_type::total);
        return pending_ != before;
    }

private:
    struct alignas(64) line {
        line* next_free = nullptr;
        std::uint64_t deadline = 0;
    };
    struct release_line {
        floor_slot* self;
        line* l;

        release_line(floor_slot& s, line& of) noexcept : self(&s), l(&of) {}
        void operator()(asio::cancellation_type_t) noexcept {
            if (l->deadline == 0) return; // is it pending? Who cancels has to look
            --self->pending_;
            self->release(*l);
        }
    };

    void release(line& l) noexcept {
        l.deadline = 0;
        l.next_free = free_;
        free_ = &l;
    }

    std::optional<fixed_array<line>> lines_;
    line* free_ = nullptr;
};

using floor_store = floor<false>;
using floor_clock = floor<true>;
using floor_object = floor<true, object_lines>;

static_assert(contender<floor_store> && contender<floor_clock> && contender<floor_object>);
static_assert(contender<floor_token<0>> && contender<floor_token<2>> && contender<floor_slot>);

} // namespace bench
