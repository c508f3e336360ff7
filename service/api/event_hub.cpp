// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "api/event_hub.hpp"

#include "api/problem.hpp"

#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <iterator>

namespace cogwheeld {

namespace {

constexpr std::chrono::milliseconds gather{100};

void add_event(std::string& to, std::string_view name, std::string_view data) {
    fmt::format_to(std::back_inserter(to), "event: {}\ndata: {}\n\n", name, data);
}

} // namespace

/// Counts itself.
class event_hub::viewer {
public:
    explicit viewer(event_hub& hub) : hub_{hub}, position_{hub.ended_} { ++hub_.viewers_; }
    viewer(const viewer&) = delete;
    viewer& operator=(const viewer&) = delete;
    ~viewer() { --hub_.viewers_; }

    asio::awaitable<http_piece> next() { return hub_.next(position_); }

private:
    event_hub& hub_;
    std::uint64_t position_;
};

event_hub::event_hub(asio::io_context& io, cogwheel::timer_wheel& wheel)
    : wheel_{wheel}, news_{io, asio::steady_timer::time_point::max()} {}

void event_hub::publish(std::string_view name, std::string_view data) {
    std::string event;
    add_event(event, name, data);
    recent_.push_back(std::move(event));
    if (recent_.size() > recent) recent_.pop_front();
    publish_now(name, data);
}

void event_hub::publish_now(std::string_view name, std::string_view data) {
    if (viewers_ == 0 || closed_) return;
    if (batch_.size() > max_piece)
        ++left_out_;
    else
        add_event(batch_, name, data);
    if (flush_due_) return;
    flush_due_ = true;
    flushing_ = wheel_.schedule(gather, [this] { flush(); });
}

void event_hub::flush() {
    flush_due_ = false;
    if (left_out_ != 0) add_event(batch_, "lost", fmt::format(R"({{"events":{}}})", left_out_));
    left_out_ = 0;
    pieces_.push_back(std::make_shared<const std::string>(std::move(batch_)));
    batch_.clear();
    ++ended_;
    if (pieces_.size() > kept) pieces_.pop_front();
    news_.cancel();
}

asio::awaitable<http_piece> event_hub::next(std::uint64_t& position) {
    while (position == ended_ && !closed_) {
        std::error_code ignored;
        co_await news_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
    if (closed_) co_return nullptr;
    if (const auto oldest = ended_ - pieces_.size(); position < oldest) {
        std::string lost;
        add_event(lost, "lost", fmt::format(R"({{"pieces":{}}})", oldest - position));
        position = oldest;
        co_return std::make_shared<const std::string>(std::move(lost));
    }
    co_return pieces_[static_cast<std::size_t>(position++ - (ended_ - pieces_.size()))];
}

http_response event_hub::subscribe() {
    if (viewers_ >= max_viewers || closed_)
        return problem{.status = 503,
                       .detail = closed_ ? "the service is shutting down"
                                         : fmt::format("there are {} viewers of events already", max_viewers),
                       .remedy = "try again later",
                       .retry_after = 5}
            .to_response();
    http_response r{.content_type = "text/event-stream", .fields = {{"Cache-Control", "no-store"}}};
    r.body = "retry: 2000\n\n";
    for (const auto& event : recent_) r.body += event;
    r.pieces = [v = std::make_shared<viewer>(*this)] { return v->next(); };
    return r;
}

void event_hub::close() {
    closed_ = true;
    flushing_.cancel();
    news_.cancel();
}

} // namespace cogwheeld
