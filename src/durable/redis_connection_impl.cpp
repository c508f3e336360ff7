// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "redis_connection_impl.hpp"

#include COGWHEEL_ASIO_HEADER(bind_executor.hpp)
#include COGWHEEL_ASIO_HEADER(co_spawn.hpp)
#include COGWHEEL_ASIO_HEADER(post.hpp)

#include <algorithm>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

constexpr std::size_t most_waiting_bytes = std::size_t{64} << 20;
constexpr auto stable_after = std::chrono::seconds(10); // without a command, too

} // namespace

redis_connection_impl::redis_connection_impl(const timer_wheel& wheel, const redis_strand& strand,
                                             std::shared_ptr<const redis_options> options,
                                             std::unique_ptr<redis_finder> finder,
                                             std::shared_ptr<asio::ssl::context> tls)
    : strand_(strand),
      options_(std::move(options)),
      dialer_(std::make_shared<redis_dialer>(wheel, strand, options_, std::move(tls))),
      completed_(std::make_shared<completed_requests<redis_strand>>(strand)),
      finder_(std::move(finder)),
      limit_(wheel, strand),
      pauses_(options_->reconnect),
      random_(fresh_seed(this, clock::now().time_since_epoch())) {}

void redis_connection_impl::run() {
    asio::post(strand_, [self = shared_from_this()] { self->begin_to_connect(); });
}

void redis_connection_impl::start(redis_request_ptr request, std::span<const redis_command> commands) {
    const std::size_t n = request->expected;
    // Redis answers nothing to a command without arguments: all later replies would go to wrong callers.
    const bool no_words =
        std::any_of(commands.begin(), commands.end(), [](const auto& c) { return c.arguments() == 0; });
    std::size_t bytes = 0;
    for (const auto& c : commands) bytes += c.size();
    bool post = false;
    {
        const std::lock_guard lock(mutex_);
        error_code refusal;
        if (closed_)
            refusal = asio::error::operation_aborted;
        else if (no_words)
            refusal = asio::error::invalid_argument;
        else if (!connected_.load(std::memory_order_relaxed))
            refusal = durable_errc::not_connected;
        else if (n > options_->max_in_flight - in_flight_ ||
                 (!inbox_bytes_.empty() && inbox_bytes_.size() + bytes > most_waiting_bytes))
            refusal = durable_errc::server_busy;
        if (refusal || n == 0) {
            refused_.emplace_back(std::move(request), refusal);
        } else {
            const std::size_t before = inbox_bytes_.size();
            try {
                if (request->deadline == clock::time_point())
                    request->deadline = clock::now() + options_->command_timeout;
                for (const auto& c : commands) c.append_to(inbox_bytes_);
                inbox_.push_back(std::move(request));
            } catch (...) {
                inbox_bytes_.resize(before); // half a command would confuse all later ones
                throw;
            }
            in_flight_ += n;
        }
        post = !std::exchange(flush_posted_, true);
    }
    if (post) asio::post(strand_, [self = shared_from_this()] { self->flush(); });
}

// Runs alone in its turn, never inside start(): so handlers of refused commands do not run there either.
void redis_connection_impl::flush() {
    std::vector<std::pair<redis_request_ptr, error_code>> refused;
    {
        const std::lock_guard lock(mutex_);
        flush_posted_ = false;
        refused.swap(refused_);
    }
    write();
    for (auto& [request, ec] : refused) completed_->add(std::move(request), ec);
    completed_->deliver();
}

void redis_connection_impl::write() {
    if (!link_) return;
    if (link_->write_in_flight) return watch_oldest();
    link_->writing.clear();
    {
        const std::lock_guard lock(mutex_);
        link_->writing.swap(inbox_bytes_);
        for (auto& request : inbox_) sent_.push_back(std::move(request));
        inbox_.clear();
    }
    if (link_->writing.empty()) return;
    link_->write_in_flight = true;
    watch_oldest();
    link_->stream->async_write(
        asio::buffer(link_->writing),
        asio::bind_executor(strand_, [self = shared_from_this(), l = link_](error_code ec, std::size_t) {
            l->write_in_flight = false;
            if (l != self->link_) return;
            if (ec) {
                self->breaks(durable_errc::disconnected, ec.message());
                self->completed_->deliver();
            } else {
                self->write();
            }
        }));
}

void redis_connection_impl::read() {
    link_->stream->async_read_some(
        asio::buffer(link_->reading),
        asio::bind_executor(strand_, [self = shared_from_this(), l = link_](error_code ec, std::size_t n) {
            if (l != self->link_) return;
            if (ec)
                self->breaks(durable_errc::disconnected,
                             ec == asio::error::eof ? "the server closed the connection" : ec.message());
            else
                self->on_read(l, n);
            self->completed_->deliver();
        }));
}

void redis_connection_impl::on_read(const std::shared_ptr<link>& from, std::size_t n) {
    from->reader->feed({from->reading.data(), n});
    std::size_t replies = 0;
    bool lost_role = false;
    std::string_view bad;
    for (;;) {
        redis_reply reply;
        const auto outcome = from->reader->next(reply);
        if (outcome == resp_reader::outcome::more) break;
        if (outcome == resp_reader::outcome::bad)
            bad = from->reader->message();
        else if (sent_.empty())
            bad = "a reply without a command";
        if (!bad.empty()) break;
        ++replies;
        if (reply.is_error() && reply.text().starts_with("READONLY")) lost_role = may_find_master();
        auto& request = sent_.front();
        if (request->expected > 1 && request->replies.empty()) request->replies.reserve(request->expected);
        request->replies.push_back(std::move(reply));
        if (request->replies.size() < request->expected) continue;
        completed_->add(std::move(request), {});
        sent_.pop_front();
    }
    from->heard |= replies > 0;
    {
        const std::lock_guard lock(mutex_);
        in_flight_ -= replies;
    }
    if (!bad.empty())
        breaks(durable_errc::bad_reply, bad);
    else if (lost_role)
        breaks(durable_errc::disconnected, "the server is a replica now", true);
    else
        read();
}

// A READONLY reply: behind the same address there may be another server now (sentinels, a proxy, a name, a link to a
// socket). Who has asked for a replica from the beginning keeps it.
bool redis_connection_impl::may_find_master() const noexcept {
    return finder_->wants_master() || was_master_ || role_.load(std::memory_order_relaxed) == redis_role::unknown;
}

void redis_connection_impl::watch_oldest() {
    if (limit_armed_) return;
    const auto deadline = oldest();
    if (deadline == clock::time_point::max()) return;
    limit_armed_ = true;
    limit_.wait_until(deadline, shared_from_this(), [this](bool over) {
        limit_armed_ = false;
        if (over && !shut_) on_limit();
    });
}

redis_connection_impl::clock::time_point redis_connection_impl::oldest() {
    if (!sent_.empty()) return sent_.front()->deadline;
    const std::lock_guard lock(mutex_);
    return inbox_.empty() ? clock::time_point::max() : inbox_.front()->deadline;
}

void redis_connection_impl::on_limit() {
    if (link_ && oldest() <= clock::now()) {
        breaks(durable_errc::disconnected, "no reply within command_timeout");
        completed_->deliver();
    } else {
        watch_oldest();
    }
}

void redis_connection_impl::breaks(error_code ec, std::string_view why, bool lost_role) {
    if (!link_) return;
    const auto old = std::exchange(link_, nullptr);
    old->stream->close();
    for (auto& request : sent_) completed_->add(std::move(request), ec);
    sent_.clear();
    {
        const std::lock_guard lock(mutex_);
        connected_.store(false, std::memory_order_release);
        // Not a byte of these was sent.
        const error_code not_sent = shut_ ? ec : make_error_code(durable_errc::not_connected);
        for (auto& request : inbox_) completed_->add(std::move(request), not_sent);
        inbox_.clear();
        inbox_bytes_.clear();
        in_flight_ = 0;
    }
    if (shut_) return;
    dialer_->log(old->name + ": disconnected: " + std::string(why));
    tell(false, ec);
    // A server that breaks each connection at once must not be asked again and again without a pause, nor a replica.
    if ((old->heard && !lost_role) || clock::now() - old->made >= stable_after) pauses_.reset();
    begin_to_connect();
}

void redis_connection_impl::begin_to_connect() {
    asio::co_spawn(strand_, connect(shared_from_this()), [](const std::exception_ptr& e) {
        if (e) std::rethrow_exception(e); // no memory to report a failure: run() of the context throws
    });
}

asio::awaitable<void> redis_connection_impl::connect(std::shared_ptr<redis_connection_impl> self) {
    bool pause = self->pauses_.retries() > 0;
    while (!self->shut_) {
        if (pause) {
            const auto delay = self->pauses_.next(self->random_);
            co_await self->dialer_->pause(delay);
            if (self->shut_) break;
        }
        if (self->pauses_.retries() == 0) self->pauses_.next(self->random_); // so that a break soon after pauses
        pause = true;
        dialled d;
        try {
            d = co_await self->finder_->find(*self->dialer_);
        } catch (const std::exception& e) {
            d.error = asio::error::no_memory;
            d.message = e.what();
        }
        if (self->shut_) break;
        if (!d.error) {
            self->install(std::move(d));
            break;
        }
        self->report(d);
    }
}

void redis_connection_impl::install(dialled d) {
    const auto made = std::make_shared<link>();
    made->stream = std::move(d.stream);
    made->reader = std::move(d.reader);
    made->name = d.address.text();
    link_ = made;
    role_.store(d.role, std::memory_order_relaxed);
    was_master_ = was_master_ || d.role == redis_role::master;
    version_.store(d.version, std::memory_order_relaxed);
    failures_.store(0, std::memory_order_relaxed);
    {
        const std::lock_guard lock(mutex_);
        connected_.store(!closed_, std::memory_order_release);
    }
    const std::string role = (d.role == redis_role::unknown ? "role " : "") + std::string(to_string(d.role));
    dialer_->forget_failures();
    dialer_->log(made->name + ": connected (" + d.server + ", " + role + ")");
    tell(true, {});
    end_waits({});
    on_read(made, 0); // more than the replies of the handshake may have come
}

void redis_connection_impl::report(const dialled& failed) {
    failures_.fetch_add(1, std::memory_order_relaxed);
    dialer_->log_failure(failed.address.text() + ": cannot connect: " + failed.message);
    tell(false, failed.error);
    if (failed.error == durable_errc::access_denied) end_waits(failed.error);
}

// The functions of the caller run in turns of their own: they may throw, and may call close().
void redis_connection_impl::tell(bool connected, error_code ec) {
    asio::post(strand_, [self = shared_from_this(), connected, ec] {
        if (self->hook_ && !self->shut_) self->hook_(connected, ec);
    });
}

void redis_connection_impl::end_waits(error_code ec) {
    for (auto& w : waits_) asio::post(strand_, [w = std::move(w), ec]() mutable { w(ec); });
    waits_.clear();
}

void redis_connection_impl::wait(completion<void> done) {
    asio::post(strand_, [self = shared_from_this(), done = std::move(done)]() mutable {
        if (self->shut_)
            done(asio::error::operation_aborted);
        else if (self->link_)
            done(error_code());
        else
            add_waiter(self->waits_, std::move(done));
    });
}

void redis_connection_impl::set_hook(std::function<void(bool, error_code)> hook) {
    asio::post(strand_, [self = shared_from_this(), hook = std::move(hook)]() mutable {
        self->hook_ = std::move(hook);
        if (self->link_) self->tell(true, {});
    });
}

void redis_connection_impl::close() {
    {
        const std::lock_guard lock(mutex_);
        if (std::exchange(closed_, true)) return;
        connected_.store(false, std::memory_order_release);
    }
    asio::post(strand_, [self = shared_from_this()] { self->shut_down(); });
}

void redis_connection_impl::shut_down() {
    shut_ = true;
    dialer_->stop();
    limit_.cancel();
    breaks(asio::error::operation_aborted, {});
    end_waits(asio::error::operation_aborted);
    hook_ = nullptr;
    completed_->deliver();
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
