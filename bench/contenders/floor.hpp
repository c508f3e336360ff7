// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The least that a timer can cost: its own cache line, once; and the same for whoever has to know what time it is,
// because a clock reading waits for the loads before it, so that the cache misses of two operations no longer overlap
// (a prefetch it does not wait for). For a timer object: the two lines over which its first 64 bytes lie. For whoever
// is named by a handle: lines, each of which says where the next one is, and for a safe token, whether it still is the
// same timer's. Behind a cancellation signal it is Asio's own handler that says it, and that is replaced by each wait.
// Keep no time, fire nothing.
#pragma once

#include "contenders/contender.hpp"

#include <cogwheel/asio/detail/clock/tick_clock.hpp>
#include <cogwheel/asio/locking.hpp>

#include <asio/cancellation_signal.hpp>

#include <array>
#include <mutex>
#include <optional>
#include <vector>

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

/// How a floor reads the present.
enum class reading { none, counter, clock };

template <reading R>
std::uint64_t deadline_by(milliseconds delay) noexcept {
    const auto ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(delay).count());
    if constexpr (R == reading::clock)
        return ns + static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    using counter = cogwheel::detail::tick_counter<std::chrono::steady_clock>;
    if constexpr (R == reading::counter && counter::exists) return ns + counter::read();
    return ns;
}

struct no_lock {
    void lock() noexcept {}
    void unlock() noexcept {}
};
using exchange_lock = cogwheel::multi_threaded::mutex;
struct usual_lock : std::mutex {};
struct two_locks : std::mutex {}; ///< taken twice in each operation: by a wheel_timer whose wait is aborted

template <reading R, class Lines = own_line, class Lock = no_lock>
class floor : public floor_base {
public:
    static constexpr bool locks = !std::is_same_v<Lock, no_lock>;
    static constexpr std::string_view name = R == reading::none                ? "floor (one store)"
                                             : R == reading::counter && locks  ? "floor (counter, line, exchange lock)"
                                             : R == reading::counter           ? "floor (counter, one line)"
                                             : std::is_same_v<Lines, own_line> ? "floor (clock, one line)"
                                                                               : "floor (clock, two lines at once)";

    using handle = Lines;

    void schedule(handle& h, std::uint32_t, milliseconds delay) noexcept {
        if constexpr (R != reading::none || locks) {
            __builtin_prefetch(&h, 1);
            __builtin_prefetch(&h.last(), 1);
        }
        const std::uint64_t deadline = deadline_by<R>(delay);
        const std::lock_guard lock(mutex_);
        pending_ += h.deadline == 0;
        h.deadline = h.last() = deadline;
    }
    bool cancel(handle& h) noexcept {
        if constexpr (locks) __builtin_prefetch(&h, 1);
        const std::lock_guard lock(mutex_);
        const bool was_pending = h.deadline != 0;
        pending_ -= was_pending;
        h.deadline = 0;
        return was_pending;
    }
    void move(handle& h, std::uint32_t number, milliseconds delay) noexcept { schedule(h, number, delay); }

private:
    Lock mutex_;
};

/// A handle of two words, as a token is, and a line behind it; for whoever may be called by any thread, also the lock
/// of each of its calls.
template <reading R, class Lock>
class floor_token : public floor_base {
public:
    static constexpr bool locks = !std::is_same_v<Lock, no_lock>;
    static constexpr std::string_view name =
        R == reading::none ? "floor (handle, line)"
        : R == reading::counter
            ? locks ? "floor (counter, handle, line, exchange lock)" : "floor (counter, handle, line)"
        : std::is_same_v<Lock, two_locks> ? "floor (clock, handle, line, two locks)"
        : locks                           ? "floor (clock, handle, line, lock)"
                                          : "floor (clock, handle, line)";

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
        const std::uint64_t deadline = deadline_by<R>(delay);
        if constexpr (std::is_same_v<Lock, two_locks>) {
            const std::lock_guard once_more(mutex_);
        }
        const std::lock_guard lock(mutex_);
        pending_ += l.deadline == 0;
        l.deadline = deadline;
    }
    bool cancel(handle& h) {
        line& l = *h.behind;
        __builtin_prefetch(&l, 1);
        const std::lock_guard lock(mutex_);
        const bool was_pending = l.deadline != 0;
        pending_ -= was_pending;
        l.deadline = 0;
        return was_pending;
    }
    void move(handle& h, std::uint32_t number, milliseconds delay) { schedule(h, number, delay); }

private:
    std::optional<fixed_array<line>> lines_;
    std::size_t next_ = 0;
    Lock mutex_;
};

/// A token that does nothing once its timer has ended, as in any table of slots: an index, and a generation that the
/// slot must still have. Ended timers leave their slots to later ones.
template <reading R, class Lock>
class floor_safe_token : public floor_base {
public:
    static constexpr bool locks = !std::is_same_v<Lock, no_lock>;
    static constexpr std::string_view name = R == reading::none ? "floor (safe token, line)"
                                             : locks            ? "floor (counter, safe token, line, exchange lock)"
                                                                : "floor (counter, safe token, line)";

    struct handle {
        floor_safe_token* table = nullptr;
        std::uint32_t index = 0, generation = 0;
    };

    fixed_array<handle> make_handles(std::size_t n) {
        lines_.emplace(n);
        for (std::size_t i = 0; i < n; i += page_size) pages_.push_back(&(*lines_)[i]);
        for (std::size_t i = n; i-- > 0;) {
            line& l = (*lines_)[i];
            l.index = static_cast<std::uint32_t>(i);
            release(l);
        }
        return fixed_array<handle>(n);
    }

    void schedule(handle& h, std::uint32_t number, milliseconds delay) {
        const std::lock_guard lock(mutex_);
        const std::uint64_t deadline = deadline_by<R>(delay);
        line& l = *free_;
        free_ = l.next_free;
        l.deadline = deadline;
        l.number = number;
        ++pending_;
        h = {this, l.index, ++l.generation};
    }
    bool cancel(handle& h) { return h.table->end(h); }
    void move(handle& h, std::uint32_t, milliseconds delay) { h.table->push_back(h, delay); }

private:
    static constexpr std::size_t page_size = 1024;

    struct alignas(64) line {
        union {
            std::uint64_t deadline;
            line* next_free;
        };
        std::uint32_t index = 0, generation = 0, number = 0;

        line() noexcept : next_free(nullptr) {}
    };

    line* find(const handle& h) noexcept {
        if (h.index / page_size >= pages_.size()) return nullptr;
        line& l = pages_[h.index / page_size][h.index % page_size];
        if constexpr (R != reading::none) __builtin_prefetch(&l, 1);
        return &l;
    }
    bool end(const handle& h) noexcept {
        const std::lock_guard lock(mutex_);
        line* l = find(h);
        if (l == nullptr || l->generation != h.generation) return false;
        ++l->generation;
        --pending_;
        release(*l);
        return true;
    }
    bool push_back(const handle& h, milliseconds delay) noexcept {
        const std::lock_guard lock(mutex_);
        line* l = find(h);
        const std::uint64_t deadline = deadline_by<R>(delay);
        if (l == nullptr || l->generation != h.generation) return false;
        l->deadline = deadline;
        return true;
    }
    void release(line& l) noexcept {
        l.next_free = free_;
        free_ = &l;
    }

    std::optional<fixed_array<line>> lines_;
    std::vector<line*> pages_;
    line* free_ = nullptr;
    Lock mutex_;
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

using safe_token = floor_safe_token<reading::none, no_lock>;
using safe_token_counter = floor_safe_token<reading::counter, no_lock>;
using safe_token_counter_lock = floor_safe_token<reading::counter, exchange_lock>;
using token_store = floor_token<reading::none, no_lock>;
using token_counter = floor_token<reading::counter, no_lock>;
using token_counter_lock = floor_token<reading::counter, exchange_lock>;
using token_clock = floor_token<reading::clock, no_lock>;
using token_clock_lock = floor_token<reading::clock, usual_lock>;
using token_clock_two_locks = floor_token<reading::clock, two_locks>;
using floor_store = floor<reading::none>;
using floor_clock = floor<reading::clock>;
using floor_counter = floor<reading::counter>;
using floor_counter_lock = floor<reading::counter, own_line, exchange_lock>;
using floor_object = floor<reading::clock, object_lines>;

static_assert(contender<floor_store> && contender<floor_clock> && contender<floor_object>);
static_assert(contender<token_store> && contender<token_counter_lock> && contender<token_clock_two_locks>);
static_assert(contender<floor_slot>);

} // namespace bench
