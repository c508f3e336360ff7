// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "callback_verdict.hpp"
#include "http_url.hpp"

#include <cogwheel/asio/error.hpp>
#include <cogwheel/durable/callback_handler.hpp>

#include COGWHEEL_ASIO_HEADER(error.hpp)
#include COGWHEEL_ASIO_HEADER(redirect_error.hpp)
#include COGWHEEL_ASIO_HEADER(use_awaitable.hpp)

#include <mutex>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

namespace {

// The budget of a host grows by its first attempts, or by ten a second.
constexpr std::chrono::seconds for_a_budget(10);

// Whether it was an attempt: to reach a receiver in vain is one.
bool happened(const callback_result& r) noexcept {
    if (r.sent) return true;
    if (r.error == errc::circuit_open || r.error == callback_errc::budget_spent ||
        r.error == callback_errc::too_many_waiting)
        return false;
    return detail::verdict_of(r) != detail::peer_verdict::unknown; // a fault of this process, or its end
}

} // namespace

durable_outcome outcome_of(callback_result r) {
    if (r.outcome == callback_outcome::succeeded)
        return durable_outcome::done(std::to_string(r.status) + '\n' + std::move(r.body));
    if (r.outcome == callback_outcome::failed_for_good) return durable_outcome::fail(std::move(r.message));
    const auto after = r.retry_after.value_or(std::chrono::seconds(0));
    if (happened(r)) return durable_outcome::retry_after(after, std::move(r.message));
    const bool poor = r.error == callback_errc::budget_spent;
    return durable_outcome::give_back(std::move(r.message), poor ? for_a_budget : after);
}

class callback_handler::state final : public detail::task_gate {
public:
    explicit state(std::shared_ptr<callback_sender> sender) : sender_(std::move(sender)) {}

    std::shared_ptr<callback_sender> sender() const {
        const std::lock_guard lock(mutex_);
        return sender_;
    }
    void change(std::shared_ptr<callback_sender> sender) {
        const std::lock_guard lock(mutex_);
        sender_.swap(sender); // the old one ends outside of the lock
    }

    std::string key_of(std::string_view body) const override { return detail::origin_of_encoded(body); }
    room room_of(const std::string& origin) const override {
        const callback_room now = sender()->room(origin);
        return {now.places, now.circuit != circuit_state::closed};
    }

private:
    mutable std::mutex mutex_;
    std::shared_ptr<callback_sender> sender_;
};

callback_handler::callback_handler(std::shared_ptr<callback_sender> sender)
    : state_(std::make_shared<state>(std::move(sender))) {}

asio::awaitable<durable_outcome> callback_handler::operator()(durable_delivery& task) const {
    const auto sender = state_->sender(); // of this attempt
    auto call = http_callback::decode(task.body());
    if (!call) co_return durable_outcome::fail("the body is no callback: another program scheduled this task");
    callback_delivery delivery{.id = task.id(),
                               .attempt = task.attempt(),
                               .fencing_token = task.token().text(),
                               .traceparent = task.traceparent()};
    error_code ec; // also in the result
    auto result = co_await sender->async_send(std::move(*call), std::move(delivery),
                                              asio::redirect_error(asio::use_awaitable, ec));
    co_return outcome_of(std::move(result));
}

void callback_handler::change(std::shared_ptr<callback_sender> sender) { state_->change(std::move(sender)); }
std::shared_ptr<callback_sender> callback_handler::sender() const { return state_->sender(); }
std::shared_ptr<const detail::task_gate> callback_handler::gate() const { return state_; }

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
