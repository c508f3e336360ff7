// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "callback_sender_impl.hpp"

#include <cogwheel/asio/error.hpp>

#include COGWHEEL_ASIO_HEADER(post.hpp)

#include <algorithm>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

std::chrono::sys_seconds present_second() {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

const asio::any_io_executor& prepared(const asio::any_io_executor& executor) {
    // Once a process, also with several threads; never undone, because other libraries may use libcurl, too.
    static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (code != CURLE_OK)
        throw std::runtime_error(std::string("cogwheel::callback_sender: libcurl: ") + curl_easy_strerror(code));
    return executor;
}

} // namespace

callback_sender_impl::callback_sender_impl(const timer_wheel& wheel, callback_options options)
    : options_((options.validate(), std::move(options))),
      wheel_(&wheel),
      strand_(asio::make_strand(prepared(wheel.get_executor()))),
      driver_(std::make_shared<curl_driver>(impl_of(wheel), strand_, options_.max_idle_connections, *this)) {}

// Without close(), the execution context is being destroyed: nothing completes.
callback_sender_impl::~callback_sender_impl() {
    for (const request_ptr& r : in_flight_) driver_->remove(r->transfer->handle());
    driver_->stop();
}

void callback_sender_impl::submit(request_ptr request) {
    request->submitted = std::chrono::steady_clock::now();
    asio::post(strand_, [self = shared_from_this(), request = std::move(request)] {
        self->accept(request);
        self->settled();
    });
}

void callback_sender_impl::cancel(std::weak_ptr<callback_request> request) {
    asio::post(strand_, [self = shared_from_this(), weak = std::move(request)] {
        if (const auto r = weak.lock()) self->abort(r, asio::error::operation_aborted);
        self->settled();
    });
}

void callback_sender_impl::drain(completion<void> done) {
    auto shared = std::make_shared<completion<void>>(std::move(done));
    asio::post(strand_, [self = shared_from_this(), shared] {
        self->draining_ = true;
        self->drains_.push_back(std::move(*shared));
        self->settled();
    });
}

void callback_sender_impl::close() {
    {
        const std::lock_guard lock(mutex_);
        if (wheel_ == nullptr) return;
        wheel_ = nullptr;
    }
    asio::post(strand_, [self = shared_from_this()] { self->close_now(); });
}

callback_stats callback_sender_impl::stats() const {
    const std::lock_guard lock(mutex_);
    return stats_;
}

callback_room callback_sender_impl::room(const std::string& origin) const {
    const circuit_state s = hosts_.circuits().state(origin);
    const std::size_t probes = std::min<std::size_t>(options_.circuit.probes, options_.max_per_host);
    return {s == circuit_state::closed ? options_.max_per_host : s == circuit_state::open ? 0 : probes, s};
}

void callback_sender_impl::accept(const request_ptr& request) {
    callback_request& r = *request;
    if (r.where != callback_request::place::fresh) return;
    if (r.cancelled || closed_ || draining_) return over(request, asio::error::operation_aborted);
    if (const auto ec = r.call.check()) return refuse(request, ec, callback_outcome::failed_for_good);
    if (r.delivery.id.empty() || r.delivery.id.size() > callback_delivery::max_id)
        return refuse(request, callback_errc::bad_delivery, callback_outcome::failed_for_good);
    try {
        http_url url;
        static_cast<void>(url.parse(r.call.url));
        callback_host* host = nullptr;
        {
            const std::lock_guard lock(mutex_);
            if (wheel_ != nullptr) host = &hosts_.find(*wheel_, url.origin());
        }
        if (host == nullptr) return over(request, asio::error::operation_aborted);
        r.host = host;
        const bool has_place = in_flight_.size() < options_.max_in_flight && host->waiting.empty() &&
                               host->in_flight < options_.max_per_host;
        if (!has_place && hosts_.waiting() >= options_.max_waiting)
            return refuse(request, callback_errc::too_many_waiting, callback_outcome::try_again);
        hosts_.wait(*host, request);
        r.where = callback_request::place::waiting;
    } catch (const std::bad_alloc&) {
        refuse(request, make_error_code(sys::errc::not_enough_memory), callback_outcome::try_again);
    }
}

bool callback_sender_impl::permitted(callback_request& r, callback_host& host) {
    if (host.circuit) {
        r.permit = host.circuit->allow();
        if (!r.permit) {
            count([](callback_stats& s) { ++s.circuit_refused; });
            r.result.error = errc::circuit_open;
            r.result.retry_after = std::min(host.open_for(options_.circuit), options_.max_retry_after);
            return false;
        }
    }
    if (host.budget && r.delivery.attempt > 1 && !host.budget->withdraw(std::chrono::steady_clock::now())) {
        count([](callback_stats& s) { ++s.budget_refused; });
        r.permit = {};
        r.result.error = callback_errc::budget_spent;
        return false;
    }
    if (host.budget && r.delivery.attempt <= 1) host.budget->deposit();
    return true;
}

void callback_sender_impl::start(const request_ptr& request) {
    callback_request& r = *request;
    callback_host& host = *r.host;
    r.where = callback_request::place::fresh;
    r.started = std::chrono::steady_clock::now();
    r.result.waited = r.started - r.submitted;
    try {
        if (!permitted(r, host)) {
            refuse(request, r.result.error, callback_outcome::try_again, r.result.retry_after);
            hosts_.note_circuit(host);
            return hosts_.settle(host);
        }
        transfer_ptr transfer;
        if (spare_.empty()) {
            transfer = std::make_unique<callback_transfer>(options_, *driver_);
        } else {
            transfer = std::move(spare_.back());
            spare_.pop_back();
        }
        transfer->begin(r, present_second());
        r.position = in_flight_.insert(in_flight_.end(), request);
        if (driver_->add(transfer->handle()) != CURLM_OK) {
            in_flight_.erase(r.position);
            throw std::bad_alloc();
        }
        r.transfer = std::move(transfer);
    } catch (const std::exception& e) { // no memory, or libcurl refuses an option
        r.permit = {};
        refuse(request, make_error_code(sys::errc::not_enough_memory), callback_outcome::try_again);
        return hosts_.settle(host);
    }
    r.where = callback_request::place::in_flight;
    hosts_.began(host);
    hosts_.settle(host);
    count([](callback_stats& s) {
        ++s.started;
        ++s.in_flight;
    });
}

void callback_sender_impl::refuse(const request_ptr& request, error_code ec, callback_outcome outcome,
                                  std::optional<std::chrono::seconds> retry_after) {
    callback_result& result = request->result;
    result.outcome = outcome;
    result.error = ec;
    result.retry_after = retry_after;
    result.message = (request->host != nullptr ? request->host->origin + ": " : std::string()) + ec.message();
    count([](callback_stats& s) { ++s.refused; });
    over(request, {});
}

// The transfer is out of the driver.
void callback_sender_impl::leave_flight(callback_request& r) {
    callback_host& host = *r.host;
    r.result.elapsed = std::chrono::steady_clock::now() - r.started;
    in_flight_.erase(r.position);
    if (spare_.size() < max_spare_transfers)
        spare_.push_back(std::move(r.transfer));
    else
        r.transfer = nullptr;
    hosts_.ended(host);
    host.ended(r);
    hosts_.note_circuit(host);
    hosts_.settle(host);
}

void callback_sender_impl::transfer_ended(CURL* handle, CURLcode code) {
    callback_transfer* transfer = nullptr;
    curl_easy_getinfo(handle, CURLINFO_PRIVATE, &transfer);
    const request_ptr request = *transfer->request()->position;
    try {
        if (transfer->takes_another_connection() && driver_->add(handle) == CURLM_OK) return;
        transfer->finish(code, request->host->origin, present_second());
    } catch (const std::bad_alloc&) {
        transfer->forget();
        request->result.error = make_error_code(sys::errc::not_enough_memory);
    }
    leave_flight(*request);
    count([&](callback_stats& s) {
        --s.in_flight;
        const auto outcome = request->result.outcome;
        ++(outcome == callback_outcome::succeeded         ? s.succeeded
           : outcome == callback_outcome::failed_for_good ? s.failed_for_good
                                                          : s.try_again);
        if (request->result.error == callback_errc::address_refused) ++s.addresses_refused;
    });
    over(request, {});
}

void callback_sender_impl::abort(const request_ptr& request, error_code ec) {
    callback_request& r = *request;
    switch (r.where) {
    case callback_request::place::fresh:
        r.cancelled = true;
        return;
    case callback_request::place::waiting:
        hosts_.take(r);
        break;
    case callback_request::place::in_flight:
        r.transfer->forget();
        driver_->remove(r.transfer->handle());
        r.result.error = ec;
        leave_flight(r);
        count([](callback_stats& s) {
            --s.in_flight;
            ++s.aborted;
        });
        break;
    case callback_request::place::over:
        return;
    }
    r.result.outcome = callback_outcome::try_again;
    r.result.error = ec;
    r.result.message = r.host->origin + ": " + ec.message();
    over(request, ec == asio::error::operation_aborted ? ec : error_code());
}

void callback_sender_impl::over(const request_ptr& request, error_code ec) {
    request->where = callback_request::place::over;
    if (ec) {
        request->result.outcome = callback_outcome::try_again;
        request->result.error = ec;
    }
    over_.emplace_back(request, ec);
}

void callback_sender_impl::transfer_broken(CURL* handle, error_code ec) {
    callback_transfer* transfer = nullptr;
    curl_easy_getinfo(handle, CURLINFO_PRIVATE, &transfer);
    // libcurl has handles of its own, with which it closes connections.
    if (transfer != nullptr && transfer->request() != nullptr) abort(request_ptr(*transfer->request()->position), ec);
}

void callback_sender_impl::broken(error_code ec) {
    while (!in_flight_.empty()) abort(request_ptr(in_flight_.front()), ec);
}

// Starts what has a place, and completes what is over.
void callback_sender_impl::settled() {
    while (!closed_ && in_flight_.size() < options_.max_in_flight) {
        const request_ptr next = hosts_.next();
        if (next == nullptr) break;
        start(next);
    }
    count([this](callback_stats& s) {
        s.waiting = hosts_.waiting();
        s.hosts = hosts_.size();
        s.connections = driver_->opened();
    });
    call_completions();
}

void callback_sender_impl::close_now() {
    closed_ = true;
    broken(asio::error::operation_aborted);
    while (const request_ptr next = hosts_.next()) {
        next->where = callback_request::place::over;
        next->result.message = next->host->origin + ": closed";
        over(next, asio::error::operation_aborted);
        hosts_.settle(*next->host);
    }
    hosts_.clear(); // with the timers of their circuits
    spare_.clear();
    driver_->stop();
    settled();
}

void callback_sender_impl::call_completions() {
    const auto self = shared_from_this(); // a completion may destroy the sender
    try {
        while (!over_.empty()) {
            const auto [request, ec] = std::move(over_.front());
            over_.pop_front();
            auto done = std::move(request->done);
            done(ec, std::move(request->result));
        }
        while (!drains_.empty() && (closed_ || (in_flight_.empty() && hosts_.waiting() == 0))) {
            auto done = std::move(drains_.back());
            drains_.pop_back();
            done(closed_ ? error_code(asio::error::operation_aborted) : error_code());
        }
    } catch (...) { // of a handler: the others still complete
        asio::post(strand_, [self] { self->call_completions(); });
        throw;
    }
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
