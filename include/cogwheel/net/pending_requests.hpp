// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Requests of a pipelined protocol that wait for their answers, each under a key that comes back with it, each with a limit:
//
//     cogwheel::pending_requests<std::uint32_t, message> requests(wheel, strand);
//
//     message answer = co_await requests.async_wait(id, 2s, asio::use_awaitable);   // who sent it
//     requests.complete(id, std::move(answer));                                     // the read loop
//
// - Each request completes exactly once: answered, timed out, failed, cancelled, or refused. stats() adds up at every moment.
// - An answer that arrives before the strand has heard of the timeout wins, also if the limit has passed.
// - A handler is never invoked inside a call of this object, but as if by asio::post. Handlers run in the order in which their
//   requests were ended, those ended by one call too. By then the request's memory is free, and its key may be used again.
// - One block of memory a request: the wheel's pool, or the handler's associated allocator. None otherwise in the steady state.
//
// For one strand at a time, as Asio's sockets: the executor that is given must be a strand, if several threads run its context.
// Cancellation slots are to be emitted on it, too. The wheel may belong to any other thread.
//
// Keys should not come back soon: a late answer to a request that was given up would answer the next one with its key.
#pragma once

#include <cogwheel/asio/timeout_after.hpp>
#include <cogwheel/net/detail/request_core.hpp>
#include <cogwheel/net/error.hpp>
#include <cogwheel/net/request_limit.hpp>
#include <cogwheel/net/request_options.hpp>
#include <cogwheel/net/request_stats.hpp>

#include <concepts>
#include <functional>

namespace cogwheel {

/// Hash and Equal as those of std::unordered_map. Executor: any that the wheel's converts to.
template <class Key, class Response, any_timer_wheel Wheel = timer_wheel, class Hash = std::hash<Key>,
          class Equal = std::equal_to<Key>, class Executor = typename Wheel::executor_type>
class pending_requests {
    static_assert(std::is_object_v<Response> && std::default_initializable<Response> && std::movable<Response>,
                  "Response must be movable and default constructible, for an error comes with an empty one: "
                  "take std::optional<Response>, or std::monostate if there is nothing to say");
    static_assert(
        std::move_constructible<Key> && std::invocable<const Hash&, const Key&> &&
            std::predicate<const Equal&, const Key&, const Key&>,
        "Key must be movable, and Hash and Equal callable with it: give pending_requests a hash for your key");

    using engine = typename detail::state_type<Wheel>::engine;
    using core = detail::request_core<Key, Response, engine, Hash, Equal>;

public:
    using key_type = Key;
    using response_type = Response;
    using executor_type = Executor;
    using clock_type = typename Wheel::clock_type;
    using time_point = typename Wheel::time_point;
    using limit_type = basic_request_limit<clock_type>;

    template <class Other>
    struct rebind_executor {
        using other = pending_requests<Key, Response, Wheel, Hash, Equal, Other>;
    };

    /// Errors: std::invalid_argument (options), std::bad_alloc.
    /// Lifetime: the wheel may be destroyed first; requests are aborted then, and limits answered with errc::stopped. Its
    /// execution context may not.
    pending_requests(const Wheel& wheel, const Executor& executor, const request_options& options = {},
                     const Hash& hash = {}, const Equal& equal = {})
        : executor_(executor) {
        options.validate();
        core_ = std::make_shared<core>(detail::state_of::get(wheel), asio::any_io_executor(executor),
                                       options.max_in_flight, options.reserve, hash, equal);
    }
    /// On the wheel's executor.
    explicit pending_requests(const Wheel& wheel, const request_options& options = {})
        requires std::convertible_to<typename Wheel::executor_type, Executor>
        : pending_requests(wheel, wheel.get_executor(), options) {}

    /// Takes the requests over; `other` may only be destroyed or assigned to.
    pending_requests(pending_requests&& other) noexcept = default;
    pending_requests& operator=(pending_requests&& other) noexcept {
        if (this != &other) {
            close();
            core_ = std::move(other.core_);
            executor_ = std::move(other.executor_);
        }
        return *this;
    }

    /// Requests in flight complete with asio::error::operation_aborted. Legal inside a handler.
    ~pending_requests() { close(); }

    executor_type get_executor() const noexcept { return executor_; }

    /// Waits for the answer to `key`.
    /// Parameters: limit: a duration, a deadline, or limit_type::from_write(), which counts from written(). Zero or less times out
    ///   at once, but not inline; deadline() never does.
    /// Completion signature: void(std::error_code, Response), with an empty Response on every error:
    ///   asio::error::timed_out; asio::error::operation_aborted: cancel(), a cancellation slot, this object destroyed, the
    ///   wheel's timers cancelled; net_errc::duplicate_key, net_errc::too_many_requests, errc::stopped, errc::too_many_timers:
    ///   refused, the request was not started; else what fail() says.
    /// Cancellation: terminal, partial and total; O(1).
    /// Executor: the handler's associated one, else this object's.
    /// Complexity: O(1), amortised over the growth of the table. Errors: std::bad_alloc, and those of Hash, Equal and Key.
    template <class Token = typename asio::default_completion_token<executor_type>::type>
    auto async_wait(Key key, limit_type limit, Token&& token = {}) {
        return asio::async_initiate<Token, void(std::error_code, Response)>(initiate_wait(*this), token, std::move(key),
                                                                            limit);
    }

    /// The request is on its way: a limit_type::from_write() begins to count. False if it does already, or no such request is in
    /// flight. A wheel that takes no timer then fails the request, with errc::stopped or errc::too_many_timers.
    bool written(const Key& key) { return body().start_limit(key); }

    /// The answer. False, and counted as late, if nobody waits for it: it was given up, or never asked for.
    /// Complexity: O(1). Errors: std::bad_alloc, and what moving a Response throws; the request goes on.
    bool complete(const Key& key, Response response) {
        auto* r = body().table().find_answered(key);
        if (r == nullptr) return false;
        body().answer(*r, std::move(response));
        return true;
    }

    /// The answer is an error. All else as complete(). Preconditions: ec.
    bool fail(const Key& key, const std::error_code& ec) {
        assert(ec && "complete() is for success");
        auto* r = body().table().find_answered(key);
        if (r == nullptr) return false;
        body().end(*r, detail::ending::failed, ec);
        return true;
    }

    /// Gives the request up: asio::error::operation_aborted. False if it is not in flight.
    bool cancel(const Key& key) {
        auto* r = body().table().find(key);
        if (r == nullptr) return false;
        body().end(*r, detail::ending::cancelled, asio::error::operation_aborted);
        return true;
    }

    /// The connection is gone: all in flight fail, oldest first. Returns how many. New ones may be started, also by their
    /// handlers. Preconditions: ec. Complexity: O(in flight). Errors: std::bad_alloc; all go on.
    std::size_t fail_all(const std::error_code& ec) {
        assert(ec && "complete() is for success");
        return body().end_all(detail::ending::failed, ec);
    }

    /// A request in flight. Lifetime: until the next call that is not const.
    struct entry {
        const Key& key;
        time_point started;

        typename clock_type::duration age(time_point now = clock_type::now()) const { return now - started; }
    };

    /// The one that waits longest. O(1).
    std::optional<entry> oldest() const {
        const auto* r = body().table().oldest();
        if (r == nullptr) return std::nullopt;
        return entry{r->key(), r->started()};
    }

    /// Calls f(entry) for each, in the order of their start. f must not start or end requests.
    template <std::invocable<entry> F>
    void for_each(F f) const {
        for (const auto* r = body().table().oldest(); r != nullptr; r = body().table().next(*r))
            f(entry{r->key(), r->started()});
    }

    bool contains(const Key& key) const { return body().table().find(key) != nullptr; }
    std::size_t in_flight() const noexcept { return body().table().size(); }
    const request_stats& stats() const noexcept { return body().table().stats(); }

private:
    class initiate_wait {
    public:
        using executor_type = Executor;

        explicit initiate_wait(const pending_requests& requests)
            : core_(&requests.body()), executor_(requests.executor_) {}
        executor_type get_executor() const noexcept { return executor_; }

        template <class Handler>
        void operator()(Handler&& handler, Key key, const limit_type& limit) const {
            core_->start(std::forward<Handler>(handler), std::move(key), limit);
        }

    private:
        core* core_;
        executor_type executor_;
    };

    void close() noexcept {
        if (core_ != nullptr) core_->close();
    }

    core& body() const noexcept {
        assert(core_ != nullptr && "moved-from pending_requests may only be destroyed or assigned to");
        return *core_;
    }

    std::shared_ptr<core> core_;
    Executor executor_;
};

} // namespace cogwheel
