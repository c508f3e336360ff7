// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The pause of a loop on a strand, which others can end early.
#pragma once

#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/durable/detail/completion.hpp>

#include COGWHEEL_ASIO_HEADER(any_io_executor.hpp)
#include COGWHEEL_ASIO_HEADER(awaitable.hpp)
#include COGWHEEL_ASIO_HEADER(bind_executor.hpp)
#include COGWHEEL_ASIO_HEADER(post.hpp)
#include COGWHEEL_ASIO_HEADER(strand.hpp)
#include COGWHEEL_ASIO_HEADER(use_awaitable.hpp)

#include <memory>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Thread safety: one strand. Lifetime: shared; the wheel's hold belongs to its owner and outlives the pause. A context
/// that is destroyed during the pause destroys the loop that waits.
class sleeper : public std::enable_shared_from_this<sleeper> {
    using strand = asio::strand<asio::any_io_executor>;
    using engine = impl_type<timer_wheel>;

public:
    sleeper(engine& wheel, strand on) : wheel_(wheel), strand_(std::move(on)) {}

    /// Waits for `delay`, or until wake(). Returns at once if wake() came since the last pause. One wait at a time.
    /// Returns false if the wheel has stopped: the loop must end.
    asio::awaitable<bool> sleep(std::chrono::nanoseconds delay) {
        const auto self = shared_from_this();
        if (!std::exchange(woken_, false)) {
            auto start = [self, delay](completion<void> done) { self->begin(delay, std::move(done)); };
            co_await initiate<void>(strand_, asio::use_awaitable, std::move(start));
            woken_ = false;
        }
        co_return !refused_;
    }

    /// The loop goes on later, not inside this call.
    void wake() {
        woken_ = true;
        asio::post(strand_, [self = shared_from_this(), number = number_] { self->end(number); });
    }

private:
    // The wheel holds the one that waits, not this object: the coroutine holds this object, and nobody would free them.
    using waiter = std::shared_ptr<completion<void>>;

    void begin(std::chrono::nanoseconds delay, completion<void> done) {
        const auto one = std::make_shared<completion<void>>(std::move(done));
        waiting_ = one;
        const auto over = [one, weak = weak_from_this(), number = ++number_] {
            if (const auto self = weak.lock()) self->end(number);
        };
        error_code ec;
        const auto at = timer_wheel::clock_type::now() + delay;
        token_ = wheel_.schedule(at, asio::bind_executor(strand_, over), asio::bind_executor(strand_, over), &ec, true);
        if (!ec) return;
        refused_ = true;
        end(number_);
    }
    void end(std::uint64_t number) {
        const waiter one = waiting_.lock();
        if (number != number_ || one == nullptr || !*one) return;
        token_.cancel();
        (*one)({});
    }

    engine& wheel_;
    strand strand_;
    std::weak_ptr<completion<void>> waiting_;
    timer_token token_;
    std::uint64_t number_ = 0;
    bool woken_ = false;
    bool refused_ = false;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
