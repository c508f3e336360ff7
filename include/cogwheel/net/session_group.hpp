// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Waits until all sessions of a server have ended, but not longer than a given time:
//
//     cogwheel::session_group sessions{wheel};
//
//     co_spawn(io, serve(socket), [in = sessions.enter()](std::exception_ptr e) { ... }); // leaves with the handler
//
//     acceptor.close(); // first, so that no session begins any more; then tell the sessions to end
//     co_await sessions.async_drain(30s, asio::redirect_error(asio::use_awaitable, ec));
//     if (ec == asio::error::timed_out) close_the_rest();
#pragma once

#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/asio/wheel_timer.hpp>
#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/net/detail/session_count.hpp>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Counts the sessions of a server, or the requests of a client. As a class member, write session_group<>, or for
/// instance session_group<local_timer_wheel>.
/// Thread safety: any thread may call enter(), size() and the functions of members. Call the others from one thread or
///   strand at a time.
template <any_timer_wheel Wheel = timer_wheel>
class session_group {
    using count = detail::session_count<Wheel>;

public:
    using executor_type = typename Wheel::executor_type;

    template <class Other>
    struct rebind_executor {
        using other = session_group<typename Wheel::template rebind_executor<Other>::other>;
    };

    /// One session. Movable; its destructor leaves the group. May outlive the group, not the wheel's execution context.
    class member {
    public:
        /// Makes a member of no group.
        member() noexcept = default;
        member(member&& other) noexcept = default;
        member& operator=(member&& other) noexcept {
            member(std::move(other)).count_.swap(count_); // the temporary leaves
            return *this;
        }
        ~member() { leave(); }

        /// Leaves the group early. A second call does nothing.
        void leave() noexcept {
            if (const auto c = std::exchange(count_, nullptr)) c->leave();
        }

    private:
        friend session_group;
        explicit member(std::shared_ptr<count> c) noexcept : count_(std::move(c)) { count_->enter(); }

        std::shared_ptr<count> count_;
    };

    /// Makes a group without sessions. Errors: std::bad_alloc.
    /// Lifetime: the wheel may be destroyed first; a drain under way then completes with operation_aborted, a later one
    ///   with errc::stopped. The wheel's execution context must outlive the group.
    explicit session_group(const Wheel& wheel) : count_(std::make_shared<count>(wheel)) {}
    session_group(const session_group&) = delete;
    session_group& operator=(const session_group&) = delete;

    /// Destroys the group. A drain under way completes with operation_aborted.
    ~session_group() { count_->close(); }

    executor_type get_executor() const noexcept { return count_->get_executor(); }

    /// Adds a session. Complexity: O(1), two atomic additions.
    member enter() noexcept { return member(count_); }

    /// Returns the number of sessions.
    std::size_t size() const noexcept { return count_->size(); }
    bool empty() const noexcept { return size() == 0; }

    /// Waits until there is no session, for `at_most` at most. Never completes inline. Later sessions count, too.
    /// Completion signature: void(std::error_code).
    ///   success: at some moment of the wait, there was no session. It comes soon if there is none at the call. A
    ///   moment that ends before the thread of the last leave() has taken a lock may go unnoticed.
    ///   asio::error::timed_out: the time has passed; size() says how many are left.
    ///   asio::error::operation_aborted: the drain was cancelled by its slot, by the destructor, or by the wheel.
    ///   asio::error::already_started: another drain is under way. This call does not affect it.
    ///   errc::stopped, errc::too_many_timers: the wheel takes no timer.
    /// Cancellation: terminal, partial and total; O(1). Executor: the handler's associated one, else the wheel's.
    /// Memory: as timer_wheel::async_wait(). Complexity: O(1).
    /// Errors: std::bad_alloc; the handler is then destroyed. Without memory at the last leave(), success comes late:
    ///   when the time has passed.
    template <class Rep, class Period, class Token = typename asio::default_completion_token<executor_type>::type>
    auto async_drain(std::chrono::duration<Rep, Period> at_most, Token&& token = {}) {
        return asio::async_initiate<Token, void(error_code)>(initiate_drain(count_), token,
                                                             detail::saturate_to_ns(at_most));
    }

private:
    class initiate_drain {
    public:
        using executor_type = typename Wheel::executor_type;

        explicit initiate_drain(std::shared_ptr<count> c) noexcept : count_(std::move(c)) {}
        executor_type get_executor() const noexcept { return count_->get_executor(); }

        template <class Handler>
        void operator()(Handler&& handler, std::chrono::nanoseconds at_most) {
            count::drain(count_, std::forward<Handler>(handler), at_most);
        }

    private:
        std::shared_ptr<count> count_;
    };

    std::shared_ptr<count> count_;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
