// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// timeout() and its relatives, around operations of Asio and our own.
#include "failure/trial.hpp"
#include "support/net/socket_pair.hpp"

#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/asio/wheel_timer.hpp>

#include <asio/bind_allocator.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/buffer.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>

#include <exception>
#include <memory>
#include <optional>

namespace failure {

using namespace std::chrono_literals;

namespace limit_case {
namespace {

struct sockets {
    cogwheel_tests::stream_socket ours, theirs;
    char byte = 0;
    explicit sockets(trial& t) : ours(t.io), theirs(t.io) { cogwheel_tests::connect_pair(ours, theirs); }
};

void end(trial& t) {
    t.run();
    t.settle();
}

void timer_in_time(trial& t) {
    asio::steady_timer timer(t.io, 1ms);
    t.begin();
    t.start([&](watched h) { timer.async_wait(cogwheel::timeout(t.wheel, 1h, std::move(h))); });
    end(t);
}

// Asio asks for it when it fails half-way.
template <class T>
struct stateful_allocator {
    using value_type = T;
    std::size_t* live;

    explicit stateful_allocator(std::size_t& l) noexcept : live(&l) {}
    template <class U>
    stateful_allocator(const stateful_allocator<U>& other) noexcept : live(other.live) {}
    T* allocate(std::size_t n) {
        T* p = std::allocator<T>().allocate(n);
        ++*live;
        return p;
    }
    void deallocate(T* p, std::size_t n) noexcept {
        --*live;
        std::allocator<T>().deallocate(p, n);
    }
    template <class U>
    bool operator==(const stateful_allocator<U>& other) const noexcept {
        return live == other.live;
    }
};

void timer_limited_with_allocator(trial& t) {
    std::size_t live = 0;
    asio::steady_timer timer(t.io, 1h);
    t.begin();
    t.start([&](watched h) {
        timer.async_wait(
            cogwheel::timeout(t.wheel, 1ms, asio::bind_allocator(stateful_allocator<void>(live), std::move(h))));
    });
    end(t);
    if (live != 0) t.fault("memory of the handler's allocator is left");
}

void timer_limited(trial& t) {
    asio::steady_timer timer(t.io, 1h);
    t.begin();
    t.start([&](watched h) { timer.async_wait(cogwheel::timeout(t.wheel, 1ms, std::move(h))); });
    end(t);
}

void wheel_timer_limited(trial& t) {
    cogwheel::wheel_timer timer(t.wheel, 1h);
    t.begin();
    t.start([&](watched h) { timer.async_wait(cogwheel::timeout(t.wheel, 1ms, std::move(h))); });
    end(t);
}

void read_limited(trial& t) {
    sockets s(t);
    t.begin();
    t.start([&](watched h) {
        s.ours.async_read_some(asio::buffer(&s.byte, 1), cogwheel::timeout(t.wheel, 1ms, std::move(h)));
    });
    end(t);
}

void read_in_time(trial& t) {
    sockets s(t);
    const char byte = 'x';
    t.begin();
    t.start([&](watched h) {
        s.ours.async_read_some(asio::buffer(&s.byte, 1), cogwheel::timeout(t.wheel, 1h, std::move(h)));
    });
    t.insist([&] { asio::write(s.theirs, asio::buffer(&byte, 1)); });
    end(t);
}

void read_elsewhere(trial& t) {
    sockets s(t);
    t.begin();
    t.start_bound([&](watched h) {
        s.ours.async_read_some(asio::buffer(&s.byte, 1),
                               cogwheel::timeout(t.wheel, 1ms, asio::bind_executor(t.elsewhere, std::move(h))));
    });
    end(t);
}

void socket_elsewhere(trial& t) {
    asio::steady_timer timer(t.elsewhere, 1h);
    t.begin();
    t.start_bound([&](watched h) { timer.async_wait(cogwheel::timeout(t.wheel, 1ms, std::move(h))); });
    end(t);
}

void two_limits(trial& t) {
    sockets s(t);
    t.begin();
    t.start([&](watched h) {
        s.ours.async_read_some(asio::buffer(&s.byte, 1),
                               cogwheel::timeout(t.wheel, 1h, cogwheel::timeout(t.wheel, 1ms, std::move(h))));
    });
    end(t);
}

// An operation that ends inside the emission.
struct ends_at_once {
    template <class Token>
    static auto async_run(Token&& token) {
        return asio::async_initiate<Token, void(std::error_code)>(
            [](auto handler) {
                using handler_type = decltype(handler);
                auto slot = asio::get_associated_cancellation_slot(handler);
                auto h = std::make_shared<std::optional<handler_type>>(std::move(handler));
                if (!slot.is_connected()) return;
                slot.assign([h](asio::cancellation_type) {
                    if (!*h) return;
                    auto taken = std::move(**h);
                    h->reset();
                    std::move(taken)(std::error_code(asio::error::operation_aborted));
                });
            },
            token);
    }
};

void ends_inside_the_limits_emission(trial& t) {
    t.begin();
    t.start([&](watched h) { ends_at_once::async_run(cogwheel::timeout(t.wheel, 1ms, std::move(h))); });
    end(t);
}

void ends_inside_the_users_emission(trial& t) {
    asio::cancellation_signal signal;
    t.begin();
    t.start([&](watched h) {
        ends_at_once::async_run(
            cogwheel::timeout(t.wheel, 1h, asio::bind_cancellation_slot(signal.slot(), std::move(h))));
    });
    t.insist([&] { signal.emit(asio::cancellation_type::terminal); });
    end(t);
}

void ends_inside_an_emission_elsewhere(trial& t) {
    t.begin();
    t.start([&](watched h) {
        ends_at_once::async_run(cogwheel::timeout(t.wheel, 1ms, asio::bind_executor(t.elsewhere, std::move(h))));
    });
    end(t);
}

void cancelled_by_slot(trial& t) {
    asio::steady_timer timer(t.io, 1h);
    asio::cancellation_signal signal;
    t.begin();
    t.start([&](watched h) {
        timer.async_wait(cogwheel::timeout(t.wheel, 1h, asio::bind_cancellation_slot(signal.slot(), std::move(h))));
    });
    t.insist([&] { signal.emit(asio::cancellation_type::terminal); });
    end(t);
}

void wheels_timers_cancelled(trial& t) {
    asio::steady_timer timer(t.io, 1h);
    t.begin();
    t.start([&](watched h) { timer.async_wait(cogwheel::timeout(t.wheel, 1h, std::move(h))); });
    t.insist([&] { t.wheel.cancel_all(); });
    end(t);
}

void wheel_destroyed(trial& t) {
    asio::steady_timer timer(t.io, 1h);
    std::optional<cogwheel::timer_wheel> wheel(std::in_place, t.io);
    t.begin();
    t.start([&](watched h) { timer.async_wait(cogwheel::timeout(*wheel, 1h, std::move(h))); });
    wheel.reset();
    end(t);
}

void refused(trial& t) {
    asio::steady_timer timer(t.io, 1h);
    t.wheel.stop();
    t.begin();
    t.start([&](watched h) { timer.async_wait(cogwheel::timeout(t.wheel, 1ms, std::move(h))); });
    end(t);
}

void refused_with_an_exception(trial& t) {
    t.wheel.stop();
    t.begin();
    t.start([&](watched h) {
        auto token = cogwheel::timeout(t.wheel, 1ms, std::move(h));
        asio::async_initiate<decltype(token), void(std::exception_ptr)>([](auto&&) {}, token);
    });
    end(t);
}

} // namespace
} // namespace limit_case

test_cases limit_cases() {
    using namespace limit_case;
    return {{"timeout, timer in time", timer_in_time},
            {"timeout, timer", timer_limited},
            {"timeout, timer, with an allocator", timer_limited_with_allocator},
            {"timeout, wheel_timer", wheel_timer_limited},
            {"timeout, read", read_limited},
            {"timeout, read in time", read_in_time},
            {"timeout, read, handler elsewhere", read_elsewhere},
            {"timeout, timer elsewhere", socket_elsewhere},
            {"timeout, twice", two_limits},
            {"timeout, ends in its emission", ends_inside_the_limits_emission},
            {"timeout, ends in the user's emission", ends_inside_the_users_emission},
            {"timeout, ends in one elsewhere", ends_inside_an_emission_elsewhere},
            {"timeout, cancelled by its slot", cancelled_by_slot},
            {"timeout, cancel_all", wheels_timers_cancelled},
            {"timeout, wheel destroyed", wheel_destroyed},
            {"timeout, refused", refused},
            {"timeout, refused with an exception", refused_with_an_exception}};
}

} // namespace failure
