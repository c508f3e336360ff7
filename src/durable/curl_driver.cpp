// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "curl_driver.hpp"

#include <cogwheel/asio/error.hpp>

#include COGWHEEL_ASIO_HEADER(error.hpp)
#include COGWHEEL_ASIO_HEADER(post.hpp)

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

curl_driver::curl_driver(wheel_type& wheel, const callback_strand& strand, std::size_t idle_connections,
                         curl_driver_owner& owner)
    : wheel_(wheel), strand_(strand), owner_(&owner), multi_(curl_multi_init()) {
    if (multi_ == nullptr) throw std::bad_alloc();
    curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &curl_driver::socket_changed);
    curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &curl_driver::timer_changed);
    curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
    // 0 would mean libcurl's default; without idle connections, each request forbids the reuse.
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(idle_connections == 0 ? 1 : idle_connections));
    curl_multi_setopt(multi_, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING));
}

CURLMcode curl_driver::add(CURL* handle) { return curl_multi_add_handle(multi_, handle); } // wants a timer of 0 ms

void curl_driver::remove(CURL* handle) noexcept {
    if (multi_ != nullptr) curl_multi_remove_handle(multi_, handle);
    std::erase_if(failures_, [handle](const auto& failure) { return failure.first == handle; });
}

void curl_driver::stop() noexcept {
    if (multi_ == nullptr) return;
    curl_multi_cleanup(std::exchange(multi_, nullptr)); // closes the connections by close_socket()
    owner_ = nullptr;
    cancel_timer();
    for (const auto& [fd, w] : watches_) {
        error_code ignored;
        w->closed = true;
        w->fd.close(ignored);
    }
    watches_.clear();
}

curl_socket_t curl_driver::open_socket(int family, int type, int protocol, error_code& ec) noexcept {
    const int fd = ::socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
    if (fd < 0) {
        ec.assign(errno, sys::generic_category());
        return CURL_SOCKET_BAD;
    }
    try {
        watches_[fd] = nullptr; // first, so that the descriptor has its place
        watches_[fd] = std::make_shared<watch>(strand_, fd, true);
        ++opened_;
        return fd;
    } catch (const sys::system_error& e) {
        ec = e.code();
    } catch (...) {
        ec = make_error_code(sys::errc::not_enough_memory);
    }
    watches_.erase(fd);
    ::close(fd);
    return CURL_SOCKET_BAD;
}

int curl_driver::close_socket(void* driver, curl_socket_t fd) noexcept {
    auto& self = *static_cast<curl_driver*>(driver);
    const auto found = self.watches_.find(fd);
    if (found == self.watches_.end()) return ::close(fd);
    const watch_ptr w = std::move(found->second);
    self.watches_.erase(found);
    error_code ignored;
    w->closed = true;
    w->fd.close(ignored);
    return 0;
}

int curl_driver::socket_changed(CURL* handle, curl_socket_t fd, int what, void* driver, void*) noexcept {
    auto& self = *static_cast<curl_driver*>(driver);
    try {
        self.want(fd, what);
    } catch (const sys::system_error& e) {
        self.note_failure(handle, e.code());
    } catch (...) {
        self.note_failure(handle, make_error_code(sys::errc::not_enough_memory));
    }
    return 0; // -1 would make the multi handle useless for ever
}

void curl_driver::want(curl_socket_t fd, int what) {
    auto found = watches_.find(fd);
    if (what == CURL_POLL_REMOVE) {
        if (found == watches_.end()) return;
        const watch_ptr w = found->second;
        w->wanted = 0;
        if (!w->owned) {
            w->closed = true;
            watches_.erase(found);
        }
        error_code ignored;
        if (w->waiting != 0) w->fd.cancel(ignored); // an idle connection must not keep run() from returning
        return;
    }
    if (found == watches_.end()) {
        const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
        if (copy < 0) throw sys::system_error(errno, sys::generic_category());
        try {
            found = watches_.emplace(fd, std::make_shared<watch>(strand_, copy, false)).first;
        } catch (...) {
            ::close(copy);
            throw;
        }
    }
    found->second->wanted = what & CURL_POLL_INOUT;
    if (multi_ != nullptr) start_waits(fd, found->second);
}

void curl_driver::start_waits(curl_socket_t fd, const watch_ptr& w) {
    if ((w->wanted & ~w->waiting & CURL_POLL_IN) != 0) start_wait<CURL_POLL_IN>(fd, w);
    if ((w->wanted & ~w->waiting & CURL_POLL_OUT) != 0) start_wait<CURL_POLL_OUT>(fd, w);
}

template <int Direction>
void curl_driver::start_wait(curl_socket_t fd, const watch_ptr& w) {
    constexpr bool in = Direction == CURL_POLL_IN;
    w->fd.async_wait(in ? asio::posix::stream_descriptor::wait_read : asio::posix::stream_descriptor::wait_write,
                     [self = shared_from_this(), fd, w](error_code ec) {
                         w->waiting &= ~Direction;
                         if (w->closed || self->multi_ == nullptr) return;
                         // Not wanted any more; or wanted again before this cancelled wait ended.
                         if ((w->wanted & Direction) != 0 && ec != asio::error::operation_aborted) try {
                                 self->act(fd, ec ? CURL_CSELECT_ERR : in ? CURL_CSELECT_IN : CURL_CSELECT_OUT);
                             } catch (...) { // of a completion: this transfer still waits
                                 self->wait_again(fd, w);
                                 throw;
                             }
                         self->wait_again(fd, w);
                     });
    w->waiting |= Direction;
}

void curl_driver::wait_again(curl_socket_t fd, const watch_ptr& w) noexcept {
    if (w->closed || multi_ == nullptr) return;
    try {
        start_waits(fd, w);
    } catch (...) {
        note_failure(make_error_code(sys::errc::not_enough_memory));
    }
}

int curl_driver::timer_changed(CURLM*, long milliseconds, void* driver) noexcept {
    auto& self = *static_cast<curl_driver*>(driver);
    try {
        if (self.multi_ != nullptr) self.want_timer(milliseconds);
    } catch (...) {
        self.note_failure(make_error_code(sys::errc::not_enough_memory));
    }
    return 0;
}

void curl_driver::want_timer(long milliseconds) {
    if (milliseconds < 0) {
        due_ = never;
        cancel_timer(); // a timer keeps run() from returning
    } else if (milliseconds == 0) {
        due_ = time_point::min();
        run_soon();
    } else {
        due_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
        if (due_ < timer_at_) schedule(due_);
    }
}

void curl_driver::schedule(time_point at) {
    cancel_timer();
    error_code ec;
    const std::uint64_t generation = timer_generation_;
    // The two callables run on the wheel's executor, which may be another thread.
    const auto tell = [weak = weak_from_this(), strand = strand_, generation](auto what) {
        asio::post(strand, [weak, what, generation] {
            if (const auto self = weak.lock()) (self.get()->*what)(generation);
        });
    };
    timer_ = wheel_->schedule(
        at, [tell] { tell(&curl_driver::timer_fired); }, [tell] { tell(&curl_driver::timer_lost); }, &ec);
    if (ec) return note_failure(ec);
    timer_at_ = at;
}

void curl_driver::cancel_timer() noexcept {
    ++timer_generation_;
    timer_at_ = never;
    try {
        std::exchange(timer_, {}).cancel();
    } catch (...) {
        // Without memory the timer stays. Its generation is over, so it does nothing.
    }
}

void curl_driver::timer_fired(std::uint64_t generation) {
    if (generation != timer_generation_ || multi_ == nullptr) return;
    timer_at_ = never;
    if (due_ == never) return;
    if (std::chrono::steady_clock::now() < due_) return schedule(due_);
    act(CURL_SOCKET_TIMEOUT, 0);
}

void curl_driver::timer_lost(std::uint64_t generation) {
    if (generation != timer_generation_ || multi_ == nullptr) return;
    note_failure(make_error_code(errc::stopped));
}

void curl_driver::run_soon() {
    if (run_posted_) return;
    asio::post(strand_, [self = shared_from_this()] {
        self->run_posted_ = false;
        self->act(CURL_SOCKET_TIMEOUT, 0);
    });
    run_posted_ = true;
}

void curl_driver::note_failure(error_code ec) noexcept {
    if (!failure_) failure_ = ec;
    try {
        run_soon(); // the failure may have been seen outside of act()
    } catch (...) {
        // Without memory it is told after the next event.
    }
}

void curl_driver::note_failure(CURL* handle, error_code ec) noexcept {
    try {
        failures_.emplace_back(handle, ec);
        run_soon();
    } catch (...) {
        note_failure(make_error_code(sys::errc::not_enough_memory));
    }
}

void curl_driver::act(curl_socket_t fd, int events) {
    if (multi_ == nullptr) return;
    int running = 0;
    curl_multi_socket_action(multi_, fd, events, &running);
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        CURL* const handle = message->easy_handle; // the message ends with the next call
        const CURLcode code = message->data.result;
        remove(handle);
        owner_->transfer_ended(handle, code);
    }
    while (!failures_.empty()) {
        const auto [handle, ec] = failures_.back();
        failures_.pop_back();
        owner_->transfer_broken(handle, ec);
    }
    if (const auto ec = std::exchange(failure_, {})) owner_->broken(ec);
    if (owner_ != nullptr) owner_->settled();
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
