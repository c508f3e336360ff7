// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Runs the tasks of a durable_queue. As many workers as you like share a queue, on as many machines.
//
//     cogwheel::durable_worker worker(queue, {.max_in_flight = 64});
//     auto handler = [](cogwheel::durable_delivery& task) -> asio::awaitable<void> { co_await send(task.body()); };
//     co_await worker.run(handler, asio::use_awaitable);
//
// A worker claims tasks up to one second before they are due, and puts them into the timing wheel of this process. When
// a task is due, the server decides: begin() succeeds for one worker, not before the due time, and not after cancel().
// So lateness is a round trip, whatever the tick of the wheel, and not half of a polling interval.
//
// - A worker that dies loses its claims after claim_lease, and its running attempts after `lease`. Another worker then
//   makes the next attempt. While a handler runs, the wheel extends its lease.
// - A worker that hears nothing from the server begins nothing. It keeps its claims, and goes on when the server is
//   back.
// - After drain(), it gives back what it has not begun at once, and finishes what runs.
#pragma once

#include <cogwheel/counts/lateness_histogram.hpp>
#include <cogwheel/durable/detail/durable_handler.hpp>
#include <cogwheel/durable/durable_queue.hpp>
#include <cogwheel/resilience/retry_budget.hpp>

#include <functional>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
class durable_worker_impl;
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// What a worker reports while it works. For logs and tests.
struct durable_event {
    enum class kind : std::uint8_t {
        done,        ///< the server has the answer
        retry,       ///< the attempt failed; another one comes
        dead,        ///< the last attempt failed, or the handler gave up
        stale,       ///< the answer came too late: a later attempt had begun, or the task was cancelled or replaced
        lease_lost,  ///< the lease of a running attempt ran out, or the task was replaced: the handler is told to stop
        cancelled,   ///< cancel() found the attempt running: the handler is told to stop
        answer_lost, ///< the connection broke before the server took the answer; the worker repeats it
        unreadable,  ///< the record cannot be read here (a newer version, or a time zone that is not installed)
        given_back,  ///< the attempt did not happen (durable_outcome::give_back()), and does not count
        trouble      ///< the server refuses a command; `error` says why. The worker tries again
    };

    kind what = kind::done;
    std::string_view id{};
    fencing_token token{};
    error_code error{};
    std::string_view message{}; ///< of the handler
};

std::string_view to_string(durable_event::kind) noexcept;

/// The options of a worker. Durations are rounded up to milliseconds.
struct durable_worker_options {
    /// A name for the list of workers. Default: host name and process id. A random part is added, because a worker that
    /// was started again is another one. At most 200 bytes.
    std::string name{};

    std::uint32_t max_in_flight = 256;  ///< attempts at once. At least 1
    std::uint32_t max_claimed = 10'000; ///< tasks in the wheel of this process, before they begin. At least 1
    std::uint32_t batch = 100;          ///< tasks in one command, 1 .. 128. More would stop the server for over 1 ms
    /// How long an attempt may run without a sign of life of its worker. The worker extends it every third of this
    /// time. 1 s to a day.
    std::chrono::milliseconds lease = std::chrono::seconds(30);
    /// How long after its due time a claim is free for other workers, if no attempt has begun. A worker that died, or a
    /// server that died before its answer came, delays what was claimed by this time. 100 ms to an hour.
    std::chrono::milliseconds claim_lease = std::chrono::milliseconds(750);
    std::chrono::milliseconds horizon = std::chrono::seconds(1); ///< 10 ms to a minute
    /// The least time between two claims of an own shard, unless there is more to claim, or a task comes that is due
    /// within half a second. 10 to 500 ms. If nothing is due sooner, the next one follows within 10 s: the server tells
    /// the worker what comes meanwhile. While the worker does not hear from it, claims follow in this interval.
    std::chrono::milliseconds claim_interval = std::chrono::milliseconds(250);
    std::chrono::milliseconds other_shards = std::chrono::seconds(5);     ///< the same, of shards of other workers
    std::chrono::milliseconds heartbeat = std::chrono::milliseconds(500); ///< at most silent_after / 2
    std::chrono::milliseconds silent_after = std::chrono::seconds(3);     ///< a silent worker loses its shards

    /// The delay before the next attempt. By default from 0.5 to 1 s, then twice that, and so on, at most 10 min: ten
    /// attempts take from 4 to 9 min.
    cogwheel::backoff backoff = cogwheel::backoff::exponential(std::chrono::seconds(1))
                                    .cap(std::chrono::minutes(10))
                                    .jitter(backoff_jitter::equal);
    /// A budget of retries that handlers share. A retry that it refuses waits for `over_budget` at least. nullptr:
    /// none.
    /// Lifetime: used until run() has completed, which is after the destructor of the worker if that ends it.
    retry_budget* budget = nullptr;
    std::chrono::milliseconds over_budget = std::chrono::minutes(1);

    /// How long after its due time an attempt may wait for what its handler needs and does not get, such as a host
    /// whose circuit is open. Then the task is dead, and its message says why. This worker must have seen for 15 min
    /// (or for max_wait, if that is less) that it is broken: tasks that are late because no worker ran are not in
    /// question. One second or more.
    std::chrono::milliseconds max_wait = std::chrono::hours(24);

    /// A run of a recurring task is missed if it cannot begin within this time. Zero or more.
    std::chrono::milliseconds misfire_grace = std::chrono::seconds(5);

    /// Where handlers run, each on a strand of its own. Default: the executor of the queue's wheel.
    asio::any_io_executor executor{};

    /// Receives events, on the worker's strand: it must not block, and not throw. Called until run() has completed.
    std::function<void(const durable_event&)> on_event{};

    /// Checks the options. Errors: std::invalid_argument that names the value, the range and the remedy.
    void validate() const;
};

/// The counts of a worker since its start.
struct durable_worker_stats {
    std::uint64_t claimed = 0; ///< tasks that a claim brought; a task can be claimed again
    std::uint64_t begun = 0;   ///< attempts
    std::uint64_t done = 0, retried = 0, dead = 0, stale = 0, given_back = 0;
    std::uint64_t gone = 0;     ///< claims that somebody else began, cancelled or replaced
    std::uint64_t early = 0;    ///< begins that the server refused because the due time had not come; they are repeated
    std::uint64_t missed = 0;   ///< runs of recurring tasks that did not happen
    std::uint64_t troubles = 0; ///< commands that failed
    std::size_t held = 0;       ///< claimed, not begun
    std::size_t waiting = 0;    ///< of these, due, and wait for a slot or for what their handler needs
    std::chrono::milliseconds longest_wait{}; ///< of these, how long the first has been due; at the last heartbeat
    std::uint64_t put_off = 0; ///< due tasks that were given back for a time, because too many wait for the same
    std::size_t in_flight = 0; ///< attempts that run now
    std::size_t own_shards = 0;
    lateness_histogram lateness{}; ///< of each attempt's begin, by the server's clock
};

/// A worker. Thread safety: any thread. Lifetime: the queue outlives the worker, and the execution context of its wheel
/// outlives both.
class durable_worker {
public:
    /// Errors: std::invalid_argument (options), std::bad_alloc.
    explicit durable_worker(durable_queue& queue, durable_worker_options options = {});
    durable_worker(const durable_worker&) = delete;
    durable_worker& operator=(const durable_worker&) = delete;
    /// Calls stop(). Handlers may continue; their answers do not count any more.
    ~durable_worker();

    /// Runs tasks until drain() or stop(). Opens the queue if it is not open.
    /// Parameters: `handler`: takes a durable_delivery&, and returns nothing (done) or a durable_outcome; or a
    ///   coroutine that does. An exception is a failed attempt with its message.
    /// Completion signature: void(std::error_code): success after drain(); operation_aborted after stop(); why the
    ///   queue could not be opened. Preconditions: called once.
    template <class Token>
    auto run(detail::durable_handler handler, Token&& token) {
        return detail::initiate<void>(
            get_executor(), std::forward<Token>(token),
            [i = impl_, h = std::move(handler)](auto done) mutable { start(i, std::move(h), std::move(done)); });
    }

    /// Begins nothing more, gives back what has not begun, and lets run() complete when all attempts have ended and the
    /// server has their answers.
    void drain();
    /// Ends run() at once, and tells the handlers to stop. Their tasks are tried again when their leases have run out.
    void stop();

    asio::any_io_executor get_executor() const noexcept;
    /// Returns the id of this worker, as others see it.
    const std::string& id() const noexcept;
    durable_worker_stats stats() const;

private:
    using impl_ptr = std::shared_ptr<detail::durable_worker_impl>;
    static void start(const impl_ptr&, detail::durable_handler, detail::completion<void>);

    impl_ptr impl_;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
