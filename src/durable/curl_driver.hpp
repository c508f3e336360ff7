// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Drives a libcurl multi handle by Asio: its sockets by stream_descriptor, its timers by the wheel. All of it on one
// strand.
//
// - Sockets that the driver opens (open_socket) belong to their descriptor, which stays registered with the reactor
//   until libcurl closes the socket: a request on an open connection costs no registration. The other descriptors,
//   those of libcurl's resolver, are duplicated: then libcurl and Asio each close their own.
// - libcurl's callbacks only note what it wants. The driver calls libcurl from its own handlers only, because libcurl
//   must not be called from its callbacks.
// - A timer of the wheel stays if libcurl wants a later one: it then looks again. So a request schedules few timers.
#pragma once

#include <cogwheel/asio/detail/on_wheel.hpp>

#include COGWHEEL_ASIO_HEADER(any_io_executor.hpp)
#include COGWHEEL_ASIO_HEADER(posix/stream_descriptor.hpp)
#include COGWHEEL_ASIO_HEADER(strand.hpp)

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include <curl/curl.h>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

using callback_strand = asio::strand<asio::any_io_executor>;

/// What the driver tells. Called on the strand, until curl_driver::stop().
class curl_driver_owner {
public:
    /// The transfer has ended, and the handle has left the driver.
    virtual void transfer_ended(CURL*, CURLcode) = 0;
    /// The driver has told all that it knows.
    virtual void settled() = 0;
    /// The transfer may hang, because a descriptor cannot be watched. The owner removes it.
    virtual void transfer_broken(CURL*, error_code) = 0;
    /// All transfers may hang: the wheel takes no timers, or there is no memory. The owner removes them.
    virtual void broken(error_code) = 0;

protected:
    ~curl_driver_owner() = default;
};

class curl_driver : public std::enable_shared_from_this<curl_driver> {
public:
    using wheel_type = impl_type<timer_wheel>;

    /// Errors: std::bad_alloc.
    curl_driver(wheel_type& wheel, const callback_strand& strand, std::size_t idle_connections,
                curl_driver_owner& owner);
    curl_driver(const curl_driver&) = delete;
    curl_driver& operator=(const curl_driver&) = delete;
    ~curl_driver() { stop(); }

    /// Starts a transfer. Its first step comes in a later handler.
    CURLMcode add(CURL* handle);

    /// Ends a transfer, which is not told to the owner.
    void remove(CURL* handle) noexcept;

    /// Closes all connections. Preconditions: all transfers have ended or were removed.
    void stop() noexcept;

    /// Opens a socket and watches it. For CURLOPT_OPENSOCKETFUNCTION. Errors: CURL_SOCKET_BAD, and `ec` is set.
    curl_socket_t open_socket(int family, int type, int protocol, error_code& ec) noexcept;

    /// For CURLOPT_CLOSESOCKETFUNCTION, with the driver as its data.
    static int close_socket(void* driver, curl_socket_t fd) noexcept;

    /// Returns how many sockets were opened.
    std::uint64_t opened() const noexcept { return opened_; }

private:
    using time_point = std::chrono::steady_clock::time_point;
    static constexpr time_point never = time_point::max();

    struct watch {
        watch(const callback_strand& strand, int descriptor, bool is_owned) : fd(strand, descriptor), owned(is_owned) {}
        asio::posix::stream_descriptor fd;
        const bool owned;
        bool closed = false;
        int wanted = 0;  // bits CURL_POLL_IN, CURL_POLL_OUT
        int waiting = 0; // the same bits: waits under way
    };
    using watch_ptr = std::shared_ptr<watch>;

    static int socket_changed(CURL*, curl_socket_t fd, int what, void* driver, void*) noexcept;
    static int timer_changed(CURLM*, long milliseconds, void* driver) noexcept;
    void want(curl_socket_t fd, int what);
    void start_waits(curl_socket_t fd, const watch_ptr& w);
    template <int Direction>
    void start_wait(curl_socket_t fd, const watch_ptr& w);
    void want_timer(long milliseconds);
    void schedule(time_point at);
    void cancel_timer() noexcept;
    void timer_fired(std::uint64_t generation);
    void timer_lost(std::uint64_t generation);
    void run_soon();
    void act(curl_socket_t fd, int events);
    void wait_again(curl_socket_t fd, const watch_ptr& w) noexcept;
    void note_failure(error_code ec) noexcept;
    void note_failure(CURL* handle, error_code ec) noexcept;

    wheel_hold<wheel_type> wheel_;
    callback_strand strand_;
    curl_driver_owner* owner_;
    CURLM* multi_;
    std::unordered_map<curl_socket_t, watch_ptr> watches_;
    timer_token timer_;
    time_point due_ = never;      // what libcurl wants
    time_point timer_at_ = never; // what the wheel has
    std::uint64_t timer_generation_ = 0;
    std::uint64_t opened_ = 0;
    error_code failure_;                                 // of all transfers: seen in a callback of libcurl
    std::vector<std::pair<CURL*, error_code>> failures_; // of one
    bool run_posted_ = false;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
