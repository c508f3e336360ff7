// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A stream that knows when it has gone quiet: TCP, local, TLS, any AsyncStream, and one itself.
//
//     cogwheel::idle_stream stream{wheel, {.reader = 60s}, std::move(socket)};
//     stream.close_when_idle();
//     co_await asio::async_read_until(stream, buffer, "\r\n", asio::use_awaitable); // timed_out if the peer says nothing
//
// Each completed read and write is activity, so whole-message operations through it are observed piece by piece. What is written
// counts when the stream below has taken it; with observe_output() also what leaves the system's queue towards a slow peer.
// Bytes that have arrived for a read under way count, too, though the process was too busy to see them.
//
// For one thread or one strand at a time, and that is the executor of the stream below: on a context with several threads make the
// socket on a strand. It is not enough to bind the handlers to one, for the idle timer comes to the stream's executor.
#pragma once

#include <cogwheel/net/detail/idle_body.hpp>

#include <asio/detail/throw_exception.hpp>

namespace cogwheel {

template <class Stream, any_timer_wheel Wheel = timer_wheel>
class idle_stream {
public:
    using next_layer_type = std::remove_reference_t<Stream>;
    using lowest_layer_type = typename next_layer_type::lowest_layer_type;
    using executor_type = typename next_layer_type::executor_type;
    using monitor_type = typename detail::idle_monitor_for<Wheel, executor_type>::type;

    static_assert(
        requires(lowest_layer_type& layer, std::error_code& ec) { layer.close(ec); },
        "idle_stream closes the lowest layer by close(error_code&): wrap yours so that it has one");

    /// Makes the stream below of `arguments`. All kinds of idleness count from now.
    /// Errors: std::invalid_argument (limits), std::bad_alloc, those of the stream's constructor.
    /// Lifetime: the wheel may go first, its execution context may not. That of the stream below, where it is another one, may go
    ///   before the wheel's next turn, also under a close_when_idle(): what waits for an event is destroyed with it.
    template <class... Arguments>
        requires std::constructible_from<Stream, Arguments...>
    idle_stream(const Wheel& wheel, const idle_limits& limits, Arguments&&... arguments)
        : body_(std::make_shared<body>(wheel, limits, std::forward<Arguments>(arguments)...)) {}

    idle_stream(idle_stream&&) noexcept = default;
    idle_stream& operator=(idle_stream&& other) noexcept {
        if (this != &other) {
            if (body_ != nullptr) body_->end();
            body_ = std::move(other.body_);
        }
        return *this;
    }
    /// Closes. What is under way completes with operation_aborted.
    ~idle_stream() {
        if (body_ != nullptr) body_->end();
    }

    executor_type get_executor() const noexcept { return body_->stream.get_executor(); }
    next_layer_type& next_layer() noexcept { return body_->stream; }
    const next_layer_type& next_layer() const noexcept { return body_->stream; }
    lowest_layer_type& lowest_layer() noexcept { return body_->stream.lowest_layer(); }
    const lowest_layer_type& lowest_layer() const noexcept { return body_->stream.lowest_layer(); }

    /// Limits, reset, and activity that the stream does not see. Its probe is ours.
    monitor_type& monitor() noexcept { return body_->monitor; }

    /// Bytes that leave the queue of the system's socket count as writes (Linux; elsewhere nothing changes).
    void observe_output(bool on = true) noexcept { body_->observes_output = on; }

    /// As those of the stream below. After a close by close_when_idle(), what was under way completes with
    /// asio::error::timed_out instead of operation_aborted.
    template <class Buffers, class Token = typename asio::default_completion_token<executor_type>::type>
    auto async_read_some(const Buffers& buffers, Token&& token = {}) {
        return asio::async_initiate<Token, void(std::error_code, std::size_t)>(initiate<false>(body_), token, buffers);
    }
    template <class Buffers, class Token = typename asio::default_completion_token<executor_type>::type>
    auto async_write_some(const Buffers& buffers, Token&& token = {}) {
        return asio::async_initiate<Token, void(std::error_code, std::size_t)>(initiate<true>(body_), token, buffers);
    }

    /// As idle_monitor::async_idle().
    template <class Token = typename asio::default_completion_token<executor_type>::type>
    auto async_idle(Token&& token = {}) {
        return body_->monitor.async_idle(std::forward<Token>(token));
    }

    /// From now on the first event closes the lowest layer, once, and then calls `closed(event)`. It takes async_idle()'s place;
    /// monitor().cancel() takes it back. Where the wheel takes no timer for it, the stream is closed, too: better than never.
    /// Errors: std::system_error (asio::error::already_started: somebody waits for events), std::bad_alloc.
    void close_when_idle() {
        close_when_idle([](const idle_event&) {});
    }
    template <std::invocable<const idle_event&> F>
    void close_when_idle(F closed) {
        if (body_->monitor.waiting())
            asio::detail::throw_exception(std::system_error(asio::error::already_started, "cogwheel::idle_stream"));
        body_->monitor.async_idle([weak = std::weak_ptr(body_),
                                   closed = std::move(closed)](std::error_code ec, const idle_event& event) mutable {
            const std::shared_ptr<body> b = weak.lock();
            if (b == nullptr || b->ended || !b->is_open() || ec == asio::error::operation_aborted) return;
            b->timed_out = !ec;
            b->close();
            if (!ec) closed(event);
        });
    }

    /// Closes the lowest layer, and stops looking. What is under way completes with operation_aborted.
    void close() noexcept { body_->end(); }

private:
    using body = detail::idle_body<Stream, monitor_type>;

    template <bool Writes>
    class initiate {
    public:
        using executor_type = idle_stream::executor_type;

        explicit initiate(const std::shared_ptr<body>& b) noexcept : body_(b) {}
        executor_type get_executor() const noexcept { return body_->stream.get_executor(); }

        template <class Handler, class Buffers>
        void operator()(Handler&& handler, const Buffers& buffers) const {
            body::template start<Writes>(body_, std::forward<Handler>(handler), buffers);
        }

    private:
        std::shared_ptr<body> body_;
    };

    std::shared_ptr<body> body_;
};

template <any_timer_wheel Wheel, class Stream>
idle_stream(const Wheel&, const idle_limits&, Stream&&) -> idle_stream<std::decay_t<Stream>, Wheel>;

} // namespace cogwheel
