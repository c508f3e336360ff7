// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "redis_dialer.hpp"

#include <cogwheel/durable/detail/completion.hpp>

#include COGWHEEL_ASIO_HEADER(bind_executor.hpp)
#include COGWHEEL_ASIO_HEADER(ip/tcp.hpp)
#include COGWHEEL_ASIO_HEADER(local/stream_protocol.hpp)
#include COGWHEEL_ASIO_HEADER(redirect_error.hpp)
#include COGWHEEL_ASIO_HEADER(use_awaitable.hpp)

#include <array>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Interrupts what the dialer does after connect_timeout, unless it is destroyed before.
class redis_dialer::limit {
public:
    explicit limit(redis_dialer& d) : dialer_(d) {
        d.timed_out_ = false;
        const auto at = std::chrono::steady_clock::now() + d.options_->connect_timeout;
        d.limit_timer_.wait_until(at, d.shared_from_this(), [&d](bool over) {
            if (!over) return;
            d.timed_out_ = true;
            d.interrupt();
        });
    }
    ~limit() {
        dialer_.limit_timer_.cancel();
        dialer_.current_.reset();
    }
    limit(const limit&) = delete;
    limit& operator=(const limit&) = delete;

private:
    redis_dialer& dialer_;
};

/// The system's resolver cannot be interrupted. The coroutine waits on a timer, and leaves a late result behind.
struct redis_dialer::resolution {
    explicit resolution(const redis_strand& s) : resolver(s), done(s, std::chrono::steady_clock::time_point::max()) {}

    asio::ip::tcp::resolver resolver;
    asio::steady_timer done;
    error_code error = asio::error::operation_aborted;
    asio::ip::tcp::resolver::results_type results;
};

redis_dialer::redis_dialer(const timer_wheel& wheel, const redis_strand& strand,
                           std::shared_ptr<const redis_options> options, std::shared_ptr<asio::ssl::context> tls)
    : strand_(strand),
      options_(std::move(options)),
      tls_(tls ? std::move(tls) : make_tls_context(options_->tls)),
      limit_timer_(wheel, strand),
      pause_timer_(wheel, strand) {}

void redis_dialer::log(const std::string& line) const noexcept {
    try {
        if (options_->log) options_->log(line);
    } catch (...) { // NOLINT(bugprone-empty-catch): a log that fails must not stop the connection
    }
}

void redis_dialer::log_failure(const std::string& line) {
    const auto now = std::chrono::steady_clock::now();
    std::erase_if(failures_, [&](const auto& f) { return now - f.second >= std::chrono::minutes(1); });
    for (const auto& [words, at] : failures_)
        if (words == line) return;
    if (failures_.size() >= 16) failures_.erase(failures_.begin());
    failures_.emplace_back(line, now);
    log(line);
}

void redis_dialer::interrupt() {
    if (current_) current_->close();
    if (resolving_) resolving_->done.cancel();
}

void redis_dialer::wake() { pause_timer_.cancel(); }

void redis_dialer::stop() {
    stopped_ = true;
    interrupt();
    wake();
}

error_code redis_dialer::reason(const error_code& ec) const noexcept {
    if (stopped_) return asio::error::operation_aborted;
    return timed_out_ ? error_code(asio::error::timed_out) : ec;
}

void redis_dialer::set_error(dialled& d, const char* what, const error_code& ec) const {
    d.error = reason(ec);
    d.message = std::string(what) + ": " + d.error.message();
}

asio::awaitable<void> redis_dialer::pause(std::chrono::nanoseconds delay) {
    if (stopped_) co_return;
    auto start = [self = shared_from_this(), delay](completion<void> done) {
        self->pause_timer_.wait_until(std::chrono::steady_clock::now() + delay, self,
                                      [done = std::move(done)](bool) mutable { done(error_code()); });
    };
    co_await initiate<void>(strand_, asio::use_awaitable, std::move(start));
}

asio::awaitable<dialled> redis_dialer::dial(redis_address address, bool sentinel) {
    dialled d;
    d.address = std::move(address);
    const limit until(*this);
    d.stream = std::make_shared<redis_stream>(strand_, tls_);
    d.reader = std::make_unique<resp_reader>(options_->max_reply);
    current_ = d.stream;
    if (stopped_) d.error = asio::error::operation_aborted;
    if (!d.error) co_await connect(d);
    if (!d.error) co_await shake_hands(d, sentinel);
    if (d.error) d.stream->close();
    co_return d;
}

asio::awaitable<std::vector<redis_dialer::endpoint>> redis_dialer::resolve(dialled& d) {
    std::vector<endpoint> all;
    if (!d.address.path.empty()) {
        all.emplace_back(asio::local::stream_protocol::endpoint(d.address.path));
        co_return all;
    }
    error_code ec;
    const auto numeric = asio::ip::make_address(d.address.host, ec);
    if (!ec) {
        all.emplace_back(asio::ip::tcp::endpoint(numeric, d.address.port));
        co_return all;
    }
    const auto r = std::make_shared<resolution>(strand_);
    resolving_ = r;
    r->resolver.async_resolve(d.address.host, std::to_string(d.address.port),
                              asio::bind_executor(strand_, [r](error_code error, const auto& results) {
                                  r->error = error;
                                  r->results = results;
                                  r->done.cancel();
                              }));
    error_code ignored;
    co_await r->done.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    resolving_.reset();
    if (timed_out_ || stopped_ || r->error)
        set_error(d, "resolve", r->error);
    else
        for (const auto& entry : r->results) all.emplace_back(entry.endpoint());
    co_return all;
}

asio::awaitable<void> redis_dialer::connect(dialled& d) {
    const std::vector<endpoint> all = co_await resolve(d);
    if (d.error) co_return;
    error_code ec = asio::error::host_not_found;
    // An address that swallows packets uses up the time of the others: next time it is the last.
    const std::size_t first = first_;
    for (std::size_t i = 0; i < all.size(); ++i) {
        d.stream->close();
        const endpoint& one = all[(first + i) % all.size()];
        co_await d.stream->socket().async_connect(one, asio::redirect_error(asio::use_awaitable, ec));
        if (timed_out_) first_ = (first + i + 1) % all.size();
        if (!ec || timed_out_ || stopped_) break;
    }
    if (ec || timed_out_ || stopped_) {
        set_error(d, "connect", ec);
        co_return;
    }
    d.stream->set_options(d.address.path.empty());
    if (!d.stream->has_tls()) co_return;
    d.stream->prepare_tls(options_->tls, d.address.host, ec);
    if (!ec) co_await d.stream->async_handshake(asio::redirect_error(asio::use_awaitable, ec));
    if (ec) set_error(d, "TLS", ec);
}

asio::awaitable<void> redis_dialer::shake_hands(dialled& d, bool sentinel) {
    const handshake made = make_handshake(*options_, sentinel);
    std::string bytes;
    for (const auto& c : made.commands) c.append_to(bytes);
    asked answer = co_await exchange(d, std::move(bytes), made.commands.size());
    const auto facts = read_handshake(made, answer.replies, sentinel ? options_->sentinel_user : options_->user);
    // The server may say why, and close.
    if (facts.error || !answer.error) {
        d.error = facts.error;
        d.message = facts.message;
        d.version = facts.version;
        d.server = facts.server;
        d.role = facts.role;
    } else {
        d.error = answer.error;
        d.message = "handshake: " + answer.message;
    }
}

asio::awaitable<asked> redis_dialer::ask(dialled& server, redis_command command) {
    const limit until(*this);
    current_ = server.stream;
    std::string bytes;
    command.append_to(bytes);
    asked answer = co_await exchange(server, std::move(bytes), 1);
    co_return answer;
}

asio::awaitable<asked> redis_dialer::exchange(dialled& d, std::string bytes, std::size_t replies) {
    asked answer;
    error_code ec;
    co_await d.stream->async_write(asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, ec));
    std::array<char, 4096> buffer; // NOLINT(cppcoreguidelines-pro-type-member-init)
    while (!ec) {
        redis_reply reply;
        const auto outcome = d.reader->next(reply);
        if (outcome == resp_reader::outcome::bad) {
            answer.error = durable_errc::bad_reply;
            answer.message = std::string(d.reader->message());
            co_return answer;
        }
        if (outcome == resp_reader::outcome::reply) {
            answer.replies.push_back(std::move(reply));
            if (answer.replies.size() == replies) co_return answer;
            continue;
        }
        const std::size_t n =
            co_await d.stream->async_read_some(asio::buffer(buffer), asio::redirect_error(asio::use_awaitable, ec));
        if (!ec) d.reader->feed({buffer.data(), n});
    }
    answer.error = reason(ec);
    answer.message = answer.error.message();
    co_return answer;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
