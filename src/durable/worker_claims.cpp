// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The loops of a worker: claims, heartbeats, and the extension of leases.
#include "durable_worker_impl.hpp"
#include "shard_owner.hpp"

#include <algorithm>
#include <map>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

using std::chrono::microseconds;
using std::chrono::milliseconds;

namespace {

// After a command that failed. A reconnection ends the pause earlier.
constexpr milliseconds after_trouble(100);

} // namespace

asio::awaitable<void> durable_worker_impl::run(self_ptr self) {
    const error_code ec = co_await durable_queue_impl::open(self->queue_);
    if (ec || self->ended_) {
        self->end(ec);
        co_return;
    }
    task_store& store = self->queue_->store();
    const auto make_sleeper = [&] {
        return std::make_shared<sleeper>(self->queue_->wheel(), self->queue_->executor());
    };
    self->heart_ = make_sleeper();
    self->extender_ = make_sleeper();
    std::vector<shard_state> shards(store.shards());
    for (shard_state& s : shards) s.pause = make_sleeper();
    self->lanes_.resize(self->queue_->lanes());
    self->shards_ = std::move(shards);
    const std::weak_ptr<durable_worker_impl> weak = self;
    self->listener_ = self->queue_->listen({.on_wake =
                                                [weak](std::uint32_t shard, bool soon) {
                                                    if (const auto w = weak.lock()) w->woken(shard, soon);
                                                },
                                            .on_workers =
                                                [weak] {
                                                    if (const auto w = weak.lock()) w->heart_->wake();
                                                },
                                            .on_alive =
                                                [weak] {
                                                    if (const auto w = weak.lock()) w->heard();
                                                },
                                            .on_connected =
                                                [weak] {
                                                    if (const auto w = weak.lock()) w->connected();
                                                }});
    self->spawn([self] { return heartbeat_loop(self); });
    self->spawn([self] { return extend_loop(self); });
    for (std::uint32_t i = 0; i < store.shards(); ++i) self->spawn([self, i] { return claim_loop(self, i); });
}

asio::awaitable<void> durable_worker_impl::heartbeat_loop(self_ptr self) {
    while (!self->draining_ && !self->ended_) {
        const answer<live_workers> beat =
            co_await self->queue_->store().heartbeat(self->id_, self->options_.silent_after.count());
        if (self->draining_ || self->ended_) break;
        if (beat.error) {
            self->trouble(beat.error);
        } else {
            self->see_time(steady_clock::now(), beat.value.now_us);
            self->own_by(beat.value.names);
        }
        if (std::exchange(self->was_hearing_, self->hears()) && !self->hears()) self->claim_all_soon();
        self->unpark();
        self->note_longest_wait();
        const bool on = co_await self->heart_->sleep(beat.error ? after_trouble : self->options_.heartbeat);
        if (!on) self->end(errc::stopped);
    }
}

void durable_worker_impl::own_by(const std::vector<std::string>& workers) {
    std::size_t own = 0;
    for (std::uint32_t i = 0; i < shards_.size(); ++i) {
        const bool mine = shard_owner(i, workers) == id_;
        own += mine ? 1U : 0U;
        if (!std::exchange(shards_[i].own, mine) && mine) claim_soon(shards_[i], {});
    }
    const std::lock_guard lock(stats_mutex_);
    stats_.own_shards = own;
}

// A claim under way does not count: what is new may have come after it.
void durable_worker_impl::claim_soon(shard_state& s, milliseconds delay) {
    const auto at = steady_clock::now() + delay;
    if (at >= s.claim_at) return;
    s.claim_at = at;
    s.pause->wake();
}

void durable_worker_impl::claim_all_soon() {
    for (shard_state& s : shards_)
        if (s.own) claim_soon(s, {});
}

// What is not due soon is claimed early enough, and with what else comes meanwhile.
void durable_worker_impl::woken(std::uint32_t shard, bool soon) {
    if (shard < shards_.size() && shards_[shard].own)
        claim_soon(shards_[shard], soon ? milliseconds(0) : options_.claim_interval);
}

// A clock that was set changes what is due. In a cluster, this is the clock of one of the servers.
void durable_worker_impl::see_time(steady_clock::time_point received, std::int64_t server_us) {
    const auto ahead = microseconds(server_us) - std::chrono::floor<microseconds>(received.time_since_epoch());
    if (std::chrono::abs(ahead - std::exchange(ahead_, ahead)) > options_.claim_interval) claim_all_soon();
}

void durable_worker_impl::connected() {
    extender_->wake(); // first: the leases may be about to run out
    heart_->wake();
    claim_all_soon();
    unpark();
}

// Whether the tasks that wait for a slot only would fill all of them. It looks at all keys: not too often.
bool durable_worker_impl::has_enough() {
    constexpr milliseconds pause(10);
    const auto now = steady_clock::now();
    if (ready_.size() < options_.max_in_flight) return false;
    if (now < looked_ + pause) return enough_;
    looked_ = now;
    return enough_ = ready_.startable(now) >= options_.max_in_flight;
}

// Tasks that this worker may claim. If tasks that are due wait for a slot, other workers should have the next ones.
// Those that wait for a slow key keep no others out.
std::uint32_t durable_worker_impl::room() {
    const std::size_t taken = held_.size() + reserved_;
    if (taken >= options_.max_claimed) return 0;
    if (has_enough()) return 0;
    const std::size_t left = options_.max_claimed - taken;
    return static_cast<std::uint32_t>(std::min<std::size_t>(options_.batch, (left + 1) / 2)); // some for other shards
}

void durable_worker_impl::room_came() {
    if (draining_ || ended_ || room() == 0) return;
    for (shard_state& s : shards_)
        if (std::exchange(s.wants_room, false)) claim_soon(s, {});
}

asio::awaitable<void> durable_worker_impl::claim_loop(self_ptr self, std::uint32_t shard) {
    shard_state& state = self->shards_[shard];
    // Soon after its start a worker looks at all shards once: if workers die and start again in a row, a shard may
    // belong to dead ones for long. Later, the other shards are claimed at different moments.
    const auto part_of = [&](milliseconds all) {
        return std::chrono::duration_cast<milliseconds>(all * (shard + 1) / self->shards_.size());
    };
    state.claim_at = steady_clock::now() + part_of(self->options_.claim_interval);
    auto others = part_of(self->options_.other_shards);
    while (!self->draining_ && !self->ended_) {
        const auto pause = std::max(state.claim_at - steady_clock::now(), steady_clock::duration(0));
        const bool on = co_await state.pause->sleep(pause);
        if (!on) self->end(errc::stopped);
        if (self->draining_ || self->ended_) break;
        if (steady_clock::now() < state.claim_at) continue; // a hint changed it
        co_await claim_once(self, shard, state.own ? self->options_.claim_interval : others);
        others = self->options_.other_shards;
    }
}

// Claims, and sets when to claim again: after `interval`; an own shard, while hints arrive, when something is due.
asio::awaitable<void> durable_worker_impl::claim_once(self_ptr self, std::uint32_t shard, milliseconds interval) {
    shard_state& state = self->shards_[shard];
    const durable_worker_options& o = self->options_;
    const bool waits_for_hints = state.own && self->hears();
    const std::uint32_t n = self->room();
    if (n == 0) {
        state.claim_at = steady_clock::now() + interval;
        state.wants_room = true;
        co_return;
    }
    self->reserved_ += n;
    state.claim_at = steady_clock::time_point::max(); // hints that come meanwhile set it
    const auto sent = steady_clock::now();
    answer<claimed_tasks> claimed = co_await self->queue_->store().claim(shard, o.horizon.count(), n,
                                                                         o.claim_lease.count(), self->queue_->limits());
    const auto received = steady_clock::now();
    self->reserved_ -= n;
    if (claimed.error || !waits_for_hints)
        self->claim_soon(state, interval);
    else
        self->claim_soon(state, std::clamp(milliseconds(claimed.value.next - claimed.value.now_us / 1'000),
                                           o.claim_interval, milliseconds(most_idle)));
    if (self->ended_) co_return;
    if (claimed.error) {
        self->trouble(claimed.error);
        self->end_if_drained();
        co_return;
    }
    self->queue_->clock(shard).observe(sent, received, claimed.value.now_us);
    {
        const std::lock_guard lock(self->stats_mutex_);
        self->stats_.claimed += claimed.value.tasks.size();
    }
    for (stored_task& t : claimed.value.tasks) self->hold(shard, std::move(t));
    if (self->draining_) self->release_all();
    if (claimed.value.more) self->claim_soon(state, {});
    self->room_came();
    self->end_if_drained();
}

asio::awaitable<void> durable_worker_impl::extend_loop(self_ptr self) {
    const auto every = self->options_.lease / 3;
    bool good = true;
    while (!self->ended_ && !(self->draining_ && self->slots_ == 0)) {
        const bool on = co_await self->extender_->sleep(good ? every : after_trouble);
        if (!on || self->ended_) break;
        self->forget_lost();
        good = co_await extend_all(self);
    }
}

// Their leases run out.
void durable_worker_impl::forget_lost() {
    std::erase_if(running_, [this](const auto& d) {
        if (d.second->lost()) slot_came(d.second->key(), d.second->ran_for());
        return d.second->lost();
    });
    note_sizes();
    pump();
}

// Returns false if the server did not answer.
asio::awaitable<bool> durable_worker_impl::extend_all(self_ptr self) {
    bool good = true;
    std::map<std::uint32_t, std::vector<delivery_ptr>> by_shard;
    for (const auto& [key, d] : self->running_) by_shard[d->shard()].push_back(d);
    for (auto& [shard, all] : by_shard) {
        while (!all.empty()) {
            const std::size_t n = std::min<std::size_t>(all.size(), self->options_.batch);
            const std::vector<delivery_ptr> some(all.end() - static_cast<std::ptrdiff_t>(n), all.end());
            all.resize(all.size() - n);
            std::vector<attempt_ref> refs;
            for (const delivery_ptr& d : some) refs.push_back({d->id(), d->token().generation, d->token().attempt});
            const auto sent = steady_clock::now();
            const answer<std::vector<extended>> answers =
                co_await self->queue_->store().extend(shard, self->options_.lease.count(), std::move(refs));
            if (self->ended_) co_return true;
            if (answers.error) {
                self->trouble(answers.error);
                good = false;
            }
            for (std::size_t i = 0; i < answers.value.size() && i < n; ++i) {
                const delivery_ptr& d = some[i];
                if (answers.value[i] != extended::stale) d->leased_until(sent + self->options_.lease);
                if (answers.value[i] == extended::yes || !self->running_.contains(d.get()) || d->stop_requested())
                    continue;
                const bool cancelled = answers.value[i] == extended::cancelled;
                self->report(cancelled ? durable_event::kind::cancelled : durable_event::kind::lease_lost, d->id(),
                             d->token());
                d->stop();
            }
        }
    }
    co_return good;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
