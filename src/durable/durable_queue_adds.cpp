// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// How tasks come into the store. A call of the server costs it more than a task does. So what many callers add one by
// one in the same turn of the strand is sent together, and each caller gets an answer of its own. Nothing waits for
// more to come, and all other calls go behind what was gathered.
#include "durable_queue_impl.hpp"
#include "join.hpp"
#include "run_plan.hpp"
#include "task_envelope.hpp"

#include <cogwheel/tasks/error.hpp>

#include COGWHEEL_ASIO_HEADER(post.hpp)
#include COGWHEEL_ASIO_HEADER(redirect_error.hpp)

#include <algorithm>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

using std::chrono::nanoseconds;

namespace {

constexpr std::size_t chunk_size = 100; // tasks that one call of the server adds
// A gathered chunk takes no further task once its envelopes have so many bytes: it must not hold up the server.
constexpr std::size_t chunk_bytes = 64 * 1024;

} // namespace

// Tasks of one shard, and where their answers go.
struct durable_queue_impl::chunk {
    struct one {
        new_task task;
        durable_added* answer;
        completion<void> done{}; // of a gathered task
    };

    std::uint32_t shard;
    on_duplicate policy;
    std::vector<one> all{};
    std::size_t bytes = 0;
    bool sent = false;

    void end(error_code ec) {
        for (one& o : std::exchange(all, {})) o.done(ec);
    }
};

// Preconditions: the server's time is known, if the task is a recurring one.
error_code durable_queue_impl::translate(const durable_task& from, new_task& to) const {
    if (const auto ec = from.check()) return ec;
    std::optional<nanoseconds> first;
    if (repeats(from.when)) {
        const auto now = std::chrono::microseconds(clocks_.front().now_us(std::chrono::steady_clock::now()));
        first = first_point(from.when, now);
        if (!first) return task_errc::never;
        to.due = due_of(from.when, *first, from.id);
        to.recurring = true;
        to.runs_left = from.when.runs();
    } else {
        to.relative = from.when.what() == task_trigger::kind::once;
        nanoseconds due = from.when.first_delay();
        if (from.when.jitter() > nanoseconds::zero())
            due = std::chrono::milliseconds(due_of(from.when, due, from.id)); // the same for a repeated call
        to.due = ms_of(due);
    }
    to.id = from.id;
    to.max_attempts = from.max_attempts;
    to.envelope = encode(from, first);
    return {};
}

asio::awaitable<void> durable_queue_impl::add(self_ptr self, std::shared_ptr<chunk> c) {
    std::vector<new_task> tasks;
    tasks.reserve(c->all.size());
    for (chunk::one& o : c->all) tasks.push_back(std::move(o.task));
    const answer<std::vector<added_task>> added = co_await self->store_->add(c->shard, std::move(tasks), c->policy);
    for (std::size_t i = 0; i < c->all.size(); ++i) {
        durable_added& to = *c->all[i].answer;
        to.error = added.error;
        if (i >= added.value.size()) continue;
        const added_task& from = added.value[i];
        to.receipt = {from.generation, point_of(from.due), from.existed};
        if (!to.error && from.existed && c->policy == on_duplicate::reject) to.error = errc::duplicate_key;
    }
}

void durable_queue_impl::gather(const self_ptr& self, new_task&& task, on_duplicate policy, durable_added& answer,
                                completion<void> done) {
    const std::uint32_t shard = self->store_->shard_of(task.id);
    std::shared_ptr<chunk> open = self->gathered_[shard].lock();
    if (open != nullptr && (open->policy != policy || open->all.size() == chunk_size || open->bytes >= chunk_bytes))
        send(self, std::exchange(open, nullptr));
    if (open == nullptr) {
        open = std::make_shared<chunk>(chunk{.shard = shard, .policy = policy});
        asio::post(self->strand_, [self, open] { send(self, open); });
        self->gathered_[shard] = open;
    }
    open->bytes += task.envelope.size();
    open->all.push_back({std::move(task), &answer, std::move(done)});
}

void durable_queue_impl::send(const self_ptr& self, const std::shared_ptr<chunk>& c) {
    if (std::exchange(c->sent, true)) return;
    const auto at = self->gathered_.find(c->shard);
    if (at != self->gathered_.end() && at->second.lock() == c) self->gathered_.erase(at);
    try {
        asio::co_spawn(self->strand_, add(self, c),
                       [c](const std::exception_ptr& thrown) { c->end(thrown ? code_of(thrown) : error_code()); });
    } catch (...) {
        c->end(code_of(std::current_exception()));
    }
}

void durable_queue_impl::send_gathered(const self_ptr& self) {
    for (const auto& [shard, weak] : std::exchange(self->gathered_, {}))
        if (const auto c = weak.lock()) send(self, c);
}

awaitable_answer<durable_receipt> durable_queue_impl::schedule(self_ptr self, durable_task task, on_duplicate policy) {
    answer<durable_receipt> result;
    if (self->closed_) result.error = asio::error::operation_aborted;
    if (!result.error && repeats(task.when)) result.error = co_await know_the_time(self);
    new_task translated;
    if (!result.error) result.error = self->translate(task, translated);
    if (result.error) co_return result;
    durable_added added;
    auto start = [&](completion<void> done) { gather(self, std::move(translated), policy, added, std::move(done)); };
    co_await initiate<void>(self->strand_, asio::redirect_error(asio::use_awaitable, result.error), std::move(start));
    if (!result.error) result.error = added.error;
    result.value = added.receipt;
    co_return result;
}

awaitable_answer<std::vector<durable_added>>
durable_queue_impl::schedule_all(self_ptr self, std::vector<durable_task> tasks, on_duplicate policy) {
    answer<std::vector<durable_added>> result;
    if (self->closed_) {
        result.error = asio::error::operation_aborted;
        co_return result;
    }
    if (tasks.size() > durable_queue::max_batch) {
        result.error = durable_errc::too_many_tasks;
        co_return result;
    }
    if (std::ranges::any_of(tasks, [](const durable_task& t) { return repeats(t.when); }))
        result.error = co_await know_the_time(self);
    if (result.error) co_return result;
    send_gathered(self);

    result.value.resize(tasks.size());
    std::map<std::uint32_t, std::shared_ptr<chunk>> open;
    std::vector<asio::awaitable<void>> all;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        durable_added& to = result.value[i];
        new_task translated;
        to.error = self->translate(tasks[i], translated);
        if (to.error) continue;
        const std::uint32_t shard = self->store_->shard_of(translated.id);
        auto& c = open[shard];
        if (c != nullptr && c->all.size() == chunk_size) all.push_back(add(self, std::exchange(c, nullptr)));
        if (c == nullptr) c = std::make_shared<chunk>(chunk{.shard = shard, .policy = policy});
        c->all.push_back({std::move(translated), &to});
    }
    for (auto& [shard, c] : open)
        if (c != nullptr) all.push_back(add(self, c));
    co_await join(self->strand_, std::move(all));
    co_return result;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
