// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// One thing that is started and has to end once, and the ticket that its handler holds.
//
// A cell is used again and again; its serial number tells the uses apart, so that an end that comes twice is seen,
// however late. Who starts a cell, or calls for its end, holds its guard. Who ends it does not: that is the library, on
// any thread.
#pragma once

#include "findings.hpp"
#include "ledger.hpp"
#include "watchdog.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <utility>

namespace stress {

using steady = std::chrono::steady_clock;

/// Nobody waits for it: who finds it taken goes elsewhere.
class try_guard {
public:
    bool try_lock() noexcept {
        return !taken_.load(std::memory_order_relaxed) && !taken_.exchange(true, std::memory_order_acquire);
    }
    void unlock() noexcept { taken_.store(false, std::memory_order_release); }

private:
    std::atomic<bool> taken_{false};
};

enum class phase : std::uint64_t {
    idle,
    running,
    succeeded,
    aborted,
    timed_out,
    unreported, ///< aborted under a cancel_after whose time was up
    stopped,
    too_many,
    dropped, ///< destroyed without a call
};
inline constexpr std::array phase_names{"idle",       "running", "succeeded", "aborted", "timed out",
                                        "unreported", "stopped", "too many",  "dropped"};

class cell {
public:
    explicit cell(kind k) noexcept : of(k) {}

    const kind of;
    try_guard guard;

    // ---- of the present use; guarded ----

    unsigned starter = 0;            ///< who started it
    std::uint64_t sweeps_before = 0; ///< cancel_all() and the like that were over by then
    bool asked = false;              ///< somebody called for its end
    bool must_abort = false;         ///< and was told that it will come
    bool after_stop = false;         ///< started on a wheel that takes no more
    bool silent = false;             ///< cancelled, it is destroyed without a call
    bool crowded = false;            ///< on a wheel_timer on which others wait already

    /// Starts a use. Returns its serial number. Preconditions: guarded, not running.
    std::uint64_t begin(steady::time_point earliest) noexcept {
        asked = must_abort = after_stop = silent = crowded = false;
        not_before(earliest);
        const std::uint64_t serial = (state_.load(std::memory_order_relaxed) >> phase_bits) + 1;
        state_.store(word(serial, phase::running), std::memory_order_release);
        return serial;
    }
    /// What ended is dealt with. Preconditions: guarded, not running, unless nobody is left who could end it.
    void rest() noexcept { state_.store(word(serial(), phase::idle), std::memory_order_relaxed); }

    /// It never began. Preconditions: as rest().
    void refuse(phase how) noexcept { state_.store(word(serial(), how), std::memory_order_relaxed); }

    // ---- any thread ----

    phase now_in() const noexcept {
        return static_cast<phase>(state_.load(std::memory_order_acquire) & ((1u << phase_bits) - 1));
    }
    bool running() const noexcept { return now_in() == phase::running; }
    bool runs_as(std::uint64_t serial) const noexcept {
        return state_.load(std::memory_order_acquire) == word(serial, phase::running);
    }
    std::uint64_t serial() const noexcept { return state_.load(std::memory_order_relaxed) >> phase_bits; }

    /// When it may succeed or time out at the earliest.
    steady::time_point earliest() const noexcept {
        return steady::time_point(steady::duration(earliest_.load(std::memory_order_acquire)));
    }
    void not_before(steady::time_point at) noexcept {
        earliest_.store(at.time_since_epoch().count(), std::memory_order_release);
    }
    /// Before the call that moves a timer: until it has returned, both its points in time are right.
    void perhaps_not_before(steady::time_point at) noexcept {
        if (at < earliest()) not_before(at);
    }

    /// The library's word that this use is over.
    void end(std::uint64_t serial, phase how) noexcept {
        std::uint64_t expected = word(serial, phase::running);
        // What stands under a limit succeeds when it likes.
        if (how == phase::timed_out || (how == phase::succeeded && of != kind::limit)) check_not_early(serial);
        if (!state_.compare_exchange_strong(expected, word(serial, how), std::memory_order_acq_rel))
            findings::add("{} {} use {} ended twice: now as {}, and it is {} in use {}", name(), address(), serial,
                          phase_name(how), phase_name(static_cast<phase>(expected & ((1u << phase_bits) - 1))),
                          expected >> phase_bits);
        watchdog::pulse();
    }
    /// The handler is destroyed without a call. `perhaps_over`: another one may have told the end before.
    void drop(std::uint64_t serial, bool perhaps_over) noexcept {
        if (!perhaps_over) return end(serial, phase::dropped);
        std::uint64_t expected = word(serial, phase::running);
        state_.compare_exchange_strong(expected, word(serial, phase::dropped), std::memory_order_acq_rel);
    }

    const char* name() const noexcept { return kind_names[static_cast<std::size_t>(of)]; }
    const void* address() const noexcept { return this; }
    static const char* phase_name(phase p) noexcept { return phase_names[static_cast<std::size_t>(p)]; }

private:
    static constexpr unsigned phase_bits = 4;
    static constexpr std::uint64_t word(std::uint64_t serial, phase p) noexcept {
        return serial << phase_bits | static_cast<std::uint64_t>(p);
    }
    void check_not_early(std::uint64_t serial) const noexcept {
        const auto now = steady::now();
        if (const auto allowed = earliest(); runs_as(serial) && now < allowed)
            findings::add("{} {} use {} fired {} ns early", name(), address(), serial,
                          std::chrono::nanoseconds(allowed - now).count());
    }

    std::atomic<std::uint64_t> state_{0}; // serial, phase
    std::atomic<steady::rep> earliest_{0};
};

/// In a handler: ends the cell, at the latest when it is destroyed.
class ticket {
public:
    ticket(cell& c, std::uint64_t serial, bool perhaps_over = false) noexcept
        : cell_(&c), serial_(serial), perhaps_over_(perhaps_over) {}
    ticket(ticket&& other) noexcept
        : cell_(std::exchange(other.cell_, nullptr)), serial_(other.serial_), perhaps_over_(other.perhaps_over_) {}
    ticket& operator=(ticket&&) = delete;
    ~ticket() {
        if (cell_ != nullptr) cell_->drop(serial_, perhaps_over_);
    }

    /// Once.
    void end(phase how) noexcept {
        if (cell_ == nullptr)
            return findings::add("a handler was called twice: the second time as {}", cell::phase_name(how));
        std::exchange(cell_, nullptr)->end(serial_, how);
    }
    std::uint64_t serial() const noexcept { return serial_; }

private:
    cell* cell_;
    std::uint64_t serial_;
    bool perhaps_over_;
};

} // namespace stress
