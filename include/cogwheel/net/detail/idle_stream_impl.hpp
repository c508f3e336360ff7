// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The impl of an idle_stream. Operations under way share it, because they may outlive the idle_stream.
#pragma once

#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/detail/platform.hpp>
#include <cogwheel/net/detail/output_queue.hpp>
#include <cogwheel/net/idle_monitor.hpp>

#include <memory>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// The user's handler with its associations. The impl records the result before the handler is called.
template <class Impl, bool Writes, class Handler>
struct observed_handler {
    using associations = of_handler;
    std::shared_ptr<Impl> impl;
    Handler handler;

    void operator()(error_code ec, std::size_t bytes) {
        ec = impl->template observe<Writes>(ec, bytes);
        impl.reset(); // the handler may outlive the connection
        std::move(handler)(ec, bytes);
    }
};

/// Handles each event: pings, or closes the stream.
template <class Impl, class Ping, class Closed>
struct idle_guard {
    std::weak_ptr<Impl> weak;
    Ping send_ping;
    Closed closed;

    void operator()(error_code ec, const idle_event& event) {
        const std::shared_ptr<Impl> b = weak.lock();
        if (b == nullptr || b->ended || ec == asio::error::operation_aborted) return;
        if (!b->is_open()) {
            b->was_closed = true;
            return;
        }
        if (!ec && event.kind == idle_kind::ping) return ping(*b);
        b->timed_out = !ec;
        b->close();
        if (ec) return;
        if constexpr (has_executor<Closed>)
            dispatch_on(asio::get_associated_executor(closed, b->stream.get_executor()),
                        handler_with_results<Closed, std::tuple<idle_event>>{std::move(closed), event});
        else
            closed(event);
    }

private:
    void ping(Impl& b) {
        const struct waiting_again { // also if send_ping() throws
            idle_guard& self;
            Impl& b;
            ~waiting_again() {
                if (b.ended || b.monitor.waiting()) return;
                COGWHEEL_TRY { b.monitor.async_idle(std::move(self)); }
                COGWHEEL_CATCH { b.close(); }
            }
        } at_exit{*this, b};
        send_ping();
    }
};

template <class Stream, class Monitor>
struct idle_stream_impl final : idle_probe {
    template <class Wheel, class... Arguments>
    explicit idle_stream_impl(const Wheel& wheel, const idle_timeouts& limits, Arguments&&... arguments)
        : stream(std::forward<Arguments>(arguments)...), monitor(wheel, stream.get_executor(), limits) {
        monitor.set_probe(this);
    }

    template <bool Writes, class Handler, class Buffers>
    static void start(const std::shared_ptr<idle_stream_impl>& impl, Handler&& handler, const Buffers& buffers) {
        observed_handler<idle_stream_impl, Writes, std::decay_t<Handler>> h{impl, std::forward<Handler>(handler)};
        idle_stream_impl& b = *impl;
        b.count_anew();
        if constexpr (Writes) {
            b.stream.async_write_some(buffers, std::move(h));
            ++b.writes;
        } else {
            b.stream.async_read_some(buffers, std::move(h));
            ++b.reads;
        }
    }

    /// Records the end of an operation. Returns the error code for the user.
    template <bool Writes>
    error_code observe(error_code ec, std::size_t bytes) noexcept {
        --(Writes ? writes : reads);
        if (!ec || bytes != 0) {
            if constexpr (Writes) {
                written += bytes;
                monitor.touch_write();
            } else {
                monitor.touch_read();
            }
        }
        if (ec && !is_open()) was_closed = true;
        // bad_descriptor: the next piece of a composed operation finds the stream closed.
        const bool cut_off = ec == asio::error::operation_aborted || ec == asio::error::bad_descriptor;
        return timed_out && cut_off ? asio::error::timed_out : ec;
    }

    /// Counts idleness from now if the stream was closed and opened again.
    void count_anew() noexcept {
        if (!was_closed || !is_open()) return;
        was_closed = timed_out = false;
        monitor.reset();
    }
    void close() noexcept {
        error_code ignored;
        was_closed = true;
#if COGWHEEL_WINDOWS // wine ends the operations with another error at close()
        if constexpr (requires { stream.lowest_layer().cancel(ignored); }) stream.lowest_layer().cancel(ignored);
#endif
        stream.lowest_layer().close(ignored);
    }
    void end() noexcept {
        ended = true;
        close();
        COGWHEEL_TRY { monitor.cancel(); }
        COGWHEEL_CATCH {
            // No memory to cancel: an async_idle under way completes when its timer fires.
        }
    }

    bool is_open() const noexcept {
        if constexpr (requires { stream.lowest_layer().is_open(); })
            return stream.lowest_layer().is_open();
        else
            return true;
    }

    bool under_way() noexcept override { return reads != 0 || writes != 0; }
    bool input_waits() noexcept override {
        if constexpr (requires(error_code& ec) { stream.lowest_layer().available(ec); }) {
            error_code ec;
            return reads != 0 && stream.lowest_layer().available(ec) > 0 && !ec;
        } else {
            return false;
        }
    }
    std::optional<std::uint64_t> output_progress() noexcept override {
        if constexpr (requires { output_queue(stream.lowest_layer().native_handle()); }) {
            if (!observes_output) return {};
            const auto waiting = output_queue(stream.lowest_layer().native_handle());
            if (waiting && *waiting != 0) return written - *waiting;
        }
        return {};
    }

    Stream stream;
    Monitor monitor;
    std::uint64_t written = 0;
    std::size_t reads = 0, writes = 0; // under way
    bool observes_output = false;
    bool was_closed = false; // since the idleness was counted anew
    bool timed_out = false;  // closed because it was idle
    bool ended = false;      // closed by the user
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
