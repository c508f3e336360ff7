// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// An AsyncStream that reports when it is idle. It wraps TCP, local, TLS or any AsyncStream whose lowest layer has
// close(error_code&).
//
//     cogwheel::idle_stream stream{wheel, {.reader = 60s}, std::move(socket)};
//     stream.close_when_idle();
//     co_await asio::async_read_until(stream, buffer, "\r\n", asio::use_awaitable); // timed_out if no input
//
// Each successful read and write is activity; each piece of a composed operation counts. A write counts when the stream
// below has taken its bytes. With observe_output(), bytes that leave the system's queue towards a slow peer count, too.
// On a socket, bytes that have arrived for a read under way count even before the process reads them.
//
// On a context with several threads, make the socket on a strand. Binding the handlers to a strand is not enough,
// because the idle timer uses the stream's executor.
#pragma once

#include <cogwheel/net/detail/idle_stream_impl.hpp>

#include COGWHEEL_ASIO_HEADER(detail/throw_exception.hpp)

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

// The type of a deleted function, so that the compiler says what to write: idle_stream<tcp::socket, local_timer_wheel>.
namespace mistake {
struct name_the_wheel_as_in_idle_stream_socket_wheel {};
} // namespace mistake

/// Wraps a stream and watches it. Stream: the stream below, or a reference to it.
/// A member of a class names its wheel, unless that is a timer_wheel: idle_stream<tcp::socket, local_timer_wheel>.
/// Thread safety: one thread or strand at a time, the executor of the stream below.
template <class Stream, any_timer_wheel Wheel = timer_wheel>
class idle_stream {
public:
    using next_layer_type = std::remove_reference_t<Stream>;
    using lowest_layer_type = typename next_layer_type::lowest_layer_type;
    using executor_type = typename next_layer_type::executor_type;
    using monitor_type = idle_monitor<Wheel, executor_type>;

    template <class Other>
    struct rebind_executor {
        using other = idle_stream<typename next_layer_type::template rebind_executor<Other>::other, Wheel>;
    };

    static_assert(
        requires(lowest_layer_type& layer, error_code& ec) { layer.close(ec); },
        "idle_stream closes the lowest layer by close(error_code&): wrap yours so that it has one");

    /// Makes the stream below from `arguments`. All kinds of idleness count from now.
    /// Errors: std::invalid_argument (limits), std::bad_alloc, those of the stream's constructor.
    /// Lifetime: the wheel may be destroyed first. The wheel's execution context must outlive the stream and its
    ///   operations. If the stream below has another context, that one may be destroyed before the wheel's next turn.
    ///   It then destroys the handler of async_idle() or close_when_idle() without calling it.
    template <class... Arguments>
        requires std::constructible_from<Stream, Arguments...>
    idle_stream(const Wheel& wheel, const idle_timeouts& limits, Arguments&&... arguments)
        : impl_(std::make_shared<impl>(wheel, limits, std::forward<Arguments>(arguments)...)) {}
    template <any_timer_wheel Other, class... Arguments, class = mistake::name_the_wheel_as_in_idle_stream_socket_wheel>
        requires(!std::same_as<Other, Wheel>)
    idle_stream(const Other&, const idle_timeouts&, Arguments&&...) = delete;

    idle_stream(idle_stream&&) noexcept = default;
    idle_stream& operator=(idle_stream&& other) noexcept {
        if (this != &other) {
            if (impl_ != nullptr) impl_->end();
            impl_ = std::move(other.impl_);
        }
        return *this;
    }
    /// Does the same as close().
    ~idle_stream() {
        if (impl_ != nullptr) impl_->end();
    }

    executor_type get_executor() const noexcept { return impl_->stream.get_executor(); }
    next_layer_type& next_layer() noexcept { return impl_->stream; }
    const next_layer_type& next_layer() const noexcept { return impl_->stream; }
    lowest_layer_type& lowest_layer() noexcept { return impl_->stream.lowest_layer(); }
    const lowest_layer_type& lowest_layer() const noexcept { return impl_->stream.lowest_layer(); }

    /// Returns the monitor: for activity that the stream does not see, and for other timeouts. To start to watch later,
    /// make the stream without timeouts; then call monitor().set_limits(...) and monitor().reset().
    monitor_type& monitor() noexcept { return impl_->monitor; }

    /// Looks at the socket's send queue when an event is due. If bytes still wait there, the bytes that have left since
    /// the previous look count as a write. Only on Linux; elsewhere it has no effect.
    void observe_output(bool on = true) noexcept { impl_->observes_output = on; }

    /// Reads and writes, like the stream below. After close_when_idle() has closed the stream at an event, operations
    /// complete with asio::error::timed_out instead of operation_aborted or bad_descriptor, until it is opened again.
    /// After an opening, idleness counts from the next operation, async_idle() or close_when_idle(), if the stream was
    /// closed by close_when_idle() or during an operation. In other cases, call monitor().reset().
    template <class Buffers, class Token = typename asio::default_completion_token<executor_type>::type>
    auto async_read_some(const Buffers& buffers, Token&& token = {}) {
        return asio::async_initiate<Token, void(error_code, std::size_t)>(initiate<false>(impl_), token, buffers);
    }
    template <class Buffers, class Token = typename asio::default_completion_token<executor_type>::type>
    auto async_write_some(const Buffers& buffers, Token&& token = {}) {
        return asio::async_initiate<Token, void(error_code, std::size_t)>(initiate<true>(impl_), token, buffers);
    }

    /// Does the same as idle_monitor::async_idle().
    template <class Token = typename asio::default_completion_token<executor_type>::type>
    auto async_idle(Token&& token = {}) {
        impl_->count_anew();
        return impl_->monitor.async_idle(std::forward<Token>(token));
    }

    /// Closes the lowest layer at the first event from now on, once, and then calls `closed(event)`. An event of the
    /// kind ping does not close: see keep_alive(). Uses the monitor's one async_idle(); monitor().cancel() ends that.
    /// If the wheel takes no timer, or memory runs out meanwhile, the stream is closed without a call of `closed`. If
    /// the wheel's timers are cancelled or the wheel is destroyed, the stream stays open. After close(), nothing is
    /// closed, even if the stream is opened again. The system goes on sending what it has not sent yet. To reset the
    /// connection instead, use async_idle(), and set asio::socket_base::linger(true, 0) before you close.
    /// Executor: of `closed`: its associated one, else the stream's. `closed` may destroy the stream, and throw from
    ///   run().
    /// Errors: std::system_error (asio::error::already_started: an async_idle is under way), std::bad_alloc.
    void close_when_idle() {
        close_when_idle([](const idle_event&) {});
    }
    template <std::invocable<const idle_event&> F>
    void close_when_idle(F closed) {
        keep_alive([] {}, std::move(closed));
    }

    /// Does the same, and calls `send_ping()` at each event of the kind ping. It comes after idle_timeouts::ping
    /// without a read, or without a write, and again after the same time. So a peer that answers keeps its connection.
    /// If the peer has gone, the stream is closed after idle_timeouts::reader.
    /// Parameters: `send_ping`: starts a write, or queues the ping behind the write under way. It runs on the stream's
    ///   executor, and may close or destroy the stream. What it throws leaves run(); the next ping is due nevertheless.
    /// Example:
    ///
    ///     cogwheel::idle_stream stream{wheel, {.reader = 30s, .ping = 10s}, std::move(socket)};
    ///     stream.keep_alive([&] { session.send(ping_frame); });
    template <std::invocable<> Ping, std::invocable<const idle_event&> F>
    void keep_alive(Ping send_ping, F closed) {
        static_assert(!detail::has_executor<Ping>, "the ping runs on the stream's executor: dispatch inside it");
        if (impl_->monitor.waiting())
            asio::detail::throw_exception(
                detail::sys::system_error(asio::error::already_started, "cogwheel::idle_stream"));
        impl_->count_anew();
        impl_->monitor.async_idle(detail::idle_guard<impl, Ping, F>{impl_, std::move(send_ping), std::move(closed)});
    }
    template <std::invocable<> Ping>
    void keep_alive(Ping send_ping) {
        keep_alive(std::move(send_ping), [](const idle_event&) {});
    }

    /// Closes the lowest layer and cancels async_idle(). Operations under way complete with operation_aborted, or with
    /// timed_out if close_when_idle() has closed the stream before.
    void close() noexcept { impl_->end(); }

private:
    using impl = detail::idle_stream_impl<Stream, monitor_type>;

    template <bool Writes>
    class initiate {
    public:
        using executor_type = idle_stream::executor_type;

        explicit initiate(const std::shared_ptr<impl>& b) noexcept : impl_(b) {}
        executor_type get_executor() const noexcept { return impl_->stream.get_executor(); }

        template <class Handler, class Buffers>
        void operator()(Handler&& handler, const Buffers& buffers) const {
            impl::template start<Writes>(impl_, std::forward<Handler>(handler), buffers);
        }

    private:
        std::shared_ptr<impl> impl_;
    };

    std::shared_ptr<impl> impl_;
};

template <any_timer_wheel Wheel, class Stream>
idle_stream(const Wheel&, const idle_timeouts&, Stream&&) -> idle_stream<std::decay_t<Stream>, Wheel>;

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
