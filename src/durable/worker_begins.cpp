// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// From the claim of a task to its handler.
#include "durable_worker_impl.hpp"
#include "run_plan.hpp"

#include COGWHEEL_ASIO_HEADER(bind_executor.hpp)
#include COGWHEEL_ASIO_HEADER(post.hpp)

#include <algorithm>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

using std::chrono::microseconds;

namespace {

constexpr std::int64_t us_per_ms = 1'000;
// So long, nobody else claims a task that waits here for a slow key.
constexpr std::chrono::milliseconds waiting_claim(30'000);
constexpr std::chrono::minutes most_patience(15);
// While tasks wait for slow keys, their gate is asked this often.
constexpr std::chrono::milliseconds gate_interval(100);

} // namespace

void durable_worker_impl::hold(std::uint32_t shard, stored_task&& task) {
    auto fresh = std::make_shared<held_task>();
    const std::string id = task.id;
    const auto [at, added] = held_.try_emplace(id, fresh);
    auto& slot = at->second;
    if (!added) {
        // Claimed again, because this worker was slow to begin it. What waits in a queue or a batch stays there.
        // A begin under way must stay the only one: two would both get the answer of the same attempt.
        const bool same_claim =
            slot->task.generation == task.generation && (slot->task.attempt == task.attempt || slot->begins);
        if (same_claim && (slot->ready || slot->task.due == task.due)) {
            if (!slot->ready)
                slot->task = std::move(task);
            else if (!slot->key.empty())
                claimed_again(slot);
            return;
        }
        slot->timer.cancel();
        slot = std::move(fresh);
    }
    slot->shard = shard;
    slot->task = std::move(task);
    note_sizes();
    arm(slot, queue_->clock(shard).point_to_ask(slot->task.due * us_per_ms));
}

void durable_worker_impl::arm(const held_ptr& h, steady_clock::time_point at) {
    if (at - lead_ <= steady_clock::now()) return await_exactly(h, at);
    auto near = asio::bind_executor(queue_->executor(), [weak = weak_from_this(), h, at] {
        if (const auto self = weak.lock()) self->await_exactly(h, at);
    });
    error_code ec;
    h->timer = queue_->wheel().schedule(at - lead_, near, near, &ec, true); // also if the wheel cancels its timers
    if (ec) end(ec);
}

// The wheel may be a tick late. So it brings a task before its time, and one timer asks for the next task of all.
void durable_worker_impl::await_exactly(const held_ptr& h, steady_clock::time_point at) {
    const auto found = held_.find(h->task.id);
    if (h->ready || found == held_.end() || found->second != h || draining_ || ended_) return;
    near_.push_back({at, h});
    std::push_heap(near_.begin(), near_.end());
    if (near_.front().task == h) arm_near_timer();
}

void durable_worker_impl::arm_near_timer() {
    if (near_.empty()) return;
    near_timer_.expires_at(near_.front().at);
    near_timer_.async_wait([weak = weak_from_this()](error_code ec) {
        const auto self = weak.lock();
        if (ec || self == nullptr) return;
        const auto now = steady_clock::now();
        while (!self->near_.empty() && self->near_.front().at <= now) {
            std::pop_heap(self->near_.begin(), self->near_.end());
            const held_ptr h = std::move(self->near_.back().task);
            self->near_.pop_back();
            self->fired(h);
        }
        self->arm_near_timer();
    });
}

void durable_worker_impl::fired(const held_ptr& h) {
    const auto found = held_.find(h->task.id);
    if (h->ready || found == held_.end() || found->second != h || draining_ || ended_) return;
    h->ready = true;
    const auto* const gate = handler_->gate().get();
    if (gate != nullptr && read(*h)) h->key = gate->key_of(h->envelope->body);
    if (!h->key.empty() && ready_.slow(h->key, steady_clock::now()) && !make_wait(h)) return;
    ready_.push(h->key, h, steady_clock::now());
    pump();
}

durable_worker_impl::milliseconds durable_worker_impl::waited(std::uint32_t shard, std::int64_t due) {
    return milliseconds(queue_->clock(shard).now_us(steady_clock::now()) / us_per_ms - due);
}

// A task may be late for other reasons: no worker ran, or it was paused. So this worker must have seen it for a while
// that what the task needs is broken.
durable_worker_impl::milliseconds durable_worker_impl::patience() const {
    return std::min<milliseconds>(options_.max_wait, most_patience);
}

bool durable_worker_impl::waits_too_long(const held_task& h) {
    return waited(h.shard, h.task.due) > options_.max_wait &&
           ready_.broken_for(h.key, steady_clock::now()) >= patience();
}

void durable_worker_impl::note_longest_wait() {
    milliseconds longest(0);
    if (ready_.size() > 0)
        for (const auto& [id, h] : held_)
            if (h->ready && !h->begins) longest = std::max(longest, waited(h->shard, h->task.due));
    const std::lock_guard lock(stats_mutex_);
    stats_.longest_wait = longest;
}

// When the claim runs out, this worker claims the task again, and looks how long it has waited.
void durable_worker_impl::claim_longer(const held_task& h) {
    const auto broken_for = ready_.broken_for(h.key, steady_clock::now());
    auto delay = waiting_claim;
    if (broken_for > steady_clock::duration(0))
        delay = std::max(options_.max_wait - waited(h.shard, h.task.due),
                         std::chrono::ceil<milliseconds>(patience() - broken_for));
    release(h, std::clamp<milliseconds>(delay, milliseconds(100), waiting_claim));
    finish_soon(queue_->lane_of(h.shard));
}

// Keeps a task of a slow key for its turn, or puts it off, and then returns false.
bool durable_worker_impl::make_wait(const held_ptr& h) {
    if (waits_too_long(*h)) {
        h->waited_for = std::exchange(h->key, {}); // begins now, to be dead
        return true;
    }
    // The other half is for tasks of other keys.
    const std::size_t half = (std::size_t{options_.max_claimed} + 1) / 2, left = half - std::min(ready_.size(), half);
    if (ready_.waiting(h->key) < std::min<std::size_t>(options_.max_in_flight, left)) {
        claim_longer(*h);
        return true;
    }
    const auto now = steady_clock::now();
    const auto longest = std::chrono::ceil<milliseconds>(ready_.put_off(h->key, now)).count();
    const auto part = static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(longest / 2 + 1));
    release(*h, milliseconds(longest - part)); // they do not come back all at once
    finish_soon(queue_->lane_of(h->shard));
    {
        const std::lock_guard lock(stats_mutex_);
        ++stats_.put_off;
    }
    let_go(h);
    return false;
}

// It waits for its key for longer than its claim.
void durable_worker_impl::claimed_again(const held_ptr& h) {
    if (h->begins) return;
    if (waits_too_long(*h)) {
        auto last = std::make_shared<held_task>(*h); // what waits is not held any more
        last->waited_for = std::exchange(last->key, {});
        held_[last->task.id] = last;
        ready_.push({}, last, steady_clock::now());
        return pump();
    }
    claim_longer(*h);
}

void durable_worker_impl::pump() {
    while (ready_.size() > 0 && slots_ < options_.max_in_flight && !draining_ && !ended_) {
        const auto next = ready_.next(options_.max_in_flight - slots_, steady_clock::now());
        if (!next) break;
        const held_ptr& h = *next;
        ++slots_;
        const auto found = held_.find(h->task.id);
        if (found == held_.end() || found->second != h) {
            slot_came(h->key);
            continue;
        }
        h->begins = true;
        const std::uint32_t lane = queue_->lane_of(h->shard);
        lanes_[lane].begins.push_back(h);
        post_begin(lane);
    }
    note_sizes();
    room_came();
    look_again();
}

void durable_worker_impl::look_again() {
    if (draining_ || ended_ || !ready_.look_again() || std::exchange(again_armed_, true)) return;
    again_timer_.expires_after(gate_interval);
    again_timer_.async_wait([weak = weak_from_this()](error_code ec) {
        const auto self = weak.lock();
        if (ec || self == nullptr) return;
        self->again_armed_ = false;
        self->pump();
    });
}

void durable_worker_impl::slot_came(const std::string& key, std::optional<steady_clock::duration> ran_for) {
    --slots_;
    ready_.ended(key, ran_for, steady_clock::now());
}

// Posted, so that all tasks of one turn of the wheel share a batch.
void durable_worker_impl::post_begin(std::uint32_t lane) {
    lane_state& l = lanes_[lane];
    if (l.begin_posted || !may_send(l.begins.size(), l.begins_under_way)) return;
    l.begin_posted = true;
    asio::post(queue_->executor(), [self = shared_from_this(), lane] {
        lane_state& state = self->lanes_[lane];
        state.begin_posted = false;
        if (state.begins.empty()) return;
        ++state.begins_under_way;
        self->spawn([self, lane, batch = self->take_batch(state.begins)] { return begin_batch(self, lane, batch); });
        self->post_begin(lane);
    });
}

// Returns false if the record cannot be read here.
bool durable_worker_impl::read(held_task& h) {
    if (h.envelope) return true;
    // An occurrence does not need the trigger, whose time zone may be unknown here.
    auto envelope = decode_envelope(h.task.envelope, h.task.recurring);
    if (!envelope || (h.task.recurring && !envelope->recurring)) return false;
    h.envelope = std::move(envelope);
    std::string().swap(h.task.envelope);
    return true;
}

bool durable_worker_impl::plan(held_task& h, begin_request& request) {
    if (!read(h)) return false;
    if (h.sent) {
        request = *h.sent;
        return true;
    }
    request.shard = h.shard;
    request.id = h.task.id;
    request.generation = h.task.generation;
    request.attempt = h.task.attempt;
    if (!h.task.recurring) return true;
    const std::int64_t now = queue_->clock(h.shard).now_us(steady_clock::now()) / us_per_ms;
    run_plan planned =
        plan_runs(*h.envelope->recurring, h.task.id, h.task.due, now, options_.misfire_grace.count(), h.task.runs_left);
    request.occurrences = std::move(planned.occurrences);
    request.next_due = planned.next_due;
    request.runs_left = planned.runs_left;
    h.missed = planned.missed;
    h.sent = request;
    return true;
}

asio::awaitable<void> durable_worker_impl::begin_batch(self_ptr self, std::uint32_t lane, std::vector<held_ptr> batch) {
    std::vector<begin_request> requests;
    std::vector<held_ptr> asked;
    for (held_ptr& h : batch) {
        begin_request request;
        if (self->plan(*h, request)) {
            requests.push_back(std::move(request));
            asked.push_back(std::move(h));
        } else {
            // Its claim runs out, and perhaps another worker can read it.
            self->slot_came(h->key);
            self->report(durable_event::kind::unreadable, h->task.id);
            self->let_go(h);
        }
    }
    answer<begun_tasks> answers;
    const auto sent = steady_clock::now();
    if (!requests.empty())
        answers = co_await self->queue_->store().begin(self->options_.lease.count(), self->nonce_, requests);
    --self->lanes_[lane].begins_under_way;
    const auto received = steady_clock::now();
    if (answers.error)
        self->trouble(answers.error);
    else if (!asked.empty())
        self->queue_->clock(asked.front()->shard).observe(sent, received, answers.value.now_us);
    const bool too_late = received - sent >= self->options_.lease;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        const auto& one = answers.value.tasks[i];
        if (!one)
            self->park(asked[i]);
        else if (one->attempt > 0 && too_late)
            self->never_begun(asked[i], *one);
        else
            self->begun(asked[i], requests[i], *one, sent);
    }
    self->post_begin(lane);
    self->pump();
    self->end_if_drained();
}

void durable_worker_impl::begun(const held_ptr& h, const begin_request& request, const begun_task& answer,
                                steady_clock::time_point sent) {
    if (ended_) return;
    if (answer.attempt > 0 || (answer.attempt == 0 && h->task.recurring && request.occurrences.empty())) {
        const std::lock_guard lock(stats_mutex_);
        stats_.missed += h->missed;
    }
    if (answer.attempt > 0) {
        let_go(h);
        deliver(h, request, answer, sent);
        return;
    }
    slot_came(h->key);
    if (answer.attempt == 0) {
        {
            const std::lock_guard lock(stats_mutex_);
            ++stats_.gone;
        }
        let_go(h);
        return;
    }
    {
        const std::lock_guard lock(stats_mutex_);
        ++stats_.early;
    }
    if (draining_) return; // release_all() has given it back
    h->ready = h->begins = false;
    h->sent.reset(); // planned anew: the time has passed
    arm(h, steady_clock::now() + microseconds(-answer.attempt));
}

// The answer took longer than the lease, because the network or this process stood still. Another worker may have the
// task, or cancel() may have answered that no handler starts.
void durable_worker_impl::never_begun(const held_ptr& h, const begun_task& answer) {
    if (ended_) return;
    slot_came(h->key);
    report(durable_event::kind::lease_lost, h->task.id,
           {answer.generation, static_cast<std::uint32_t>(answer.attempt)});
    let_go(h);
}

void durable_worker_impl::deliver(const held_ptr& h, const begin_request& request, const begun_task& answer,
                                  steady_clock::time_point sent) {
    const auto d = std::make_shared<delivery>(shared_from_this(), options_.executor);
    std::string id = h->task.id;
    std::int64_t due = h->task.due;
    if (h->task.recurring) {
        due = request.occurrences.front();
        id += '@' + std::to_string(due);
    }
    const auto late = microseconds(queue_->clock(h->shard).now_us(steady_clock::now()) - due * us_per_ms);
    {
        const std::lock_guard lock(stats_mutex_);
        ++stats_.begun;
        stats_.lateness.record(late);
    }
    const fencing_token token{answer.generation, static_cast<std::uint32_t>(answer.attempt)};
    d->fill(std::move(id), std::move(*h->envelope), token, h->task.max_attempts, due, std::max(late, microseconds(0)),
            h->shard, h->key);
    d->leased_until(sent + options_.lease);
    running_.emplace(d.get(), d);
    note_sizes();
    if (h->waited_for.empty()) return handler_->start(d);
    d->ended(durable_outcome::give_back("there was no place at " + h->waited_for)); // which comes too late
}

void durable_worker_impl::park(const held_ptr& h) {
    slot_came(h->key);
    if (draining_) return;
    parked_.push_back(h);
}

void durable_worker_impl::unpark() {
    for (const held_ptr& h : std::exchange(parked_, {})) {
        h->key.clear(); // it may have begun, and then its lease runs
        ready_.push({}, h, steady_clock::now());
    }
    pump();
}

void durable_worker_impl::let_go(const held_ptr& h) {
    const auto found = held_.find(h->task.id);
    if (found != held_.end() && found->second == h) held_.erase(found);
    note_sizes();
    room_came();
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
