// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A live page about wheels: the slots as a ring with its hand, how late timers fire, rates, the longest turns, and
// pending timers by kind. One HTML file, which loads nothing else, and a stream of server-sent events. Renders into
// strings; the server that sends them is yours. Target cogwheel::observe.
//
//     cogwheel::debug_page page;
//     page.add("server", wheel);
//
//     const auto answer = cogwheel::debug_page::answer(method, path); // "/": the page, "/events": the stream
//     send(answer.head(), answer.body);
//     while (answer.events) { // until the client leaves; one update may go to all clients
//         std::string event;
//         auto update = page.update();
//         while (update.next(event)) co_await asio::post(asio::use_awaitable); // other handlers run between two slices
//         send(event); // with a time limit: a client may stop reading
//         co_await other_wheel.async_wait(cogwheel::debug_page::period, asio::use_awaitable);
//     }
//
// - A slice takes about 0.1 ms at most, for any number of timers, slots and wheels.
// - The page also shows timers of the server itself, unless it has a wheel of its own.
// - The page shows counts and names of types without a password: mount it on loopback, or behind the access control of
//   your server. On loopback, refuse requests whose field Host is a name other than localhost: another site may have
//   sent them (DNS rebinding). support/watch_endpoint.hpp is such a server.
// Format: the event stream of the HTML Living Standard, section 9.2; its data is JSON (RFC 8259).
#pragma once

#include <cogwheel/asio/detail/on_wheel.hpp>
#include <cogwheel/counts/stats_board.hpp>
#include <cogwheel/net/wheel_counts.hpp>
#include <cogwheel/observe/detail/page_sample.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// The answer to a request. Its texts live as long as the program.
struct page_answer {
    struct field {
        std::string_view name, value;
    };

    int status = 200;              ///< 200, 404 or 405
    std::span<const field> fields; ///< of the header: Content-Type, and rules for the browser
    std::string_view body;         ///< of an event stream: its beginning
    bool events = false;           ///< the body has no end: an update follows each debug_page::period

    /// Returns the head of an HTTP/1.1 response, with its empty line and `Connection: close`. Errors: std::bad_alloc.
    std::string head() const;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
class page_rendering;
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Renders an event, slice by slice. Move-only. Thread safety: one thread at a time.
class page_update {
public:
    page_update(page_update&&) noexcept;
    page_update& operator=(page_update&&) noexcept;
    ~page_update();

    /// Appends the next slice to `out`. Returns false if the event is complete: do not call it again then.
    /// Complexity: a step of one wheel, or the text of one wheel (at most debug_page::most_groups numbers a level).
    /// Errors: std::bad_alloc. The event is then incomplete: drop it.
    bool next(std::string& out);

private:
    friend class debug_page;
    explicit page_update(std::unique_ptr<detail::page_rendering> rendering) noexcept;

    std::unique_ptr<detail::page_rendering> rendering_;
};

/// The wheels that the page shows, each with a name. Thread safety: any thread, also during a rendering. Render wheels
/// of type local_timer_wheel on their own thread.
class debug_page {
public:
    static constexpr std::chrono::milliseconds period{250}; ///< between two updates
    static constexpr std::size_t most_groups = 256;         ///< parts of the ring: each shows 1, 2, 4 ... slots

    debug_page() = default;
    debug_page(const debug_page&) = delete;
    debug_page& operator=(const debug_page&) = delete;
    /// Removes all wheels, as remove() does.
    ~debug_page();

    /// Adds a wheel, with its idle monitors and requests; with the observer handler_times, the slowest handlers, too.
    /// Errors: std::invalid_argument (a wheel of this name has been added), std::bad_alloc.
    /// Lifetime: call remove() before the wheel is moved or destroyed.
    template <any_timer_wheel Wheel>
    void add(std::string name, const Wheel& wheel) {
        add_source(std::move(name), [&wheel](wheel_cursor& cursor, detail::page_sample& s) {
            if (wheel.snapshot(cursor, s.wheel)) return true;
            s.idle = idle_stats_of(wheel);
            s.requests = request_stats_of(wheel);
            const auto table = [](const handler_times& times) { return times.table(); };
            if constexpr (requires { wheel.with_observer(table); }) s.handlers = wheel.with_observer(table);
            return false;
        });
    }

    /// Adds a wheel by its board, which another thread may read. The page then lacks the ring, the idle monitors, the
    /// requests and the handlers. Errors: as above.
    void add(std::string name, const std::shared_ptr<stats_board>& board) {
        add_source(std::move(name), [board](wheel_cursor&, detail::page_sample& s) {
            s.wheel = board->latest();
            return false;
        });
    }

    /// Removes the wheel of this name. Returns false if there is none. Waits while another thread is in a step of this
    /// wheel. After that, no rendering uses the wheel.
    bool remove(std::string_view name);

    /// Starts an update. All viewers may get the same one. Errors: std::bad_alloc.
    page_update update() const;

    /// Answers a request. `path`: below the place where the page is mounted, with or without a query: "" or "/" (the
    /// page), "/events" (the stream). Another path gives 404, another method than GET gives 405.
    static page_answer answer(std::string_view method, std::string_view path) noexcept;

private:
    void add_source(std::string&& name, std::function<bool(wheel_cursor&, detail::page_sample&)>&& step);

    mutable std::mutex mutex_;
    std::vector<std::shared_ptr<detail::page_source>> sources_;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
