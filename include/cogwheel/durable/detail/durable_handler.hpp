// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A worker's handler of any form, behind one type: so the worker's code is compiled once.
#pragma once

#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/detail/which_asio.hpp>
#include <cogwheel/durable/detail/task_gate.hpp>
#include <cogwheel/durable/durable_delivery.hpp>

#include COGWHEEL_ASIO_HEADER(any_io_executor.hpp)
#include COGWHEEL_ASIO_HEADER(awaitable.hpp)
#include COGWHEEL_ASIO_HEADER(strand.hpp)

#include <concepts>
#include <exception>
#include <memory>
#include <type_traits>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// An attempt under way. The worker derives from it.
class running_delivery : public durable_delivery, public std::enable_shared_from_this<running_delivery> {
public:
    virtual ~running_delivery() = default;
    /// Called once, by any thread, when the handler has ended.
    virtual void ended(durable_outcome) noexcept = 0;

    void ended_by(const std::exception_ptr&) noexcept; // an exception is a failed attempt with its message

    /// Notes when the lease ends: a handler that has not started by then does not start. Any thread.
    void leased_until(std::chrono::steady_clock::time_point end) noexcept {
        lease_end_ = end.time_since_epoch().count();
    }
    bool may_start() const noexcept {
        return !stop_requested() && std::chrono::steady_clock::now().time_since_epoch().count() < lease_end_;
    }

    void stop() noexcept; // tells the handler to stop; any thread

    /// Posts begin(callable, d) to the delivery's strand. Errors: std::bad_alloc; then nothing is posted.
    using begin_function = void (*)(const std::shared_ptr<void>& callable, const std::shared_ptr<running_delivery>& d);
    static void start(begin_function, std::shared_ptr<void> callable, std::shared_ptr<running_delivery>);
    /// Starts a coroutine on the strand, and keeps the callable, to whose captures it refers. Called there.
    static void spawn(asio::awaitable<void>, const std::shared_ptr<void>& callable,
                      const std::shared_ptr<running_delivery>&);

protected:
    explicit running_delivery(const asio::any_io_executor& e) : strand_(asio::make_strand(e)) {}

private:
    asio::strand<asio::any_io_executor> strand_;
    asio::cancellation_signal signal_;
    std::atomic<std::chrono::steady_clock::rep> lease_end_{0};
};

/// A handler: a callable or a coroutine that takes a durable_delivery&, and returns nothing (done) or an outcome.
class durable_handler {
    template <class F>
    using result_of = std::invoke_result_t<F&, durable_delivery&>;
    template <class T>
    struct coroutine {
        using value = T;
        static constexpr bool is = false;
    };
    template <class T>
    struct coroutine<asio::awaitable<T>> {
        using value = T;
        static constexpr bool is = true;
    };
    template <class T>
    static constexpr bool is_coroutine = coroutine<std::remove_cvref_t<T>>::is;
    template <class T>
    using value_of = typename coroutine<std::remove_cvref_t<T>>::value;
    template <class T>
    static constexpr bool says = std::is_void_v<T> || std::convertible_to<T, durable_outcome>;

public:
    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, durable_handler>) &&
                std::invocable<std::decay_t<F>&, durable_delivery&>
    durable_handler(F&& f) { // NOLINT(google-explicit-constructor): a callable converts to a handler
        using callable = std::decay_t<F>;
        static_assert(says<value_of<result_of<callable>>>,
                      "a handler returns nothing or a durable_outcome, or is a coroutine that does");
        auto made = std::make_shared<callable>(std::forward<F>(f));
        if constexpr (requires {
                          { made->gate() } -> std::convertible_to<std::shared_ptr<const task_gate>>;
                      })
            gate_ = made->gate();
        callable_ = std::move(made);
        begin_ = [](const std::shared_ptr<void>& handler, const std::shared_ptr<running_delivery>& d) {
            if constexpr (is_coroutine<result_of<callable>>)
                spawn<callable>(handler, d);
            else
                run(*static_cast<callable*>(handler.get()), *d);
        };
    }

    /// Posts the start of the handler to the delivery's strand. Errors: std::bad_alloc; then nothing is posted.
    void start(std::shared_ptr<running_delivery> d) const { running_delivery::start(begin_, callable_, std::move(d)); }

    /// Returns what the callable's gate() returns, or nullptr.
    const std::shared_ptr<const task_gate>& gate() const noexcept { return gate_; }

private:
    template <class F>
    static void run(F& f, running_delivery& d) {
        COGWHEEL_TRY {
            if constexpr (std::is_void_v<result_of<F>>) {
                f(static_cast<durable_delivery&>(d));
                d.ended(durable_outcome::done());
            } else {
                d.ended(f(static_cast<durable_delivery&>(d)));
            }
        }
        COGWHEEL_CATCH { d.ended_by(std::current_exception()); }
    }

    template <class F>
    static void spawn(const std::shared_ptr<void>& f, const std::shared_ptr<running_delivery>& d) {
        COGWHEEL_TRY {
            running_delivery::spawn(deliver((*static_cast<F*>(f.get()))(static_cast<durable_delivery&>(*d)), d), f, d);
        }
        COGWHEEL_CATCH { d->ended_by(std::current_exception()); }
    }
    // The answer does not go through co_spawn, which needs a result with a default constructor. GCC 12 takes the value
    // in an optional for uninitialized.
    template <class T>
    static asio::awaitable<void> deliver(asio::awaitable<T> from, std::shared_ptr<running_delivery> d) {
        if constexpr (std::is_void_v<T>) {
            co_await std::move(from);
            d->ended(durable_outcome::done());
        } else {
            durable_outcome answer = co_await std::move(from);
            d->ended(std::move(answer));
        }
    }

    std::shared_ptr<void> callable_;
    std::shared_ptr<const task_gate> gate_{};
    running_delivery::begin_function begin_;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
