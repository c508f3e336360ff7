// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The impl of a callback_sender. All but submit(), cancel(), close() and stats() runs on the strand.
//
// A request is fresh, waits for a place, is in flight, and is over. What has ended goes to a list. Its completion is
// called when the tables are in order: a completion may call anything, also destroy the sender.
#pragma once

#include "callback_hosts.hpp"
#include "callback_transfer.hpp"
#include "curl_driver.hpp"

#include <cogwheel/durable/callback_sender.hpp>

#include <deque>
#include <mutex>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

class callback_sender_impl final : public curl_driver_owner, public std::enable_shared_from_this<callback_sender_impl> {
public:
    using request_ptr = callback_request::ptr;

    callback_sender_impl(const timer_wheel& wheel, callback_options options);
    callback_sender_impl(const callback_sender_impl&) = delete;
    callback_sender_impl& operator=(const callback_sender_impl&) = delete;
    ~callback_sender_impl();

    const callback_strand& strand() const noexcept { return strand_; }

    void submit(request_ptr request);
    void cancel(std::weak_ptr<callback_request> request);
    void drain(completion<void> done);
    void close();
    callback_stats stats() const;
    callback_room room(const std::string& origin) const;

    void transfer_ended(CURL*, CURLcode) override;
    void settled() override;
    void transfer_broken(CURL*, error_code ec) override;
    void broken(error_code ec) override;

private:
    using transfer_ptr = std::unique_ptr<callback_transfer>;
    static constexpr std::size_t max_spare_transfers = 256;

    void accept(const request_ptr& request);
    void start(const request_ptr& request);
    bool permitted(callback_request& request, callback_host& host);
    void refuse(const request_ptr& request, error_code ec, callback_outcome outcome,
                std::optional<std::chrono::seconds> retry_after = std::nullopt);
    void leave_flight(callback_request& request);
    void abort(const request_ptr& request, error_code ec);
    void over(const request_ptr& request, error_code ec);
    void close_now();
    void call_completions();
    template <class F>
    void count(F f) {
        const std::lock_guard lock(mutex_);
        f(stats_);
    }

    const callback_options options_;
    const timer_wheel* wheel_; // guarded by mutex_: nullptr after close()
    callback_strand strand_;
    std::shared_ptr<curl_driver> driver_;
    callback_hosts hosts_{options_};
    std::list<request_ptr> in_flight_;
    std::vector<transfer_ptr> spare_;
    std::deque<std::pair<request_ptr, error_code>> over_;
    std::vector<completion<void>> drains_;
    bool draining_ = false;
    bool closed_ = false;
    mutable std::mutex mutex_;
    callback_stats stats_; // guarded by mutex_
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
