// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What throws, is dropped, or loses its wheel: the handler still completes, or is destroyed, exactly once, and every
// count is right.
#include "support/asio/failing_executor.hpp"
#include "support/resilience/retry_rig.hpp"

#include <cogwheel/resilience/hedge.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/post.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

using namespace cogwheel;
using namespace cogwheel::testing;
using namespace cogwheel_tests;
using namespace std::chrono_literals;

namespace {

/// One piece of memory, all marks while it is not taken.
struct marked_memory {
    static constexpr std::byte mark{0xa5};
    alignas(std::max_align_t) std::array<std::byte, 4096> bytes;
    int taken = 0;

    marked_memory() { bytes.fill(mark); }
    bool is_marked() const {
        return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == mark; });
    }
};

template <class T>
struct marking_allocator {
    using value_type = T;
    marked_memory* memory;

    explicit marking_allocator(marked_memory* m) noexcept : memory(m) {}
    template <class U>
    marking_allocator(const marking_allocator<U>& other) noexcept : memory(other.memory) {}
    T* allocate(std::size_t n) {
        if (memory->taken != 0 || n * sizeof(T) > memory->bytes.size()) throw std::bad_alloc();
        ++memory->taken;
        return reinterpret_cast<T*>(memory->bytes.data());
    }
    void deallocate(T*, std::size_t) noexcept {
        --memory->taken;
        memory->bytes.fill(marked_memory::mark);
    }
    template <class U>
    friend bool operator==(const marking_allocator& a, const marking_allocator<U>& b) noexcept {
        return a.memory == b.memory;
    }
};

struct handler_in_marked_memory {
    using allocator_type = marking_allocator<void>;
    retry_outcome* out;
    marked_memory* memory;
    allocator_type get_allocator() const noexcept { return allocator_type(memory); }
    template <class... Args>
    void operator()(Args&&... args) const {
        out->handler()(std::forward<Args>(args)...);
    }
};

} // namespace

TEST_CASE_TEMPLATE("predicate_throws_out_of_run_and_the_retry_completes", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    retry_outcome out;
    retry_budget budget;
    virtual_policy p = doubling();
    p.budget = &budget;
    p.retryable = [](const std::error_code&) -> bool { throw std::runtime_error("predicate"); };
    r.start(p, out.handler());
    r.read.complete(asio::error::eof, 6);
    CHECK_THROWS_AS(r.run(), std::runtime_error);
    CHECK(out.times == 0);
    r.run();
    CHECK(out.times == 1);
    CHECK(out.ec == asio::error::eof);
    CHECK(out.bytes == 6);
    CHECK(out.result.attempts == 1);
    CHECK(out.result.end == retry_end::not_retryable);
    CHECK(budget.stats().granted == 0);
    CHECK(r.wheel.pending() == 0);
    CHECK(counts_agree(r.wheel.stats()));
}

TEST_CASE("random_source_throws_out_of_run_and_the_retry_completes") {
    struct broken {
        using result_type = std::uint64_t;
        static constexpr result_type min() { return 0; }
        static constexpr result_type max() { return ~result_type{0}; }
        result_type operator()() { throw std::runtime_error("random"); }
    } random;
    retry_rig<manual_timer_wheel> r;
    retry_outcome out;
    retry_budget budget;
    virtual_policy p = doubling();
    p.backoff = p.backoff.jitter(backoff_jitter::full);
    p.random = random;
    p.budget = &budget;
    r.start(p, out.handler());
    r.read.complete(asio::error::eof, 6);
    CHECK_THROWS_AS(r.run(), std::runtime_error);
    r.run();
    CHECK(out.times == 1);
    CHECK(out.ec == asio::error::eof);
    CHECK(budget.stats().granted == 0);
}

TEST_CASE_TEMPLATE("handler_throws_out_of_run_nothing_is_left", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    retry_budget budget;
    virtual_policy p = doubling(2);
    p.budget = &budget;
    p.attempt_timeout = 1s;
    const auto life = std::make_shared<int>();
    r.start(p, [life](std::error_code, const retry_result&, std::size_t) { throw std::runtime_error("handler"); });
    r.attempt_fails();
    r.pass(110ms);
    r.read.complete(asio::error::eof, 0);
    CHECK_THROWS_AS(r.run(), std::runtime_error);
    CHECK(life.use_count() == 1);
    CHECK(r.wheel.pending() == 0);
    CHECK(counts_agree(r.wheel.stats()));
    CHECK(budget.stats().granted == 1);
    r.pass(1h);
}

TEST_CASE_TEMPLATE("operation_throws_its_code_is_what_came_of_the_attempt", Wheel, BOTH_WHEELS) {
    for (const std::uint32_t thrower : {1u, 2u}) {
        CAPTURE(thrower);
        retry_rig<Wheel> r;
        retry_outcome out;
        virtual_policy p = doubling();
        p.attempt_timeout = 1s;
        async_retry(r.wheel, p, virtual_reading{[&](virtual_attempt& attempt) -> scripted_read& {
                        if (attempt.number() == thrower)
                            throw std::system_error(std::error_code(asio::error::network_down));
                        return r.read;
                    }},
                    out.handler());
        CHECK(out.times == 0);
        r.run();
        if (thrower == 2) r.attempt_fails();
        r.pass(thrower == 2 ? 110ms : 0ms);
        CHECK(r.wheel.pending() == 1); // it waits for the next attempt
        r.pass(210ms);
        r.attempt_ends({}, 1);
        CHECK(out.times == 1);
        CHECK(out.result.attempts == thrower + 1);
        CHECK(r.wheel.pending() == 0);
    }
}

TEST_CASE_TEMPLATE("operation_throws_where_its_handler_is_made_already", Wheel, BOTH_WHEELS) {
    // As an operation out of memory does: the handler dies on the way.
    for (const bool limited : {false, true}) {
        CAPTURE(limited);
        retry_rig<Wheel> r;
        retry_outcome out;
        virtual_policy p = doubling(2);
        if (limited) p.attempt_timeout = 1s;
        p.retryable = [](const std::error_code& ec) { return ec == std::errc::not_enough_memory; };
        async_retry(r.wheel, p, [&](auto token) { return async_throwing_read(token); }, out.handler());
        r.run();
        CHECK(out.times == 0);
        r.pass(110ms);
        CHECK(out.times == 1);
        CHECK(out.ec == std::errc::not_enough_memory);
        CHECK(out.result.attempts == 2);
        CHECK(out.result.end == retry_end::attempts_used);
        CHECK(r.wheel.pending() == 0);
        CHECK(counts_agree(r.wheel.stats()));
    }
}

TEST_CASE_TEMPLATE("operation_throws_something_else_at_first_leaves_the_initiating_function", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    retry_outcome out;
    const auto life = std::make_shared<int>();
    const auto start = [&] {
        async_retry(r.wheel, doubling(), virtual_reading{[&](virtual_attempt&) -> scripted_read& {
                        if (r.read.started == 0) throw std::logic_error("operation");
                        return r.read;
                    }},
                    noting_handler{&out, life});
    };
    CHECK_THROWS_AS(start(), std::logic_error);
    CHECK(life.use_count() == 1);
    r.pass(1h);
    CHECK(out.times == 0);
}

TEST_CASE_TEMPLATE("operation_throws_something_else_later_out_of_run_and_the_retry_completes", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    retry_outcome out;
    async_retry(r.wheel, doubling(), virtual_reading{[&](virtual_attempt& attempt) -> scripted_read& {
                    if (attempt.number() == 2) throw std::logic_error("operation");
                    return r.read;
                }},
                out.handler());
    r.attempt_fails();
    CHECK_THROWS_AS(r.pass(110ms), std::logic_error);
    r.run();
    CHECK(out.times == 1);
    CHECK(out.ec == std::errc::state_not_recoverable);
    CHECK(out.result.last_error == std::errc::state_not_recoverable);
    CHECK(out.result.attempts == 2);
    CHECK(out.result.end == retry_end::not_retryable);
    CHECK(r.wheel.pending() == 0);
}

TEST_CASE_TEMPLATE("operation_throws_after_it_was_started_the_attempt_goes_on", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    retry_outcome out;
    r.read.on_start = [] { throw std::runtime_error("too late"); };
    CHECK_NOTHROW(r.start(doubling(), out.handler())); // the handler will be called: not both
    r.attempt_ends({}, 5);
    CHECK(out.times == 1);
    CHECK(out.bytes == 5);
}

TEST_CASE_TEMPLATE("operation_drops_its_handler_the_users_is_destroyed", Wheel, BOTH_WHEELS) {
    bool at_once = false, limited = false;
    SUBCASE("later") {}
    SUBCASE("later, with a limit") { limited = true; }
    SUBCASE("at once") { at_once = true; }
    SUBCASE("at once, with a limit") { at_once = limited = true; }
    retry_rig<Wheel> r;
    retry_outcome out;
    const auto life = std::make_shared<int>();
    virtual_policy p = doubling();
    if (limited) p.attempt_timeout = 1s;
    if (at_once) r.read.on_start = [&] { r.read.drop(); };
    r.start(p, noting_handler{&out, life});
    CHECK(life.use_count() == (at_once ? 1 : 2));
    if (!at_once) r.read.drop();
    CHECK(life.use_count() == 1);
    CHECK(r.wheel.pending() == 0);
    r.pass(1h);
    CHECK(out.times == 0);
    CHECK(counts_agree(r.wheel.stats()));
}

TEST_CASE_TEMPLATE("operation_drops_its_handler_a_later_cancel_touches_nothing", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    retry_outcome out;
    asio::cancellation_signal signal;
    marked_memory memory;
    r.start(doubling(), asio::bind_cancellation_slot(signal.slot(), handler_in_marked_memory{&out, &memory}));
    CHECK(memory.taken == 1);
    r.read.drop();
    CHECK(memory.taken == 0);
    signal.emit(asio::cancellation_type::terminal);
    CHECK(memory.is_marked());
    r.pass(1h);
    CHECK(out.times == 0);
}

TEST_CASE_TEMPLATE("context_destroyed_the_handler_is_destroyed_with_it", Wheel, BOTH_WHEELS) {
    retry_outcome out;
    const auto life = std::make_shared<int>();
    bool waiting = false;
    SUBCASE("while attempting") {}
    SUBCASE("while waiting") { waiting = true; }
    {
        retry_rig<Wheel> r;
        r.start(doubling(), noting_handler{&out, life});
        if (waiting) r.attempt_fails();
        CHECK(life.use_count() == 2);
    }
    CHECK(life.use_count() == 1);
    CHECK(out.times == 0);
}

TEST_CASE_TEMPLATE("wheel_stopped_while_waiting_aborts", Wheel, BOTH_WHEELS) {
    asio::io_context io;
    std::optional<Wheel> wheel(std::in_place, io);
    scripted_read read(io.get_executor());
    retry_outcome out;
    async_retry(*wheel, doubling(), virtual_reading{[&](virtual_attempt&) -> scripted_read& { return read; }},
                out.handler());
    read.complete(asio::error::eof, 0);
    run_ready(io);
    SUBCASE("stopped") { wheel->stop(); }
    SUBCASE("destroyed") { wheel.reset(); }
    SUBCASE("all timers cancelled") { wheel->cancel_all(); }
    run_ready(io);
    CHECK(out.times == 1);
    CHECK(out.ec == asio::error::operation_aborted);
    CHECK(out.result.end == retry_end::wheel);
    CHECK(out.result.last_error == asio::error::eof);
}

TEST_CASE_TEMPLATE("wheel_gone_while_attempting_the_next_wait_is_refused", Wheel, BOTH_WHEELS) {
    asio::io_context io;
    std::optional<Wheel> wheel(std::in_place, io);
    scripted_read read(io.get_executor());
    retry_outcome out;
    async_retry(*wheel, doubling(), virtual_reading{[&](virtual_attempt&) -> scripted_read& { return read; }},
                out.handler());
    SUBCASE("stopped") { wheel->stop(); }
    SUBCASE("destroyed") { wheel.reset(); }
    SUBCASE("destroyed, and another one made") {
        wheel.reset();
        wheel.emplace(io); // not from the same body, which the retry holds on to
    }
    read.complete(asio::error::eof, 0);
    run_ready(io);
    CHECK(out.times == 1);
    CHECK(out.ec == errc::stopped);
    CHECK(out.result.end == retry_end::wheel);
    CHECK(out.result.attempts == 1);
    CHECK(out.result.last_error == asio::error::eof);
}

TEST_CASE_TEMPLATE("wheel_takes_no_timer_ends_with_its_error", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r({.max_pending = 1});
    retry_outcome out;
    virtual_policy p = doubling();
    p.retryable = [](const std::error_code&) { return true; };
    auto other = r.wheel.schedule(1h, [] {});
    SUBCASE("for an attempt's limit") {
        p.attempt_timeout = 1s;
        r.start(p, out.handler());
        CHECK(out.times == 0);
        r.run();
        CHECK(r.read.started == 0);
    }
    SUBCASE("for a wait") {
        r.start(p, out.handler());
        r.attempt_fails();
        CHECK(r.read.started == 1);
    }
    CHECK(out.times == 1);
    CHECK(out.ec == errc::too_many_timers);
    CHECK(out.result.end == retry_end::wheel);
    CHECK(r.wheel.pending() == 1);
    CHECK(r.wheel.stats().rejected == 1);
    other.cancel();
}

TEST_CASE_TEMPLATE("post_fails_in_a_cancellation_the_retry_goes_on", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    retry_outcome out;
    asio::cancellation_signal signal;
    bool fail = false;
    r.read.on_cancel = [&](asio::cancellation_type) { r.read.complete_here(asio::error::operation_aborted, 0); };
    r.start(doubling(), asio::bind_cancellation_slot(signal.slot(),
                                                     asio::bind_executor(failing_executor(r.io, fail), out.handler())));
    fail = true;
    CHECK_THROWS_AS(signal.emit(asio::cancellation_type::terminal), std::bad_alloc);
    CHECK(r.read.pending());
    fail = false;
    signal.emit(asio::cancellation_type::terminal);
    CHECK(out.times == 0);
    r.run();
    CHECK(out.times == 1);
    CHECK(out.ec == asio::error::operation_aborted);
    CHECK(out.result.end == retry_end::cancelled);
}

TEST_CASE_TEMPLATE("post_fails_after_the_predicate_threw_the_retry_completes_at_once", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    retry_outcome out;
    bool fail = false;
    virtual_policy p = doubling();
    p.retryable = [&](const std::error_code&) -> bool {
        fail = true;
        throw std::runtime_error("predicate");
    };
    r.start(p, asio::bind_executor(failing_executor(r.io, fail), out.handler()));
    CHECK_THROWS_AS(r.attempt_fails(), std::runtime_error);
    fail = false;
    r.run();
    CHECK(out.times == 1);
    CHECK(out.ec == asio::error::connection_refused);
}

namespace {

/// Cannot be copied for now.
struct fragile {
    bool breaks = false;

    fragile() = default;
    fragile(const fragile& other) : breaks(other.breaks) {
        if (breaks) throw std::bad_alloc();
    }
    fragile(fragile&& other) noexcept : breaks(other.breaks) {}
    fragile& operator=(fragile&& other) noexcept {
        breaks = other.breaks;
        return *this;
    }
};

/// Gives its handler results that it has to copy.
struct giving_fragile {
    asio::io_context* io;
    int* attempts;

    template <class Token>
    auto operator()(Token token) const {
        return asio::async_initiate<Token, void(std::error_code, fragile)>(
            [this](auto handler) {
                asio::post(*io, [h = std::move(handler), first = ++*attempts == 1]() mutable {
                    fragile result;
                    result.breaks = first;
                    std::move(h)(std::error_code(), std::as_const(result));
                });
            },
            token);
    }
};

} // namespace

TEST_CASE_TEMPLATE("results_that_cannot_be_copied_the_attempt_has_failed", Wheel, BOTH_WHEELS) {
    retry_rig<Wheel> r;
    auto policy = doubling();
    policy.retryable = [](const std::error_code& ec) { return ec == std::errc::not_enough_memory; };
    int attempts = 0;
    std::uint32_t made = 0;
    std::error_code ended = asio::error::would_block;
    const auto note = [&](std::error_code ec, const auto& result, const fragile&) {
        ended = ec;
        made = result.attempts;
    };
    SUBCASE("of a retry") { async_retry(r.wheel, policy, giving_fragile{&r.io, &attempts}, note); }
    SUBCASE("of a hedge") {
        async_hedge(r.wheel, {.delay = 1h, .retryable = policy.retryable}, giving_fragile{&r.io, &attempts}, note);
    }
    r.run();
    r.pass(110ms);
    r.run();
    CHECK(attempts == 2);
    CHECK(made == 2);
    CHECK_FALSE(ended);
    CHECK(r.wheel.pending() == 0);
}
