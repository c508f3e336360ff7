// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "failure/trial.hpp"
#include "support/net/socket_pair.hpp"

#include <cogwheel/net/idle_stream.hpp>
#include <cogwheel/net/pending_requests.hpp>
#include <cogwheel/resilience/circuit_breaker.hpp>
#include <cogwheel/resilience/hedge.hpp>
#include <cogwheel/resilience/retry.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/buffer.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/steady_timer.hpp>

#include <memory>
#include <new>
#include <optional>
#include <utility>

namespace failure {

using namespace std::chrono_literals;

namespace net_case {
namespace {

void end(trial& t) {
    t.run();
    t.settle();
}

// ---- memory that a handler owns

/// Counts what is allocated, from the heap that fails.
class arena {
public:
    explicit arena(trial& t) noexcept : trial_(&t) {}
    arena(const arena&) = delete;
    arena& operator=(const arena&) = delete;
    ~arena() {
        if (blocks_ != 0) trial_->fault("a handler is gone before the memory that was taken from it");
    }
    void* take(std::size_t bytes) {
        void* p = ::operator new(bytes);
        ++blocks_;
        return p;
    }
    void give(void* p) noexcept {
        --blocks_;
        ::operator delete(p);
    }

private:
    trial* trial_;
    std::size_t blocks_ = 0;
};

template <class T>
struct arena_allocator {
    using value_type = T;
    arena* from;

    explicit arena_allocator(arena& a) noexcept : from(&a) {}
    template <class U>
    arena_allocator(const arena_allocator<U>& other) noexcept : from(other.from) {}
    T* allocate(std::size_t n) { return static_cast<T*>(from->take(n * sizeof(T))); }
    void deallocate(T* p, std::size_t) noexcept { from->give(p); }
    template <class U>
    bool operator==(const arena_allocator<U>& other) const noexcept {
        return from == other.from;
    }
};

struct owner {
    using allocator_type = arena_allocator<char>;

    std::unique_ptr<arena> memory; // destroyed last
    watched handler;

    allocator_type get_allocator() const noexcept { return allocator_type(*memory); }
    template <class... Results>
    void operator()(Results&&... results) {
        handler(std::forward<Results>(results)...);
    }
};

/// Turns the handler of a case into itself, or into one that owns its memory.
struct plain {
    explicit plain(trial&) {}
    watched of(watched&& h) { return std::move(h); }
};
struct owning {
    std::unique_ptr<arena> memory;

    explicit owning(trial& t) : memory(std::make_unique<arena>(t)) {}
    owner of(watched&& h) { return {std::move(memory), std::move(h)}; }
};

// ---- retry

struct retried {
    asio::steady_timer timer;
    int attempts = 0;

    explicit retried(trial& t) : timer(t.io) {}
    // The first attempt takes too long.
    auto operation() {
        return [this](auto token) {
            timer.expires_after(++attempts == 1 ? std::chrono::milliseconds(1h) : 1ms);
            return timer.async_wait(std::move(token));
        };
    }
};
cogwheel::retry_policy policy() {
    cogwheel::retry_policy p;
    p.attempts = 3;
    p.backoff = cogwheel::backoff::constant(1ms);
    p.attempt_timeout = 2ms;
    return p;
}

template <class Kind>
void retry(trial& t) {
    Kind kind(t);
    retried r(t);
    t.begin();
    t.start([&](watched h) { cogwheel::async_retry(t.wheel, policy(), r.operation(), kind.of(std::move(h))); });
    end(t);
}

struct starts_nothing {
    template <class Handler>
    void operator()(Handler&&) const {}
};

template <class Kind>
void retry_fails_at_once(trial& t) {
    Kind kind(t);
    cogwheel::retry_policy p = policy();
    t.begin();
    t.start([&](watched h) {
        cogwheel::async_retry(
            t.wheel, p,
            [](auto token) -> decltype(asio::async_initiate<decltype(token), void(std::error_code)>(starts_nothing(),
                                                                                                    token)) {
                throw std::system_error(asio::error::make_error_code(asio::error::connection_refused));
            },
            kind.of(std::move(h)));
    });
    end(t);
}

template <class Kind>
void retry_cancelled(trial& t) {
    Kind kind(t);
    retried r(t);
    asio::cancellation_signal signal;
    cogwheel::retry_policy p = policy();
    p.attempt_timeout = 1h;
    t.begin();
    t.start([&](watched h) {
        cogwheel::async_retry(t.wheel, p, r.operation(),
                              asio::bind_cancellation_slot(signal.slot(), kind.of(std::move(h))));
    });
    t.insist([&] { signal.emit(asio::cancellation_type::terminal); });
    end(t);
}

// ---- hedge

struct hedged {
    asio::steady_timer first, second;
    std::chrono::milliseconds slow{10};

    explicit hedged(trial& t) : first(t.io), second(t.io) {}
    auto operation() {
        return [this](cogwheel::hedge_attempt& attempt, auto token) {
            asio::steady_timer& timer = attempt.number() == 1 ? first : second;
            timer.expires_after(attempt.number() == 1 ? slow : std::chrono::milliseconds(1));
            return timer.async_wait(std::move(token));
        };
    }
};

template <class Kind>
void hedge(trial& t) {
    Kind kind(t);
    hedged r(t);
    t.begin();
    t.start([&](watched h) { cogwheel::async_hedge(t.wheel, 1ms, r.operation(), kind.of(std::move(h))); });
    end(t);
}

template <class Kind>
void hedge_cancelled(trial& t) {
    Kind kind(t);
    hedged r(t);
    r.slow = 1h;
    asio::cancellation_signal signal;
    t.begin();
    t.start([&](watched h) {
        cogwheel::async_hedge(t.wheel, 1h, r.operation(),
                              asio::bind_cancellation_slot(signal.slot(), kind.of(std::move(h))));
    });
    t.insist([&] { signal.emit(asio::cancellation_type::terminal); });
    end(t);
}

// ---- idleness

struct sockets {
    cogwheel_tests::stream_socket ours, theirs;
    explicit sockets(trial& t) : ours(t.io), theirs(t.io) { cogwheel_tests::connect_pair(ours, theirs); }
};

void idle_stream(trial& t) {
    sockets s(t);
    char byte = 0;
    t.begin();
    std::optional<cogwheel::idle_stream<cogwheel_tests::stream_socket>> stream;
    t.insist([&] { stream.emplace(t.wheel, cogwheel::idle_timeouts{.reader = 1ms}, std::move(s.ours)); });
    t.insist([&] { stream->close_when_idle(); });
    t.start([&](watched h) { stream->async_read_some(asio::buffer(&byte, 1), std::move(h)); });
    t.run();
    heap::recover();
    t.run();
    stream->close(); // where there was no memory for the event
    end(t);
}

void idle_monitor(trial& t) {
    cogwheel::idle_monitor monitor(t.wheel, {.reader = 1ms, .writer = 2ms});
    t.begin();
    t.start([&](watched h) { monitor.async_idle(std::move(h)); });
    t.run();
    t.start([&](watched h) { monitor.async_idle(std::move(h)); });
    end(t);
}

void idle_monitor_cancelled(trial& t) {
    cogwheel::idle_monitor monitor(t.wheel, {.reader = 1h});
    asio::cancellation_signal signal;
    t.begin();
    t.start([&](watched h) { monitor.async_idle(std::move(h)); });
    t.insist([&] { monitor.cancel(); });
    t.start([&](watched h) { monitor.async_idle(asio::bind_cancellation_slot(signal.slot(), std::move(h))); });
    t.insist([&] { signal.emit(asio::cancellation_type::terminal); });
    t.insist([&] { monitor.set_limits({.reader = 1ms}); });
    t.start([&](watched h) { monitor.async_idle(std::move(h)); });
    end(t);
}

void idle_monitor_destroyed(trial& t) {
    std::optional<cogwheel::idle_monitor<>> monitor(std::in_place, t.wheel, cogwheel::idle_timeouts{.reader = 1h});
    t.begin();
    t.start([&](watched h) { monitor->async_idle(std::move(h)); });
    monitor.reset();
    end(t);
}

// Its look has to go home to another context.
void idle_monitor_elsewhere(trial& t) {
    asio::io_context home(1);
    std::optional<cogwheel::idle_monitor<>> monitor(std::in_place, t.wheel, home.get_executor(),
                                                    cogwheel::idle_timeouts{.reader = 1ms, .writer = 2ms});
    const auto run = [&] {
        t.run();
        t.attempt([&] {
            home.restart();
            home.poll();
        });
    };
    t.begin();
    t.start([&](watched h) { monitor->async_idle(std::move(h)); });
    run();
    t.insist([&] { monitor->cancel(); });
    t.start([&](watched h) { monitor->async_idle(std::move(h)); }); // the one before may still be in the wheel
    run();
    t.start([&](watched h) { monitor->async_idle(std::move(h)); }); // perhaps one too many
    monitor.reset();
    run();
    heap::recover();
    for (int i = 0; i < 3; ++i) run();
    end(t);
}

// ---- requests

using requests_type = cogwheel::pending_requests<int, std::string>;

template <class F>
void requests(trial& t, bool elsewhere, F f) {
    std::optional<requests_type> requests;
    if (elsewhere)
        requests.emplace(t.wheel, t.elsewhere);
    else
        requests.emplace(t.wheel);
    t.begin();
    for (int key = 0; key < 3; ++key)
        t.start([&](watched h) { requests->async_wait(key, 1ms * (key + 1), std::move(h)); });
    t.start(
        [&](watched h) { requests->async_wait(0, 3ms, std::move(h)); }); // a duplicate, but where the first was refused
    f(requests);
    if (requests) t.insist([&] { requests->fail_all(asio::error::eof); });
    end(t);
}
void timed_out(trial& t) {
    requests(t, false, [&](auto& r) {
        t.run();
        t.insist([&] { r->cancel(0); }); // over by now, unless run() threw
    });
}
void timed_out_elsewhere(trial& t) {
    requests(t, true, [&](auto& r) {
        t.run();
        t.insist([&] { r->cancel(0); }); // over by now, unless run() threw
    });
}
void answered(trial& t) {
    requests(t, true, [&](auto& r) {
        for (int key = 0; key < 3; ++key) t.insist([&] { r->complete(key, std::string(40, 'x')); });
    });
}
void withdrawn(trial& t) {
    requests(t, true, [&](auto&) { t.insist([&] { t.wheel.cancel_all(); }); });
}
void requests_destroyed(trial& t) {
    requests(t, true, [](auto& r) { r.reset(); });
}
void requests_destroyed_at_home(trial& t) {
    requests(t, false, [](auto& r) { r.reset(); });
}

void breaker(trial& t) {
    t.begin();
    t.attempt([&] {
        cogwheel::circuit_breaker b(t.wheel, {.failures_in_a_row = 1});
        auto call = b.allow();
        if (call) call.failed();
    });
    end(t);
}

} // namespace
} // namespace net_case

test_cases net_cases() {
    using namespace net_case;
    return {{"async_retry", retry<plain>},
            {"async_retry, fails at once", retry_fails_at_once<plain>},
            {"async_retry, cancelled", retry_cancelled<plain>},
            {"async_hedge", hedge<plain>},
            {"async_hedge, cancelled", hedge_cancelled<plain>},
            {"async_retry, owned memory", retry<owning>},
            {"async_retry, fails at once, owned memory", retry_fails_at_once<owning>},
            {"async_retry, cancelled, owned memory", retry_cancelled<owning>},
            {"async_hedge, owned memory", hedge<owning>},
            {"async_hedge, cancelled, owned memory", hedge_cancelled<owning>},
            {"idle_stream", idle_stream},
            {"idle_monitor", idle_monitor},
            {"idle_monitor, cancelled", idle_monitor_cancelled},
            {"idle_monitor, destroyed", idle_monitor_destroyed},
            {"idle_monitor, elsewhere", idle_monitor_elsewhere},
            {"pending_requests, timed out", timed_out},
            {"pending_requests, timed out elsewhere", timed_out_elsewhere},
            {"pending_requests, answered", answered},
            {"pending_requests, withdrawn", withdrawn},
            {"pending_requests, destroyed elsewhere", requests_destroyed},
            {"pending_requests, destroyed", requests_destroyed_at_home},
            {"circuit_breaker", breaker}};
}

} // namespace failure
