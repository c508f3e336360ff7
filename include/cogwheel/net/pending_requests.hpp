// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Holds the requests of a pipelined protocol until they end. Each has a key, which its answer repeats, and a timeout:
//
//     cogwheel::pending_requests<std::uint32_t, message> requests(wheel, strand);
//
//     message answer = co_await requests.async_wait(id, 2s, asio::use_awaitable); // the sender
//     requests.complete(id, std::move(answer));                                   // the read loop
//
// - Each request completes exactly once: answered, timed out, failed, cancelled or refused. If the executor's context
//   is destroyed first, it destroys the handler without a call. stats() adds up at every moment.
// - An answer wins if complete() runs before the strand has handled the timeout, even if the timeout has passed.
// - No member function invokes a handler. Handlers run as if by asio::post, in the order in which their requests ended.
//   When a handler runs, the request's memory is free, and its key may be used again.
// - Each request is one block of memory: from the handler's associated allocator, else from the wheel's pool (large
//   blocks: from the heap). In the steady state there is no other allocation.
//
// Use it on one strand at a time, like Asio's sockets. If several threads run the context, the executor must be a
// strand. Emit cancellation signals there, too. A timer_wheel may run on another thread, a local_timer_wheel may not.
//
// Do not reuse a key soon: the late answer to an ended request would complete the next request with the same key.
#pragma once

#include <cogwheel/asio/error.hpp>
#include <cogwheel/asio/timeout.hpp>
#include <cogwheel/detail/assertion.hpp>
#include <cogwheel/net/detail/pending_requests_impl.hpp>
#include <cogwheel/net/request_options.hpp>

#include <concepts>
#include <functional>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

// The type of a deleted function, so that the compiler's first line says what to write.
namespace mistake {
struct name_the_wheel_as_in_pending_requests_key_response_wheel {};
} // namespace mistake

/// The requests in flight, by key. Hash, Equal: as for std::unordered_map. Executor: converts to asio::any_io_executor.
/// Thread safety: one strand at a time.
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

    using engine = typename detail::impl_type<Wheel>::engine;
    using impl_type = detail::pending_requests_impl<Key, Response, engine, Hash, Equal>;

public:
    using key_type = Key;
    using response_type = Response;
    using executor_type = Executor;
    using clock_type = typename Wheel::clock_type;
    using time_point = typename Wheel::time_point;
    using limit_type = detail::request_limit<clock_type>;

    template <class Other>
    struct rebind_executor {
        using other = pending_requests<Key, Response, Wheel, Hash, Equal, Other>;
    };

    /// Makes an object without requests. Errors: std::invalid_argument (options), std::bad_alloc.
    /// Lifetime: the wheel may be destroyed first. Requests with a running timeout then complete with
    ///   asio::error::operation_aborted; others continue. A new request whose timeout starts at once is refused with
    ///   errc::stopped; if its timeout starts in written(), it fails with errc::stopped there. The wheel's execution
    ///   context must outlive this object and the handlers of its requests.
    pending_requests(const Wheel& wheel, const Executor& executor, const request_options& options = {},
                     const Hash& hash = {}, const Equal& equal = {})
        : executor_(executor) {
        options.validate();
        impl_ = std::make_shared<impl_type>(detail::impl_of(wheel), asio::any_io_executor(executor),
                                            options.max_in_flight, options.reserve, hash, equal);
    }
    /// Does the same with the wheel's executor.
    explicit pending_requests(const Wheel& wheel, const request_options& options = {})
        requires std::convertible_to<typename Wheel::executor_type, Executor>
        : pending_requests(wheel, wheel.get_executor(), options) {}

    template <any_timer_wheel Other, class... More,
              class = mistake::name_the_wheel_as_in_pending_requests_key_response_wheel>
        requires(!std::same_as<Other, Wheel>)
    explicit pending_requests(const Other&, const More&...) = delete;

    /// Takes over the requests of `other`. After that, `other` may only be destroyed or assigned to.
    pending_requests(pending_requests&& other) noexcept = default;
    pending_requests& operator=(pending_requests&& other) noexcept {
        if (this != &other) {
            close();
            impl_ = std::move(other.impl_);
            executor_ = std::move(other.executor_);
        }
        return *this;
    }

    /// Completes the requests in flight with asio::error::operation_aborted, not inline. May be called in a handler.
    ~pending_requests() { close(); }

    executor_type get_executor() const noexcept { return executor_; }

    /// Waits for the answer to `key`.
    /// Parameters: `limit`: a duration, a point in time, a deadline, or from_write(). With zero or less, the request
    ///   times out at once, but not inline. deadline() never passes.
    /// Completion signature: void(std::error_code, Response), with Response() on every error. The errors are
    ///   - asio::error::timed_out.
    ///   - asio::error::operation_aborted: by cancel() or the cancellation slot; or this object was destroyed, or the
    ///     wheel's cancel_all(), stop() or end cancelled the timer of this request.
    ///   - errc::duplicate_key, too_many_requests, stopped, too_many_timers: the request was refused, and not started.
    ///   - the argument of fail() or fail_all(); errc::stopped or errc::too_many_timers if written() got no timer.
    /// Cancellation: terminal, partial and total, in O(1).
    /// Executor: the handler's associated one, else this object's.
    /// Complexity: O(1) on average, amortised over the growth of the table.
    /// Errors: std::bad_alloc, and those of Hash, Equal and Key; then the request is not started.
    template <class Token = typename asio::default_completion_token<executor_type>::type>
    auto async_wait(Key key, limit_type limit, Token&& token = {}) {
        return asio::async_initiate<Token, void(error_code, Response)>(initiate_wait(*this), token, std::move(key),
                                                                       limit);
    }

    /// Returns a timeout that starts at written(), for requests that may wait long in a send queue. With `until`, the
    /// request also times out at that deadline, written or not.
    /// Example: requests.async_wait(id, requests.from_write(2s, deadline), token);
    template <class Rep, class Period>
    static constexpr limit_type from_write(std::chrono::duration<Rep, Period> timeout,
                                           const basic_deadline<clock_type>& until = {}) noexcept {
        return limit_type::from_write(timeout, until);
    }

    /// Starts a timeout of from_write(): the request has been written. Returns false if no such request is in flight,
    /// if its timeout counts from the start, or at the second call for it. If the wheel takes no timer, the request
    /// fails with errc::stopped or errc::too_many_timers, and written() returns true.
    /// Errors: std::bad_alloc, and those of Hash and Equal; nothing changes then.
    bool written(const Key& key) { return impl().start_limit(key); }

    /// Completes the request with its answer. Returns false, and counts the answer as late, if no such request is in
    /// flight: it has ended or was never started.
    /// Complexity: O(1). Errors: std::bad_alloc, and those of Hash, Equal and Response; the request then continues.
    bool complete(const Key& key, Response response) {
        auto* r = impl().table().find_answered(key);
        if (r == nullptr) return false;
        impl().answer(*r, std::move(response));
        return true;
    }

    /// Completes the request with the error `ec`; otherwise like complete(). Preconditions: `ec` is an error.
    bool fail(const Key& key, const error_code& ec) {
        COGWHEEL_ASSERT(ec && "complete() is for success");
        auto* r = impl().table().find_answered(key);
        if (r == nullptr) return false;
        impl().end(*r, detail::ending::failed, ec);
        return true;
    }

    /// Completes the request with asio::error::operation_aborted. Returns false if it is not in flight.
    /// Errors: as for written().
    bool cancel(const Key& key) {
        auto* r = impl().table().find(key);
        if (r == nullptr) return false;
        impl().end(*r, detail::ending::cancelled, asio::error::operation_aborted);
        return true;
    }

    /// Completes all requests in flight with `ec`, oldest first. Call it when the connection is lost. Returns their
    /// number. New requests may be started afterwards, also by the handlers.
    /// Preconditions: `ec` is an error. Complexity: O(in flight). Errors: std::bad_alloc; then all requests continue.
    std::size_t fail_all(const error_code& ec) {
        COGWHEEL_ASSERT(ec && "complete() is for success");
        return impl().end_all(detail::ending::failed, ec);
    }

    /// A request in flight. Lifetime: until the next call of a function that is not const, or until the present handler
    /// returns: after that, the request may time out.
    struct entry {
        const Key& key;
        time_point started;

        typename clock_type::duration age(time_point now = clock_type::now()) const { return now - started; }
    };

    /// Returns the request that has waited longest; nullopt if there is none. Complexity: O(1).
    std::optional<entry> oldest() const {
        const auto* r = impl().table().oldest();
        if (r == nullptr) return std::nullopt;
        return entry{r->key(), r->started()};
    }

    /// Calls f(entry) for each request, in the order of their start. `f` must not start or end requests.
    template <std::invocable<entry> F>
    void for_each(F f) const {
        for (const auto* r = impl().table().oldest(); r != nullptr; r = impl().table().next(*r))
            f(entry{r->key(), r->started()});
    }

    bool contains(const Key& key) const { return impl().table().find(key) != nullptr; }
    std::size_t in_flight() const noexcept { return impl().table().size(); }
    const request_stats& stats() const noexcept { return impl().table().stats(); }

private:
    class initiate_wait {
    public:
        using executor_type = Executor;

        explicit initiate_wait(const pending_requests& requests)
            : impl_(&requests.impl()), executor_(requests.executor_) {}
        executor_type get_executor() const noexcept { return executor_; }

        template <class Handler>
        void operator()(Handler&& handler, Key key, const limit_type& limit) const {
            impl_->start(std::forward<Handler>(handler), std::move(key), limit);
        }

    private:
        impl_type* impl_;
        executor_type executor_;
    };

    void close() noexcept {
        if (impl_ != nullptr) impl_->close();
    }

    impl_type& impl() const noexcept {
        COGWHEEL_ASSERT(impl_ != nullptr && "moved-from pending_requests may only be destroyed or assigned to");
        return *impl_;
    }

    std::shared_ptr<impl_type> impl_;
    Executor executor_;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
