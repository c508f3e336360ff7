// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// One run of a case, and a ledger of its handlers. A handler is accounted for when it was called, once, or when the
// call that it was given to threw, and then it must not be called. Anything else is lost.
#pragma once

#include "failure/heap.hpp"

#include <cogwheel/asio/timer_wheel.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/io_context.hpp>
#include <asio/require.hpp>

#include <array>
#include <cstdio>
#include <functional>
#include <new>
#include <string_view>
#include <system_error>
#include <vector>

namespace failure {

class trial;

/// A handler or callable of any signature. Move-only.
class watched {
public:
    watched(trial& t, std::size_t number) noexcept : trial_(&t), number_(number) {}
    watched(watched&& other) noexcept : trial_(std::exchange(other.trial_, nullptr)), number_(other.number_) {}
    watched& operator=(watched&&) = delete;
    ~watched();

    template <class... Args>
    void operator()(Args&&...) {
        called();
    }

private:
    void called();

    trial* trial_;
    std::size_t number_;
};

class trial {
    struct entry {
        int called = 0;
        bool reported = false, may_go = false, bound = false;
        bool gone = false;
    };
    std::vector<entry> ledger_; // outlives the handlers

public:
    asio::io_context io{1};
    cogwheel::timer_wheel wheel{io, {.tick = std::chrono::milliseconds(1)}};
    /// Another executor than the wheel's, which has to queue. No strand: Asio's own is stuck, or ends the program,
    /// where it has no memory to go on with what it has queued (1.22 to 1.36).
    asio::any_io_executor elsewhere{asio::require(io.get_executor(), asio::execution::blocking.never)};

    trial() { ledger_.reserve(64); }
    trial(const trial&) = delete;
    trial& operator=(const trial&) = delete;

    /// Memory is short from here on. Before: what the case needs to be there.
    void begin(std::size_t first, std::size_t count) noexcept { heap::fail(first, count); }
    void begin() noexcept { begin(first_, count_); }
    void plan(std::size_t first, std::size_t count) noexcept {
        first_ = first;
        count_ = count;
    }

    /// f(handler) starts something that calls the handler. True: it did not throw.
    template <class F>
    bool start(F f) {
        const std::size_t number = ledger_.size();
        ledger_.push_back({});
        if (attempt([&] { f(watched(*this, number)); })) return true;
        ledger_[number].reported = true;
        return false;
    }
    /// The same for a callable that may be dropped without a word.
    template <class F>
    bool start_silent(F f) {
        const bool started = start(std::move(f));
        ledger_.back().may_go = true;
        return started;
    }
    /// The same for a handler with an executor of its own that has to queue it. Where that has no memory, Asio destroys
    /// the handler, and run() throws; where the timer is ours, it is the same.
    template <class F>
    bool start_bound(F f) {
        const bool started = start(std::move(f));
        ledger_.back().bound = true;
        return started;
    }
    /// Does something that may throw for want of memory.
    template <class F>
    bool attempt(F f) {
        try {
            f();
            return true;
        } catch (const std::bad_alloc&) {
        } catch (const std::system_error& e) {
            if (e.code() != std::errc::not_enough_memory) fault("another exception than that there is no memory");
        }
        return false;
    }
    /// Until it does not throw; memory comes back if need be.
    template <class F>
    void insist(F f) {
        if (attempt(f)) return;
        heap::recover();
        if (!attempt(f)) fault("no memory, though it is back");
    }

    /// Runs what is to be run, first without memory, as planned, then with.
    void run();
    /// The same for some milliseconds, where something is left that takes longer.
    void run_a_while() {
        attempt([&] { io.run_for(std::chrono::milliseconds(3)); });
    }
    /// Memory is back, and all has to come to its end.
    void settle();

    void fault(const char* what) noexcept {
        if (fault_ == nullptr) fault_ = what;
    }
    /// nullptr, or what was wrong. Preconditions: all handlers are gone.
    const char* verdict() const noexcept;
    std::size_t lost() const noexcept;
    /// Handlers that an executor of their own had no memory for.
    std::size_t told_by_run() const noexcept;

private:
    friend class watched;

    bool told_by_run(const entry& e) const noexcept { return e.bound && e.gone && e.called == 0 && run_threw_; }
    bool accounted(const entry& e) const noexcept {
        if (e.reported) return e.called == 0;
        return e.called == 1 || (e.may_go && e.called == 0) || told_by_run(e);
    }
    bool run_once();

    std::size_t first_ = 0, count_ = 0;
    bool stuck_ = false, run_threw_ = false;
    const char* fault_ = nullptr;
};

/// What is tried: a name, and what is done in a trial. It calls begin().
struct test_case {
    std::string_view name;
    void (*body)(trial&);
};
using test_cases = std::vector<test_case>;

test_cases wheel_cases();
test_cases limit_cases();
test_cases net_cases();
test_cases schedule_cases();

} // namespace failure
