// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "durable_worker_impl.hpp"

#include <cogwheel/detail/constant_name.hpp>
#include <cogwheel/durable/durable_worker.hpp>

#include COGWHEEL_ASIO_HEADER(bind_cancellation_slot.hpp)
#include COGWHEEL_ASIO_HEADER(co_spawn.hpp)
#include COGWHEEL_ASIO_HEADER(ip/host_name.hpp)
#include COGWHEEL_ASIO_HEADER(multiple_exceptions.hpp)
#include COGWHEEL_ASIO_HEADER(post.hpp)

#include <random>
#include <stdexcept>

#include <unistd.h>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

using std::chrono::milliseconds;

namespace {

constexpr std::size_t max_name = 200;
constexpr std::uint32_t max_batch = 128;
constexpr milliseconds loop_delay(1); // what a turn of the wheel may be late beside its tick

[[noreturn]] void refuse(const char* what, const std::string& value, const std::string& range) {
    throw std::invalid_argument(std::string("cogwheel::durable_worker_options: ") + what + " is " + value + ": give " +
                                range);
}

void check(const char* what, std::uint64_t value, std::uint64_t least, std::uint64_t most) {
    if (value >= least && value <= most) return;
    refuse(what, std::to_string(value), "a number from " + std::to_string(least) + " to " + std::to_string(most));
}

void check(const char* what, milliseconds value, milliseconds least, milliseconds most) {
    if (value >= least && value <= most) return;
    refuse(what, std::to_string(value.count()) + " ms",
           "a duration from " + std::to_string(least.count()) + " ms to " + std::to_string(most.count()) + " ms");
}

std::string default_name() {
    error_code ec;
    const std::string host = asio::ip::host_name(ec);
    return (ec ? std::string("worker") : host) + ':' + std::to_string(::getpid());
}

std::uint64_t fresh_bits() {
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
}

} // namespace

void durable_worker_options::validate() const {
    using namespace std::chrono_literals;
    constexpr std::uint64_t many = std::numeric_limits<std::uint32_t>::max();
    if (name.size() > max_name)
        refuse("name", std::to_string(name.size()) + " bytes long", "at most " + std::to_string(max_name) + " bytes");
    check("max_in_flight", max_in_flight, 1, many);
    check("max_claimed", max_claimed, 1, many);
    check("batch", batch, 1, max_batch);
    check("lease", lease, 1s, 24h);
    check("claim_lease", claim_lease, 100ms, 1h);
    check("horizon", horizon, 10ms, 1min);
    check("claim_interval", claim_interval, 10ms, std::min<milliseconds>(500ms, horizon)); // a hint comes for less
    check("other_shards", other_shards, 10ms, 1h);
    check("silent_after", silent_after, 100ms, 1h);
    check("heartbeat", heartbeat, 10ms, silent_after / 2);
    check("over_budget", over_budget, 0ms, 24h * 365);
    check("max_wait", max_wait, 1s, 24h * 3650);
    check("misfire_grace", misfire_grace, 0ms, 24h * 365);
}

std::string_view to_string(durable_outcome::kind k) noexcept {
    return detail::constant_name(k, {"done", "retry", "fail", "back"});
}

std::string_view to_string(durable_event::kind k) noexcept {
    return detail::constant_name(k, {"done", "retry", "dead", "stale", "lease lost", "cancelled", "answer lost",
                                     "unreadable", "given back", "trouble"});
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

void running_delivery::ended_by(const std::exception_ptr& thrown) noexcept {
    std::string words = "the handler threw an unknown exception";
    try {
        std::rethrow_exception(thrown);
    } catch (const asio::multiple_exceptions& all) { // of a && b and a || b
        return ended_by(all.first_exception());
    } catch (const std::exception& e) {
        words = e.what();
    } catch (...) { // words says it
    }
    ended(durable_outcome::retry(std::move(words)));
}

void running_delivery::stop() noexcept {
    if (stop_.exchange(true, std::memory_order_acq_rel)) return;
    try {
        asio::post(strand_, [self = shared_from_this()] { self->signal_.emit(asio::cancellation_type::terminal); });
    } catch (...) {
        // No memory: the handler learns of it from stop_requested() only.
    }
}

void running_delivery::start(begin_function begin, std::shared_ptr<void> callable,
                             std::shared_ptr<running_delivery> d) {
    const auto strand = d->strand_;
    asio::post(strand, [begin, callable = std::move(callable), d = std::move(d)] {
        // Others may have begun the next attempt, or cancel() may have answered that no handler starts.
        if (!d->may_start()) return d->ended(durable_outcome::give_back("the handler did not start in time"));
        begin(callable, d);
    });
}

void running_delivery::spawn(asio::awaitable<void> coroutine, const std::shared_ptr<void>& callable,
                             const std::shared_ptr<running_delivery>& d) {
    asio::co_spawn(d->strand_, std::move(coroutine),
                   asio::bind_cancellation_slot(d->signal_.slot(), [callable, d](const std::exception_ptr& thrown) {
                       if (thrown) d->ended_by(thrown);
                   }));
}

durable_worker_impl::durable_worker_impl(std::shared_ptr<durable_queue_impl> queue, durable_worker_options options)
    : queue_(std::move(queue)),
      options_((options.validate(), std::move(options))),
      random_(fresh_bits()),
      lead_(queue_->wheel().start_of(tick{1}) - queue_->wheel().start_of(tick{0}) + loop_delay),
      near_timer_(queue_->executor()),
      again_timer_(queue_->executor()),
      finish_timer_(queue_->executor()) {
    if (!options_.executor) options_.executor = queue_->wheel_executor();
    constexpr std::string_view digits = "0123456789abcdefghjkmnpqrstvwxyz";
    id_ = (options_.name.empty() ? default_name() : options_.name) + ':';
    std::uint64_t bits = random_();
    for (int i = 0; i < 8; ++i, bits >>= 5) id_ += digits[bits & 31];
    nonce_ = static_cast<std::uint32_t>(random_()) | 1U; // 0: no worker
}

// Whether a batch of a lane may go. While two are under way, the next one gathers what comes; but a full batch gathers
// nothing more.
bool durable_worker_impl::may_send(std::size_t waiting, unsigned under_way) const noexcept {
    constexpr std::size_t at_once = 2;
    const std::size_t shards = shards_.size() / lanes_.size();
    return waiting > 0 && under_way < (waiting >= options_.batch ? at_once * shards : at_once);
}

durable_worker_stats durable_worker_impl::stats() const {
    const std::lock_guard lock(stats_mutex_);
    durable_worker_stats all = stats_;
    all.held = held_now_;
    all.in_flight = running_now_;
    all.waiting = waiting_now_;
    return all;
}

void durable_worker_impl::start(const self_ptr& self, durable_handler handler, completion<void> done) {
    asio::dispatch(self->queue_->executor(), [self, handler = std::move(handler), done = std::move(done)]() mutable {
        if (self->draining_ && !self->handler_) return done({}); // drain() came first
        if (self->ended_ || self->handler_) return done(asio::error::operation_aborted);
        self->handler_.emplace(std::move(handler));
        if (self->handler_->gate() != nullptr) self->ready_.use(*self->handler_->gate(), self->options_.max_in_flight);
        self->done_ = std::move(done);
        self->spawn([self] { return run(self); });
    });
}

void durable_worker_impl::drain(const self_ptr& self) {
    asio::dispatch(self->queue_->executor(), [self] {
        if (!self->draining_ && !self->ended_) self->begin_draining();
    });
}

void durable_worker_impl::stop(const self_ptr& self) {
    asio::dispatch(self->queue_->executor(), [self] { self->end(asio::error::operation_aborted); });
}

void durable_worker_impl::report(durable_event::kind what, std::string_view id, fencing_token token, error_code error,
                                 std::string_view message) noexcept {
    if (options_.on_event) options_.on_event({what, id, token, error, message});
}

void durable_worker_impl::trouble(error_code ec) noexcept {
    {
        const std::lock_guard lock(stats_mutex_);
        ++stats_.troubles;
    }
    report(durable_event::kind::trouble, {}, {}, ec);
    if (queue_->closed()) end(asio::error::operation_aborted);
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

durable_worker::durable_worker(durable_queue& queue, durable_worker_options options)
    : impl_(std::make_shared<detail::durable_worker_impl>(queue.impl_, std::move(options))) {}

durable_worker::~durable_worker() { stop(); }

void durable_worker::drain() { detail::durable_worker_impl::drain(impl_); }
void durable_worker::stop() { detail::durable_worker_impl::stop(impl_); }
asio::any_io_executor durable_worker::get_executor() const noexcept { return impl_->queue().wheel_executor(); }
const std::string& durable_worker::id() const noexcept { return impl_->id(); }
durable_worker_stats durable_worker::stats() const { return impl_->stats(); }

void durable_worker::start(const impl_ptr& i, detail::durable_handler handler, detail::completion<void> done) {
    detail::durable_worker_impl::start(i, std::move(handler), std::move(done));
}

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
