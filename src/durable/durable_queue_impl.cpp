// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// See durable_queue_impl.hpp.
#include "durable_queue_impl.hpp"

#include "task_envelope.hpp"

#include <cogwheel/tasks/error.hpp>

#include COGWHEEL_ASIO_HEADER(redirect_error.hpp)

#include <algorithm>
#include <limits>
#include <new>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

using std::chrono::nanoseconds;

namespace {

constexpr auto time_is_fresh = std::chrono::seconds(30);
constexpr std::uint32_t most_a_page = 1'000, audit_page = 500;

} // namespace

durable_queue_impl::durable_queue_impl(const timer_wheel& wheel, strand on, durable_options options,
                                       std::unique_ptr<task_store> store)
    : wheel_(impl_of(wheel)),
      executor_(wheel.get_executor()),
      strand_(std::move(on)),
      options_(std::move(options)),
      store_(std::move(store)),
      clocks_(options_.redis.topology == redis_topology::cluster ? options_.shards : 1) {}

retention_limits durable_queue_impl::limits() const noexcept {
    return {.done_ms = options_.retention.count(),
            .max_done = options_.max_done,
            .max_dead = options_.max_dead,
            .dead_ms = options_.dead_retention.count()};
}

void durable_queue_impl::close() noexcept {
    if (closed_.exchange(true)) return;
    if (store_->closes_on_any_thread()) return store_->close(); // what is on its way to the strand finds it closed
    try {
        asio::dispatch(strand_, [self = shared_from_this()] { self->store_->close(); });
    } catch (...) { // no memory: the store closes when its last coroutine ends
    }
}

std::string durable_queue_impl::trouble() const {
    const std::lock_guard lock(trouble_mutex_);
    return trouble_;
}

error_code durable_queue_impl::code_of(const std::exception_ptr& thrown) noexcept {
    try {
        std::rethrow_exception(thrown);
    } catch (const sys::system_error& e) {
        return e.code();
    } catch (const std::bad_alloc&) {
        return make_error_code(sys::errc::not_enough_memory);
    } catch (...) {
        return make_error_code(sys::errc::state_not_recoverable);
    }
}

// A program and its workers may open the queue at the same time: the first call opens it, the others wait for that.
asio::awaitable<error_code> durable_queue_impl::open(self_ptr self) {
    if (self->closed_) co_return asio::error::operation_aborted;
    if (self->open_) co_return error_code();
    error_code ec;
    if (self->opening_) {
        auto wait = [self](completion<void> done) { self->openers_.push_back(std::move(done)); };
        co_await initiate<void>(self->strand_, asio::redirect_error(asio::use_awaitable, ec), std::move(wait));
        co_return ec;
    }
    self->opening_ = true;
    try {
        ec = co_await open_now(self);
    } catch (...) {
        ec = code_of(std::current_exception());
    }
    self->opening_ = false;
    for (auto& waiting : std::exchange(self->openers_, {})) waiting(ec);
    co_return ec;
}

asio::awaitable<error_code> durable_queue_impl::open_now(self_ptr self) {
    const error_code ec = co_await self->store_->open();
    {
        const std::lock_guard lock(self->trouble_mutex_);
        self->trouble_ = ec ? self->store_->trouble() : self->store_->damage();
    }
    if (ec) co_return ec;
    self->open_ = true;
    co_await know_the_time(self); // an error does not matter: later calls ask again
    co_return error_code();
}

// A queue without workers gets no hints: they would cost it and the server more than its own calls.
std::uint64_t durable_queue_impl::listen(task_store::hints fresh) {
    listeners_.emplace(++last_listener_, std::make_shared<const task_store::hints>(std::move(fresh)));
    if (std::exchange(listening_, true)) return last_listener_;
    const auto all = [weak = weak_from_this()](auto call) {
        if (const auto q = weak.lock()) q->tell_listeners(call);
    };
    store_->listen({.on_wake = [all](std::uint32_t shard,
                                     bool soon) { all([=](const task_store::hints& h) { h.on_wake(shard, soon); }); },
                    .on_workers = [all] { all([](const task_store::hints& h) { h.on_workers(); }); },
                    .on_alive = [all] { all([](const task_store::hints& h) { h.on_alive(); }); },
                    .on_connected = [all] { all([](const task_store::hints& h) { h.on_connected(); }); }});
    return last_listener_;
}

// A listener may add or remove listeners.
template <class Call>
void durable_queue_impl::tell_listeners(Call call) {
    std::vector<std::shared_ptr<const task_store::hints>> all;
    for (const auto& [number, h] : listeners_) all.push_back(h);
    for (const auto& h : all) call(*h);
}

// The first run of a recurring task is a point of the server's time.
asio::awaitable<error_code> durable_queue_impl::know_the_time(self_ptr self) {
    const auto sent = std::chrono::steady_clock::now();
    if (self->clock(0).known() && sent - self->time_asked_ < time_is_fresh) co_return error_code();
    const answer<shard_counts> counted = co_await self->store_->counts(0);
    if (counted.error) co_return counted.error;
    self->time_asked_ = std::chrono::steady_clock::now();
    self->clock(0).observe(sent, self->time_asked_, counted.value.now_us);
    co_return error_code();
}

bool repeats(const task_trigger& t) noexcept {
    return t.what() == task_trigger::kind::periodic || t.what() == task_trigger::kind::cron;
}

awaitable_answer<durable_cancel_result> durable_queue_impl::cancel(self_ptr self, std::string id) {
    send_gathered(self);
    const answer<removal> removed = co_await self->store_->cancel(std::move(id));
    answer<durable_cancel_result> result;
    result.error = removed.error;
    result.value = removed.value == removal::removed   ? durable_cancel_result::cancelled
                   : removed.value == removal::running ? durable_cancel_result::running
                                                       : durable_cancel_result::not_found;
    co_return result;
}

awaitable_answer<durable_receipt> durable_queue_impl::reschedule(self_ptr self, std::string id, task_trigger when) {
    answer<durable_receipt> result;
    durable_task checked;
    checked.id = id;
    checked.when = when;
    result.error = repeats(when) ? make_error_code(task_errc::bad_period) : checked.check();
    if (result.error) co_return result;
    send_gathered(self);
    const bool relative = when.what() == task_trigger::kind::once;
    added_task now;
    const answer<removal> moved = co_await self->store_->reschedule(id, ms_of(when.first_delay()), relative, now);
    result.error = moved.error;
    result.value = {now.generation, point_of(now.due), true};
    if (moved.value == removal::not_found && !moved.error) result.error = durable_errc::no_such_task;
    if (moved.value == removal::running) result.error = durable_errc::running;
    if (moved.value == removal::recurring) result.error = task_errc::bad_period;
    co_return result;
}

asio::awaitable<error_code> durable_queue_impl::hold(self_ptr self, std::string id, bool held) {
    send_gathered(self);
    const answer<removal> now = co_await self->store_->hold(std::move(id), held);
    if (now.value == removal::running) co_return durable_errc::running;
    if (now.value == removal::not_found && !now.error) co_return durable_errc::no_such_task;
    co_return now.error;
}

durable_info durable_queue_impl::info_of(stored_task&& from) {
    durable_info to;
    to.id = std::move(from.id);
    to.state = from.state;
    to.generation = from.generation;
    to.due = point_of(from.due);
    to.attempt = from.attempt;
    to.max_attempts = from.max_attempts;
    to.runs_left = from.runs_left;
    to.paused = from.paused;
    to.message = std::move(from.message);
    for (past_attempt& a : from.history)
        to.history.push_back({a.attempt, point_of(a.ended_ms), a.lease_ran_out, std::move(a.message)});
    if (from.state == durable_state::done) {
        to.result = std::move(from.envelope);
    } else if (auto envelope = decode_envelope(from.envelope)) {
        to.body = std::move(envelope->body);
        to.traceparent = std::move(envelope->traceparent);
        if (envelope->recurring && from.recurring) to.when = envelope->recurring->trigger.text();
    } else {
        to.message = make_error_code(durable_errc::bad_record).message();
    }
    return to;
}

awaitable_answer<std::optional<durable_info>> durable_queue_impl::find(self_ptr self, std::string id) {
    send_gathered(self);
    answer<stored_task> found = co_await self->store_->find(std::move(id));
    answer<std::optional<durable_info>> result;
    if (found.error != durable_errc::no_such_task) result.error = found.error;
    if (!found.error) result.value = info_of(std::move(found.value));
    co_return result;
}

awaitable_answer<durable_page> durable_queue_impl::list(self_ptr self, std::string cursor, std::uint32_t count,
                                                        bool dead) {
    send_gathered(self);
    count = std::clamp(count, std::uint32_t{1}, most_a_page);
    answer<stored_page> page;
    if (dead)
        page = co_await self->store_->dead(std::move(cursor), count);
    else
        page = co_await self->store_->list(std::move(cursor), count);
    answer<durable_page> result;
    result.error = page.error;
    for (stored_task& t : page.value.tasks) result.value.tasks.push_back(info_of(std::move(t)));
    result.value.cursor = std::move(page.value.cursor);
    co_return result;
}

awaitable_answer<bool> durable_queue_impl::redrive(self_ptr self, std::string id) {
    send_gathered(self);
    const answer<bool> result = co_await self->store_->redrive(std::move(id));
    co_return result;
}

awaitable_answer<bool> durable_queue_impl::purge(self_ptr self, std::string id) {
    send_gathered(self);
    const answer<bool> result = co_await self->store_->purge(std::move(id));
    co_return result;
}

asio::awaitable<error_code> durable_queue_impl::pause(self_ptr self, bool paused) {
    send_gathered(self);
    const error_code ec = co_await self->store_->pause(paused);
    co_return ec;
}

awaitable_answer<durable_counts> durable_queue_impl::counts(self_ptr self) {
    send_gathered(self);
    answer<durable_counts> sum;
    for (std::uint32_t shard = 0; shard < self->store_->shards(); ++shard) {
        const answer<shard_counts> one = co_await self->store_->counts(shard);
        if (one.error) {
            sum.error = one.error;
            co_return sum;
        }
        sum.value.waiting += one.value.waiting;
        sum.value.claimed += one.value.leased;
        sum.value.overdue += one.value.overdue;
        sum.value.done += one.value.done;
        sum.value.dead += one.value.dead;
        sum.value.paused = sum.value.paused || one.value.paused;
        sum.value.oldest = std::max(sum.value.oldest, std::chrono::milliseconds(one.value.oldest_ms));
    }
    co_return sum;
}

awaitable_answer<durable_audit> durable_queue_impl::audit(self_ptr self) {
    send_gathered(self);
    answer<durable_audit> sum;
    for (std::uint32_t shard = 0; shard < self->store_->shards(); ++shard) {
        std::string cursor;
        do {
            answer<audit_step> step = co_await self->store_->audit(shard, std::move(cursor), audit_page);
            if (step.error) {
                sum.error = step.error;
                co_return sum;
            }
            sum.value.tasks += step.value.seen;
            sum.value.repaired += step.value.repaired;
            cursor = std::move(step.value.cursor);
        } while (!cursor.empty());
    }
    co_return sum;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
