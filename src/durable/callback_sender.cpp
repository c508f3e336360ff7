// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The public functions of callback_sender, and the check of its options.
#include "callback_sender_impl.hpp"
#include "http_url.hpp"

#include <cogwheel/durable/callback_sender.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <stdexcept>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

std::shared_ptr<callback_request> make_request(http_callback call, callback_delivery delivery) {
    auto request = std::make_shared<callback_request>();
    request->call = std::move(call);
    request->delivery = std::move(delivery);
    return request;
}

void submit_request(const std::shared_ptr<callback_sender_impl>& impl, const std::shared_ptr<callback_request>& request,
                    completion<callback_result> done) {
    request->done = std::move(done);
    impl->submit(request);
}

void cancel_request(const std::weak_ptr<callback_sender_impl>& impl, const std::weak_ptr<callback_request>& request) {
    if (const auto alive = impl.lock()) alive->cancel(request);
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

void callback_options::validate() const {
    const auto refuse = [](const std::string& why) {
        throw std::invalid_argument("cogwheel::callback_options: " + why);
    };
    const auto at_least_one = [&](std::size_t value, const char* name, const char* remedy) {
        if (value == 0) refuse(std::string(name) + " is 0, but must be at least 1; " + remedy);
    };
    at_least_one(max_in_flight, "max_in_flight", "256 suit most workers");
    at_least_one(max_per_host, "max_per_host", "64 suit most receivers");
    at_least_one(max_hosts, "max_hosts", "1,000 take less than 1 MB");
    const auto limit = [&](std::chrono::nanoseconds value, const char* name, const char* remedy) {
        if (value < std::chrono::milliseconds(1))
            refuse(std::string(name) + " is " + std::to_string(value.count()) + " ns, but must be at least 1 ms; " +
                   remedy);
    };
    limit(connect_timeout, "connect_timeout", "5 s suit most receivers");
    limit(request_timeout, "request_timeout", "30 s suit most receivers");
    if (low_speed != 0 && (low_speed_period < std::chrono::seconds(1) || low_speed_period > std::chrono::hours(24)))
        refuse("low_speed_period is " + std::to_string(low_speed_period.count()) +
               " s, but must be from 1 s to 24 h; 10 s suit most receivers");
    if (low_speed > (std::size_t{1} << 30)) refuse("low_speed is above 2^30 bytes a second; 100 suit most receivers");
    if (max_idle_connections > 100'000) refuse("max_idle_connections is above 100,000; 256 suit most workers");
    if (max_answer > (std::size_t{1} << 20))
        refuse("max_answer is " + std::to_string(max_answer) + " bytes, but must be at most 1 MB; 64 kB suit a result");
    if (max_retry_after < std::chrono::seconds(0)) refuse("max_retry_after is below zero; 24 h suit most receivers");
    if (max_retry_after > most_retry_after) refuse("max_retry_after is above 365 days; 24 h suit most receivers");
    for (const int status : final_statuses)
        if (status < 400 || status > 599)
            refuse("final_statuses has " + std::to_string(status) + ", but they must be from 400 to 599");
    const bool printable =
        std::all_of(user_agent.begin(), user_agent.end(), [](char c) { return c >= ' ' && c <= '~'; });
    if (user_agent.size() > 255 || !printable)
        refuse("user_agent has more than 255 bytes, or one that is not visible ASCII or a space");
    if (use_circuit) circuit.validate();
    if (budget) budget->validate();
    if (!ca_file.empty() && !std::ifstream(ca_file).good())
        refuse("ca_file '" + ca_file + "' cannot be read; name a file of certificates in PEM, or none");
}

callback_sender::callback_sender(const timer_wheel& wheel, callback_options options)
    : impl_(std::make_shared<detail::callback_sender_impl>(wheel, std::move(options))) {}

callback_sender::~callback_sender() { close(); }

callback_sender::executor_type callback_sender::get_executor() const noexcept { return executor_of(*impl_); }

callback_sender::executor_type callback_sender::executor_of(const detail::callback_sender_impl& impl) noexcept {
    return impl.strand();
}

void callback_sender::drain(const std::shared_ptr<detail::callback_sender_impl>& impl, detail::completion<void> done) {
    impl->drain(std::move(done));
}

void callback_sender::close() { impl_->close(); }

callback_room callback_sender::room(std::string_view url) const {
    detail::http_url parsed;
    if (parsed.parse(url)) return {};
    return impl_->room(parsed.origin());
}

callback_stats callback_sender::stats() const { return impl_->stats(); }

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
