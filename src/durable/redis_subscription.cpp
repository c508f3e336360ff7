// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "redis_subscription_impl.hpp"

#include COGWHEEL_ASIO_HEADER(bind_executor.hpp)
#include COGWHEEL_ASIO_HEADER(co_spawn.hpp)
#include COGWHEEL_ASIO_HEADER(dispatch.hpp)
#include COGWHEEL_ASIO_HEADER(post.hpp)
#include COGWHEEL_ASIO_HEADER(redirect_error.hpp)
#include COGWHEEL_ASIO_HEADER(use_awaitable.hpp)

#include <stdexcept>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

constexpr auto ping_pause = std::chrono::seconds(2);

} // namespace

redis_subscription_impl::redis_subscription_impl(const timer_wheel& wheel, std::shared_ptr<const redis_options> options,
                                                 std::vector<std::string> channels, message_function on_message)
    : strand_(asio::make_strand(wheel.get_executor())),
      options_(std::move(options)),
      channels_(std::move(channels)),
      on_message_(std::move(on_message)),
      dialer_(std::make_shared<redis_dialer>(wheel, strand_, options_)),
      finder_(make_finder(*options_)),
      ping_(wheel, strand_),
      pauses_(options_->reconnect),
      random_(fresh_seed(this, std::chrono::steady_clock::now().time_since_epoch())) {}

void redis_subscription_impl::run() {
    asio::co_spawn(strand_, work(shared_from_this()), [](const std::exception_ptr& e) {
        if (e) std::rethrow_exception(e); // no memory to report a failure: run() of the context throws
    });
}

asio::awaitable<void> redis_subscription_impl::work(std::shared_ptr<redis_subscription_impl> self) {
    while (!self->shut_) {
        dialled d;
        try {
            d = co_await self->finder_->find(*self->dialer_);
            if (!d.error && !self->shut_) co_await self->serve(d);
        } catch (const std::exception& e) {
            d.message = e.what();
        }
        if (d.stream) d.stream->close();
        self->stream_.reset();
        self->ping_.cancel();
        self->subscribed_.store(false, std::memory_order_release);
        if (self->shut_) break;
        self->dialer_->log_failure(d.address.text() + ": no subscription: " + d.message);
        const auto delay = self->pauses_.next(self->random_);
        co_await self->dialer_->pause(delay);
    }
}

asio::awaitable<void> redis_subscription_impl::serve(dialled& d) {
    redis_command command("SUBSCRIBE");
    for (const auto& c : channels_) command.add(c);
    std::string bytes;
    command.append_to(bytes);
    stream_ = d.stream;
    confirmed_ = 0;
    pinging_ = awaits_pong_ = silent_ = false;
    watch(d.stream, options_->command_timeout);
    error_code ec;
    co_await d.stream->async_write(asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, ec));
    std::vector<char> buffer(16 * 1024);
    while (!ec && !shut_) {
        redis_reply reply;
        const auto outcome = d.reader->next(reply);
        if (outcome == resp_reader::outcome::bad) {
            d.message = std::string(d.reader->message());
            co_return;
        }
        if (outcome == resp_reader::outcome::reply) {
            if (!take(reply)) {
                d.message = reply.is_error() ? reply.text() : "an unexpected reply";
                co_return;
            }
            continue;
        }
        const std::size_t n =
            co_await d.stream->async_read_some(asio::buffer(buffer), asio::redirect_error(asio::use_awaitable, ec));
        if (ec) break;
        d.reader->feed({buffer.data(), n});
        // The answers to SUBSCRIBE must be complete in time; afterwards, any byte says that the server lives.
        if (subscribed()) awaits_pong_ = false;
    }
    d.message = silent_ ? "the server is silent" : ec.message();
}

bool redis_subscription_impl::take(redis_reply& reply) {
    const auto& parts = reply.elements();
    if (parts.empty()) return false;
    const auto& what = parts[0].text();
    if (what == "message" && parts.size() == 3) {
        call([&] { on_message_(parts[1].text(), parts[2].text()); });
        return true;
    }
    // A server that confirms and then closes at once must not be asked again without a pause.
    if (what == "pong") {
        pauses_.reset();
        dialer_->forget_failures();
    }
    if (what == "subscribe" && ++confirmed_ == channels_.size()) {
        subscribed_.store(true, std::memory_order_release);
        dialer_->log("subscribed to " + std::to_string(channels_.size()) + " channels");
        watch(stream_, ping_pause);
        call(on_subscribed_);
    }
    return true;
}

// After each pause: a PING, or the end of the connection if there is no sign of life since the last one.
void redis_subscription_impl::watch(std::shared_ptr<redis_stream> stream, std::chrono::nanoseconds delay) {
    const auto self = shared_from_this();
    ping_.wait_until(std::chrono::steady_clock::now() + delay, self, [self, stream = std::move(stream)](bool over) {
        if (!over || stream != self->stream_) return;
        if (!self->subscribed() || self->awaits_pong_) {
            self->silent_ = true;
            stream->close();
            return;
        }
        if (self->pinging_) { // a wait of command_timeout has passed, with signs of life
            self->pinging_ = false;
            self->watch(stream, ping_pause);
            return;
        }
        self->pinging_ = self->awaits_pong_ = true;
        static constexpr std::string_view ping = "*1\r\n$4\r\nPING\r\n";
        stream->async_write(asio::buffer(ping),
                            asio::bind_executor(self->strand_, [stream](error_code, std::size_t) {}));
        self->watch(stream, self->options_->command_timeout);
    });
}

void redis_subscription_impl::call(const std::function<void()>& f) const {
    try {
        if (f && !closed_.load(std::memory_order_acquire)) f();
    } catch (const std::exception& e) {
        dialer_->log(std::string("a function of the subscription has thrown: ") + e.what());
    }
}

void redis_subscription_impl::set_on_subscribed(std::function<void()> f) {
    asio::post(strand_, [self = shared_from_this(), f = std::move(f)]() mutable {
        self->on_subscribed_ = std::move(f);
        if (self->subscribed()) self->call(self->on_subscribed_);
    });
}

void redis_subscription_impl::close() {
    closed_.store(true, std::memory_order_release);
    asio::dispatch(strand_, [self = shared_from_this()] {
        self->shut_ = true;
        self->dialer_->stop();
        self->ping_.cancel();
        if (self->stream_) self->stream_->close();
    });
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

redis_subscription::redis_subscription(const timer_wheel& wheel, redis_options options,
                                       std::vector<std::string> channels, message_function on_message) {
    options.validate();
    if (channels.empty()) throw std::invalid_argument("redis_subscription: there is no channel: give at least one");
    impl_ = std::make_shared<detail::redis_subscription_impl>(
        wheel, std::make_shared<const redis_options>(std::move(options)), std::move(channels), std::move(on_message));
    impl_->run();
}

redis_subscription::redis_subscription(redis_subscription&&) noexcept = default;

redis_subscription& redis_subscription::operator=(redis_subscription&& other) noexcept {
    if (this != &other) {
        if (impl_) impl_->close();
        impl_ = std::move(other.impl_);
    }
    return *this;
}

redis_subscription::~redis_subscription() {
    if (impl_) impl_->close();
}

void redis_subscription::on_subscribed(std::function<void()> f) { impl_->set_on_subscribed(std::move(f)); }

bool redis_subscription::subscribed() const noexcept { return impl_->subscribed(); }

void redis_subscription::close() { impl_->close(); }

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
