// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A worker without its public face. All of it runs on the strand of its queue, except delivery::ended().
//
// The way of a task:
//
//     claim loop -> held (a timer of the wheel) -> near -> ready -> begin batch -> delivery (the handler runs)
//         -> finish batch
//
// What is ready waits for a slot, and if the handler has a gate, for its key to have a place. If too many wait for a
// slow key, further ones are put off: given back, so that nobody claims them for a time.
//
// worker_claims.cpp has the loops that claim, beat and extend; worker_begins.cpp the way from the timer to the handler;
// worker_finishes.cpp the way of the answers, and the end of the worker.
#pragma once

#include "durable_queue_impl.hpp"
#include "ready_tasks.hpp"
#include "sleeper.hpp"
#include "task_envelope.hpp"

#include <cogwheel/durable/durable_worker.hpp>
#include <cogwheel/resilience/random.hpp>

#include COGWHEEL_ASIO_HEADER(steady_timer.hpp)

#include <atomic>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

class durable_worker_impl : public std::enable_shared_from_this<durable_worker_impl> {
public:
    using self_ptr = std::shared_ptr<durable_worker_impl>;

    durable_worker_impl(std::shared_ptr<durable_queue_impl> queue, durable_worker_options options);

    const std::string& id() const noexcept { return id_; }
    asio::any_io_executor handler_executor() const { return options_.executor; }
    durable_queue_impl& queue() noexcept { return *queue_; }
    durable_worker_stats stats() const;

    // Any thread.
    static void start(const self_ptr&, durable_handler, completion<void>);
    static void drain(const self_ptr&);
    static void stop(const self_ptr&);

private:
    class delivery;
    using delivery_ptr = std::shared_ptr<delivery>;
    using steady_clock = std::chrono::steady_clock;
    using milliseconds = std::chrono::milliseconds;

    /// A claimed task that has not begun.
    struct held_task {
        stored_task task;
        std::optional<task_envelope> envelope{}; // once it was read; then task.envelope is empty
        std::optional<begin_request> sent{};     // to repeat it if the answer is lost
        std::uint64_t missed = 0;                // runs that this begin leaves out
        std::uint32_t shard = 0;
        bool ready = false;       // its time has come: it is in ready_, in a batch or parked
        bool begins = false;      // it is in a batch or parked
        std::string key{};        // of the gate
        std::string waited_for{}; // the key for which it has waited too long: it begins only to be dead
        timer_token timer{};
    };
    using held_ptr = std::shared_ptr<held_task>;

    struct near_task {
        steady_clock::time_point at; // when to ask for it
        held_ptr task;
        bool operator<(const near_task& o) const noexcept { return at > o.at; } // the earliest is the top of a heap
    };

    struct shard_state {
        bool own = false;
        bool wants_room = false; // its last claim found no room
        steady_clock::time_point claim_at{};
        std::shared_ptr<sleeper> pause{};
    };
    /// Of the shards that share calls.
    struct lane_state {
        std::deque<held_ptr> begins{};
        std::deque<finish_request> finishes{};
        std::deque<finish_request> refused{};  // the server answered an error
        std::deque<finish_request> repeated{}; // the server may have taken them: the connection was lost
        bool retrying = false;
        bool begin_posted = false, finish_posted = false, finish_waits = false;
        unsigned begins_under_way = 0, finishes_under_way = 0;
    };

    // worker_claims.cpp
    static asio::awaitable<void> run(self_ptr);
    static asio::awaitable<void> claim_loop(self_ptr, std::uint32_t shard);
    static asio::awaitable<void> claim_once(self_ptr, std::uint32_t shard, milliseconds interval);
    static asio::awaitable<void> heartbeat_loop(self_ptr);
    static asio::awaitable<void> extend_loop(self_ptr);
    static asio::awaitable<bool> extend_all(self_ptr);
    void forget_lost();
    void own_by(const std::vector<std::string>& workers);
    std::uint32_t room();
    bool has_enough();
    void room_came();
    void claim_soon(shard_state&, milliseconds delay);
    void claim_all_soon();
    void woken(std::uint32_t shard, bool soon);
    void connected();
    void heard() { hears_until_ = steady_clock::now() + options_.silent_after; }
    bool hears() const { return steady_clock::now() < hears_until_; }
    void see_time(steady_clock::time_point received, std::int64_t server_us);

    // worker_begins.cpp
    void hold(std::uint32_t shard, stored_task&&);
    void arm(const held_ptr&, steady_clock::time_point);
    void await_exactly(const held_ptr&, steady_clock::time_point);
    void arm_near_timer();
    void fired(const held_ptr&);
    bool read(held_task&);
    bool make_wait(const held_ptr&);
    void claimed_again(const held_ptr&);
    void claim_longer(const held_task&);
    milliseconds waited(std::uint32_t shard, std::int64_t due);
    milliseconds patience() const;
    bool waits_too_long(const held_task&);
    void note_longest_wait();
    void pump();
    void look_again();
    void slot_came(const std::string& key, std::optional<steady_clock::duration> ran_for = {});
    void post_begin(std::uint32_t lane);
    static asio::awaitable<void> begin_batch(self_ptr, std::uint32_t lane, std::vector<held_ptr>);
    bool plan(held_task&, begin_request&);
    void begun(const held_ptr&, const begin_request&, const begun_task&, steady_clock::time_point sent);
    void never_begun(const held_ptr&, const begun_task&);
    void deliver(const held_ptr&, const begin_request&, const begun_task&, steady_clock::time_point sent);
    void park(const held_ptr&);
    void unpark();
    void let_go(const held_ptr&);
    void note_sizes() noexcept {
        held_now_ = held_.size();
        running_now_ = running_.size();
        waiting_now_ = ready_.size();
    }

    // worker_finishes.cpp
    void ended(const delivery_ptr&, durable_outcome&&);
    std::int64_t delay_before(const delivery&, const durable_outcome&);
    milliseconds delay_of(const durable_outcome&, std::uint32_t attempt);
    void release(const held_task&, milliseconds delay);
    void finish_soon(std::uint32_t lane);
    void send_finishes();
    void post_finish(std::uint32_t lane);
    void start_finish(std::uint32_t lane);
    void spawn_finish(std::uint32_t lane);
    static asio::awaitable<void> finish_batch(self_ptr, std::uint32_t lane, std::vector<finish_request>);
    static asio::awaitable<void> retry_finishes(self_ptr, std::uint32_t lane);
    std::vector<finish_request> finished(std::vector<finish_request>&&, const std::vector<std::optional<bool>>& taken,
                                         bool repeated);
    void keep_refused(lane_state&, std::vector<finish_request>&&, error_code);
    asio::awaitable<void> wait_for_server();
    void release_all();
    void begin_draining();
    void end_if_drained();
    void end(error_code);

    bool may_send(std::size_t waiting, unsigned under_way) const noexcept;
    template <class T>
    std::vector<T> take_batch(std::deque<T>& from) const;
    void report(durable_event::kind, std::string_view id = {}, fencing_token = {}, error_code = {},
                std::string_view message = {}) noexcept;
    void trouble(error_code) noexcept;
    template <class Coroutine>
    void spawn(Coroutine);

    std::shared_ptr<durable_queue_impl> queue_;
    durable_worker_options options_;
    small_random random_;
    std::string id_;
    std::uint32_t nonce_; // of this worker: begin() can be repeated if its answer was lost
    std::optional<durable_handler> handler_;
    completion<void> done_;
    std::vector<shard_state> shards_;
    std::vector<lane_state> lanes_;
    std::shared_ptr<sleeper> heart_, extender_;
    std::vector<std::shared_ptr<sleeper>> waiting_; // of the lanes that repeat answers
    std::uint64_t listener_ = 0;
    steady_clock::time_point hears_until_{};
    // At the last heartbeat:
    bool was_hearing_ = false;
    std::chrono::microseconds ahead_{}; // the server's clock, of the steady clock here

    std::unordered_map<std::string, held_ptr> held_; // by id
    const steady_clock::duration lead_;              // so much before it is asked for, the wheel makes a task near
    std::vector<near_task> near_;                    // a heap
    asio::steady_timer near_timer_;                  // for its top
    ready_tasks<held_ptr> ready_;
    steady_clock::time_point looked_{}; // at what could start
    bool enough_ = false;
    asio::steady_timer again_timer_; // asks the gate again
    bool again_armed_ = false;
    std::vector<held_ptr> parked_; // the server did not answer their begin
    std::unordered_map<const delivery*, delivery_ptr> running_;
    std::vector<std::uint32_t> finishing_; // lanes whose answers wait
    asio::steady_timer finish_timer_;
    bool finish_armed_ = false;
    const steady_clock::time_point made_ = steady_clock::now();
    std::size_t slots_ = 0;    // attempts that run or are about to begin
    std::size_t reserved_ = 0; // tasks that claims under way may bring
    std::size_t answers_ = 0;  // finish requests that the server has not taken
    bool draining_ = false, retired_ = false, ended_ = false;

    std::atomic<std::size_t> held_now_{0}, running_now_{0}, waiting_now_{0}; // for stats()
    mutable std::mutex stats_mutex_;
    durable_worker_stats stats_;
};

/// One attempt under way.
class durable_worker_impl::delivery final : public running_delivery {
public:
    delivery(const std::shared_ptr<durable_worker_impl>& worker, const asio::any_io_executor& executor)
        : running_delivery(executor), worker_(worker) {}

    void fill(std::string id, task_envelope&& envelope, fencing_token token, std::uint32_t max_attempts,
              std::int64_t due_ms, std::chrono::microseconds lateness, std::uint32_t shard, std::string key);
    void ended(durable_outcome) noexcept override;
    std::uint32_t shard() const noexcept { return shard_; }
    const std::string& key() const noexcept { return key_; }
    steady_clock::duration ran_for() const { return steady_clock::now() - begun_; }
    bool lost() const noexcept { return lost_; }

private:
    std::weak_ptr<durable_worker_impl> worker_;
    std::uint32_t shard_ = 0;
    std::string key_;
    steady_clock::time_point begun_{};
    std::atomic<bool> lost_{false}; // the handler has ended, but there was no memory to tell the worker
};

template <class T>
std::vector<T> durable_worker_impl::take_batch(std::deque<T>& from) const {
    std::vector<T> batch;
    while (!from.empty() && batch.size() < options_.batch) {
        batch.push_back(std::move(from.front()));
        from.pop_front();
    }
    return batch;
}

/// Runs a coroutine on the strand. An exception is trouble, and ends the worker: no loop ends in silence.
template <class Coroutine>
void durable_worker_impl::spawn(Coroutine work) {
    asio::co_spawn(queue_->executor(), std::move(work), [self = shared_from_this()](const std::exception_ptr& thrown) {
        if (!thrown) return;
        const error_code ec = durable_queue_impl::code_of(thrown);
        self->trouble(ec);
        self->end(ec);
    });
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
