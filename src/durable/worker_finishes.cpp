// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The answers of handlers, and the end of a worker.
#include "durable_worker_impl.hpp"

#include COGWHEEL_ASIO_HEADER(dispatch.hpp)
#include COGWHEEL_ASIO_HEADER(post.hpp)

#include <algorithm>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

using std::chrono::milliseconds;

namespace {

// An answer waits this long for others, to go to the server in the same write: each write costs both sides a wake-up.
// By a timer of Asio, because the tick of the wheel may be far longer. Begins do not take answers along: the server's
// reply to them would wait for the answers' turn.
constexpr milliseconds finish_delay(1);
constexpr std::size_t max_message = 1'000; // bytes of a failure's message that are kept
constexpr std::string_view waited_too_long = "waited for longer than max_wait: ";

} // namespace

void durable_worker_impl::delivery::fill(std::string id, task_envelope&& envelope, fencing_token token,
                                         std::uint32_t max_attempts, std::int64_t due_ms,
                                         std::chrono::microseconds lateness, std::uint32_t shard, std::string key) {
    id_ = std::move(id);
    body_ = std::move(envelope.body);
    traceparent_ = std::move(envelope.traceparent);
    token_ = token;
    max_attempts_ = max_attempts;
    due_ = point_of(due_ms);
    lateness_ = lateness;
    shard_ = shard;
    key_ = std::move(key);
    begun_ = steady_clock::now();
}

void durable_worker_impl::delivery::ended(durable_outcome outcome) noexcept {
    const auto worker = worker_.lock();
    if (worker == nullptr) return;
    try {
        asio::dispatch(worker->queue_->executor(),
                       [worker, self = std::static_pointer_cast<delivery>(shared_from_this()),
                        outcome = std::move(outcome)]() mutable { worker->ended(self, std::move(outcome)); });
    } catch (...) { // no memory: the lease runs out, and the task is tried again
        lost_ = true;
    }
}

void durable_worker_impl::ended(const delivery_ptr& d, durable_outcome&& outcome) {
    if (running_.erase(d.get()) == 0 || ended_) return;
    slot_came(d->key(), d->ran_for());
    note_sizes();
    const std::uint32_t lane = queue_->lane_of(d->shard());
    finish_request request;
    request.shard = d->shard();
    request.id = d->id();
    request.generation = d->token().generation;
    request.attempt = d->token().attempt;
    request.text = outcome.text();
    switch (outcome.what()) {
    case durable_outcome::kind::done:
        request.kind = finish_kind::ack;
        if (request.text.size() > durable_outcome::max_result) request.text.resize(durable_outcome::max_result);
        break;
    case durable_outcome::kind::fail:
        request.kind = finish_kind::fail;
        break;
    case durable_outcome::kind::retry:
        request.kind = d->attempt() >= d->max_attempts() ? finish_kind::fail : finish_kind::nack;
        if (request.kind == finish_kind::nack) request.delay = delay_before(*d, outcome);
        break;
    case durable_outcome::kind::back:
        request.kind = finish_kind::back;
        request.delay = delay_of(outcome, d->attempt()).count();
        if (draining_ || steady_clock::now() - made_ < patience() ||
            waited(d->shard(), ms_of(d->due().time_since_epoch())) <= options_.max_wait)
            break;
        request.kind = finish_kind::fail;
        request.text.insert(0, waited_too_long);
        break;
    }
    if (request.kind != finish_kind::ack && request.text.size() > max_message) request.text.resize(max_message);
    if (request.kind != finish_kind::back && d->attempt() == 1 && options_.budget != nullptr)
        options_.budget->deposit();
    ++answers_;
    lanes_[lane].finishes.push_back(std::move(request));
    finish_soon(lane);
    pump();
}

milliseconds durable_worker_impl::delay_of(const durable_outcome& outcome, std::uint32_t attempt) {
    const auto backoff = std::chrono::ceil<milliseconds>(options_.backoff.next(attempt, {}, random_));
    return backoff + std::clamp<milliseconds>(outcome.delay().value_or(milliseconds(0)), milliseconds(0),
                                              durable_task::max_delay);
}

std::int64_t durable_worker_impl::delay_before(const delivery& d, const durable_outcome& outcome) {
    auto delay = delay_of(outcome, d.attempt());
    if (options_.budget != nullptr && !options_.budget->withdraw(steady_clock::now()))
        delay = std::max(delay, options_.over_budget);
    return delay.count();
}

void durable_worker_impl::finish_soon(std::uint32_t lane) {
    if (draining_) return post_finish(lane);
    if (!std::exchange(lanes_[lane].finish_waits, true)) finishing_.push_back(lane);
    if (finish_armed_) return;
    finish_timer_.expires_after(finish_delay);
    finish_timer_.async_wait([weak = weak_from_this()](error_code ec) {
        const auto self = weak.lock();
        if (!ec && self != nullptr) self->send_finishes();
    });
    finish_armed_ = true;
}

void durable_worker_impl::send_finishes() {
    if (std::exchange(finish_armed_, false)) finish_timer_.cancel();
    while (!finishing_.empty()) {
        const std::uint32_t lane = finishing_.back();
        finishing_.pop_back();
        lanes_[lane].finish_waits = false;
        start_finish(lane);
    }
}

void durable_worker_impl::post_finish(std::uint32_t lane) {
    lane_state& l = lanes_[lane];
    if (l.finish_posted || !may_send(l.finishes.size(), l.finishes_under_way)) return;
    l.finish_posted = true;
    asio::post(queue_->executor(), [self = shared_from_this(), lane] {
        self->lanes_[lane].finish_posted = false;
        self->start_finish(lane);
    });
}

void durable_worker_impl::start_finish(std::uint32_t lane) {
    if (ended_ || !may_send(lanes_[lane].finishes.size(), lanes_[lane].finishes_under_way)) return;
    spawn_finish(lane);
    post_finish(lane);
}

void durable_worker_impl::spawn_finish(std::uint32_t lane) {
    lane_state& l = lanes_[lane];
    ++l.finishes_under_way;
    spawn(
        [self = shared_from_this(), lane, batch = take_batch(l.finishes)] { return finish_batch(self, lane, batch); });
}

asio::awaitable<void> durable_worker_impl::finish_batch(self_ptr self, std::uint32_t lane,
                                                        std::vector<finish_request> batch) {
    const retention_limits limits = self->queue_->limits();
    const auto taken = co_await self->queue_->store().finish(limits, batch);
    lane_state& l = self->lanes_[lane];
    --l.finishes_under_way;
    if (self->ended_) co_return;
    batch = self->finished(std::move(batch), taken.value, false);
    self->post_finish(lane);
    if (batch.empty()) co_return self->end_if_drained();
    self->trouble(taken.error);
    if (self->ended_) co_return;
    for (const finish_request& r : batch)
        if (r.kind != finish_kind::release)
            self->report(durable_event::kind::answer_lost, r.id, {r.generation, r.attempt}, taken.error);
    self->keep_refused(l, std::move(batch), taken.error);
    if (!std::exchange(l.retrying, true)) self->spawn([self, lane] { return retry_finishes(self, lane); });
}

void durable_worker_impl::keep_refused(lane_state& l, std::vector<finish_request>&& some, error_code ec) {
    auto& to = ec == durable_errc::disconnected ? l.repeated : l.refused;
    for (finish_request& r : some) to.push_back(std::move(r));
}

// To repeat an answer is safe: the server takes it once. Meanwhile those of other tasks go on.
asio::awaitable<void> durable_worker_impl::retry_finishes(self_ptr self, std::uint32_t lane) {
    lane_state& l = self->lanes_[lane];
    const retention_limits limits = self->queue_->limits();
    while (!l.refused.empty() || !l.repeated.empty()) {
        co_await self->wait_for_server();
        if (self->ended_) co_return;
        error_code wrong;
        for (const bool repeated : {false, true}) {
            auto all = std::exchange(repeated ? l.repeated : l.refused, {});
            while (!all.empty()) {
                std::vector<finish_request> batch = self->take_batch(all);
                const auto taken = co_await self->queue_->store().finish(limits, batch);
                if (self->ended_) co_return;
                if (taken.error) wrong = taken.error;
                batch = self->finished(std::move(batch), taken.value, repeated);
                self->keep_refused(l, std::move(batch), repeated ? durable_errc::disconnected : taken.error);
            }
        }
        if (wrong) self->trouble(wrong);
        if (self->ended_) co_return;
    }
    l.retrying = false;
    self->end_if_drained();
}

// Returns those that the server has not answered.
std::vector<finish_request> durable_worker_impl::finished(std::vector<finish_request>&& batch,
                                                          const std::vector<std::optional<bool>>& taken,
                                                          bool repeated) {
    using kind = durable_event::kind;
    std::vector<finish_request> left;
    for (std::size_t i = 0; i < batch.size(); ++i) {
        finish_request& r = batch[i];
        if (!taken[i]) {
            left.push_back(std::move(r));
            continue;
        }
        --answers_;
        if (r.kind == finish_kind::release) continue;
        // If the first answer was lost, the server may have taken it, and then finds the second one stale.
        const bool counts = *taken[i] || repeated;
        const kind what = !counts                       ? kind::stale
                          : r.kind == finish_kind::ack  ? kind::done
                          : r.kind == finish_kind::nack ? kind::retry
                          : r.kind == finish_kind::back ? kind::given_back
                                                        : kind::dead;
        {
            const std::lock_guard lock(stats_mutex_);
            ++(what == kind::stale        ? stats_.stale
               : what == kind::done       ? stats_.done
               : what == kind::retry      ? stats_.retried
               : what == kind::given_back ? stats_.given_back
                                          : stats_.dead);
        }
        report(what, r.id, {r.generation, r.attempt}, {}, r.text);
    }
    return left;
}

void durable_worker_impl::release(const held_task& h, milliseconds delay) {
    finish_request request;
    request.kind = finish_kind::release;
    request.shard = h.shard;
    request.id = h.task.id;
    request.generation = h.task.generation;
    request.attempt = h.task.attempt;
    request.delay = delay.count();
    ++answers_;
    lanes_[queue_->lane_of(h.shard)].finishes.push_back(std::move(request));
}

asio::awaitable<void> durable_worker_impl::wait_for_server() {
    const auto pause = std::make_shared<sleeper>(queue_->wheel(), queue_->executor());
    waiting_.push_back(pause);
    const bool on = co_await pause->sleep(milliseconds(100));
    std::erase(waiting_, pause);
    if (!on) end(errc::stopped);
}

void durable_worker_impl::release_all() {
    near_.clear();
    ready_.clear();
    parked_.clear();
    for (lane_state& l : lanes_) {
        slots_ -= l.begins.size();
        l.begins.clear();
    }
    std::vector<held_ptr> all;
    for (auto& [id, h] : std::exchange(held_, {})) all.push_back(std::move(h));
    std::sort(all.begin(), all.end(), [](const held_ptr& a, const held_ptr& b) { return a->shard < b->shard; });
    for (const held_ptr& h : all) {
        h->timer.cancel();
        release(*h, milliseconds(0));
        post_finish(queue_->lane_of(h->shard));
    }
    note_sizes();
}

void durable_worker_impl::begin_draining() {
    draining_ = true;
    if (shards_.empty()) return end({}); // the queue is not open yet: nothing has begun
    release_all();
    note_longest_wait();
    send_finishes();
    for (shard_state& s : shards_) s.pause->wake();
    heart_->wake();
    extender_->wake();
    spawn([self = shared_from_this()]() -> asio::awaitable<void> {
        const error_code ec = co_await self->queue_->store().retire(self->id_);
        if (ec) self->trouble(ec); // the others notice its silence
        self->retired_ = true;
        self->end_if_drained();
    });
}

void durable_worker_impl::end_if_drained() {
    if (draining_ && retired_ && slots_ == 0 && reserved_ == 0 && answers_ == 0) end({});
}

void durable_worker_impl::end(error_code ec) {
    // Handlers have ended: their tasks should not run again. Nobody waits for the replies.
    for (std::uint32_t lane = 0; !ended_ && lane < lanes_.size(); ++lane)
        while (!lanes_[lane].finishes.empty()) spawn_finish(lane);
    if (std::exchange(ended_, true)) return;
    finish_timer_.cancel();
    for (const auto& [key, d] : running_) d->stop();
    for (auto& [id, h] : std::exchange(held_, {})) h->timer.cancel();
    running_.clear();
    near_timer_.cancel();
    again_timer_.cancel();
    near_.clear();
    ready_.clear();
    parked_.clear();
    for (lane_state& l : lanes_) {
        l.begins.clear();
        l.finishes.clear();
    }
    for (shard_state& s : shards_) s.pause->wake();
    if (heart_ != nullptr) heart_->wake();
    if (extender_ != nullptr) extender_->wake();
    for (const auto& pause : std::exchange(waiting_, {})) pause->wake();
    queue_->unlisten(listener_);
    if (done_) std::exchange(done_, {})(ec);
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
