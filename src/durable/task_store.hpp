// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a queue and its workers ask of a backend. redis_store does it by scripts in a server, journal_store by a table
// in memory and a journal. One suite of tests runs on both, and a model test compares them step by step.
//
// Time is the store's own: milliseconds since 1970, by the server's clock. Each change happens as a whole or not at
// all.
//
// A task is a record: generation, state, attempt, max_attempts, due time, runs left, and an envelope, which only the
// C++ code reads. Its place in the order of a shard is one number, its score:
//     +due                    it waits, and no worker has claimed it
//     -(end of the lease)     a worker has claimed it, or runs it; or it was given back, and nobody takes it before
//     held_place              it waits and is paused
#pragma once

#include <cogwheel/durable/durable_task.hpp>
#include <cogwheel/schedule/on_duplicate.hpp>

#include COGWHEEL_ASIO_HEADER(awaitable.hpp)

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// Beyond all due times, and a number that Lua's numbers hold.
inline constexpr std::int64_t held_place = 9'000'000'000'000'000;

/// Milliseconds from a claim to the next one, at most, for a worker that relies on hints.
inline constexpr std::int64_t most_idle = 10'000;

/// A result, or why there is none.
template <class T>
struct answer {
    error_code error{};
    T value{};
};

template <class T>
using awaitable_answer = asio::awaitable<answer<T>>;

struct new_task {
    std::string id;
    std::int64_t due = 0;  // ms since 1970; or the delay in ms, if `relative`. Below 1: due at once
    bool relative = false; // the store adds its own time
    std::uint32_t max_attempts = 1;
    std::int64_t runs_left = 1; // a recurring task has more than one, or `recurring` is set
    bool recurring = false;
    std::string envelope{};
};

struct past_attempt {
    std::uint32_t attempt = 0;
    std::int64_t ended_ms = 0;
    bool lease_ran_out = false; // else it failed
    std::string message{};
};

struct stored_task {
    std::string id{};
    std::uint64_t generation = 0;
    durable_state state = durable_state::waiting;
    bool recurring = false;
    bool cancelled = false; // cancel() found it running
    bool paused = false;    // of a waiting task: hold()
    std::uint32_t attempt = 0;
    std::uint32_t max_attempts = 0;
    std::int64_t due = 0; // ms
    std::int64_t runs_left = 1;
    std::string envelope{};              // of a done task: its result; of a dead one: envelope
    std::string message{};               // of the last failure; of a done task: empty
    std::vector<past_attempt> history{}; // attempt_history.hpp
};

struct added_task {
    std::uint64_t generation = 0; // of the record that is stored now; 0: refused (on_duplicate::reject)
    std::int64_t due = 0;
    bool existed = false; // reject: refused; keep: the earlier record stays
};

struct claimed_tasks {
    std::int64_t now_us = 0; // the store's time, in microseconds
    bool more = false;       // the limit on the number or on the bytes ended the claim
    // ms: a claim before finds nothing, unless a hint comes. held_place: paused, or there is nothing
    std::int64_t next = held_place;
    std::vector<stored_task> tasks{};
};

/// A recurring task makes occurrences: tasks of their own, "<id>@<due>". The first one begins in this call; the others
/// wait, due at once. An occurrence that exists already is left alone, and does not begin.
struct begin_request {
    std::string id;
    std::uint64_t generation = 0;
    std::uint32_t attempt = 0; // attempts that had begun at the claim
    std::uint32_t shard = 0;
    // Of a recurring task only:
    std::vector<std::int64_t> occurrences{}; // their due times, ascending; none: all missed ones are skipped
    std::int64_t next_due = 0;               // of the recurring task; 0: it has no further run, and ends
    std::int64_t runs_left = 0;              // after these
};

struct begun_task {
    // > 0: the number of the attempt, which has begun. 0: gone (cancelled, replaced, begun by another worker, done, or
    // the queue is paused). < 0: too early, by that many microseconds: the due time of the task or of the first
    // occurrence has not come; nothing changes.
    std::int64_t attempt = 0;
    std::uint64_t generation = 0; // of the occurrence, or of the task
};

struct begun_tasks {
    std::int64_t now_us = 0;                        // the store's time, in microseconds
    std::vector<std::optional<begun_task>> tasks{}; // nothing: unknown, because of answer::error
};

enum class finish_kind : std::uint8_t {
    ack,    // done. Counts unless a later attempt has begun: a worker that was merely slow makes no duplicate
    nack,   // failed: waits for `delay`; dead if its attempts are used up; gone if cancelled
    fail,   // dead at once
    back,   // did not happen: waits for `delay`, and may be tried once more than before; keeps its due time. Gone if
            // cancelled
    release // gives an unbegun claim back: the task waits as if it had not been claimed, or is claimed for `delay`, so
            // that nobody takes it before, if `attempt` is that of the claim
};

struct finish_request {
    finish_kind kind = finish_kind::ack;
    std::string id;
    std::uint64_t generation = 0;
    std::uint32_t attempt = 0;
    std::int64_t delay = 0; // ms; of nack, back and release
    std::string text{};     // of ack: the result; of nack, fail and back: the message
    std::uint32_t shard = 0;
};

struct attempt_ref {
    std::string id;
    std::uint64_t generation = 0;
    std::uint32_t attempt = 0;
};

enum class extended : std::uint8_t { stale, yes, cancelled }; // cancelled: extended too, but the handler should stop

struct live_workers {
    std::int64_t now_us = 0; // the store's time
    std::vector<std::string> names{};
};

enum class removal : std::uint8_t { not_found, removed, running, recurring };

struct retention_limits {
    std::int64_t done_ms = 0;        // 0: a done task is removed at once
    std::uint32_t max_done = 1'000;  // for each shard; the oldest are removed first
    std::uint32_t max_dead = 10'000; // for each shard
    std::int64_t dead_ms = 30LL * 86'400'000;
};

struct stored_page {
    std::vector<stored_task> tasks{};
    std::string cursor{}; // empty: the last page
};

struct shard_counts {
    std::int64_t now_us = 0;
    std::uint64_t waiting = 0, leased = 0, overdue = 0, done = 0, dead = 0;
    bool paused = false;
    std::int64_t oldest_ms = 0; // how long the first of the overdue ones has been due
};

struct audit_step {
    std::uint64_t seen = 0, repaired = 0;
    std::string cursor{}; // empty: the shard is complete
};

/// Thread safety: one strand, that of the store's executor; see closes_on_any_thread(). Each function may be called
/// while others wait.
/// Preconditions: the requests of one begin() or finish() belong to shards of one server, and exist until the answer.
/// No two have the same id and generation, of finish() also the same attempt. An answer has a value for each, also with
/// an error.
/// Errors: answer::error; durable_errc::disconnected means that the change may have been made.
class task_store {
public:
    virtual ~task_store() = default;

    virtual std::uint32_t shards() const noexcept = 0;
    /// The shard of an occurrence is that of its recurring task.
    std::uint32_t shard_of(std::string_view id) const noexcept;

    /// Connects and checks the server: version, policy, role, durability. Retries until it works, close() is called, or
    /// the server is the wrong one.
    virtual asio::awaitable<error_code> open() = 0;
    /// Calls that wait, and later ones, answer operation_aborted.
    virtual void close() noexcept = 0;
    /// Whether close() needs no strand.
    virtual bool closes_on_any_thread() const noexcept { return false; }
    /// What open() refuses, or what was wrong last, in words.
    virtual std::string trouble() const = 0;
    /// After open(): what is lost although it succeeded, in words.
    virtual std::string damage() const { return {}; }

    /// All tasks of one call belong to one shard. An answer for each, in order.
    virtual awaitable_answer<std::vector<added_task>> add(std::uint32_t shard, std::vector<new_task>, on_duplicate) = 0;
    /// Takes up to n tasks: those whose lease has run out (at most half of n, rounded up), and those due by now +
    /// horizon. Each is leased until max(due, now) + lease. A running task whose lease has run out waits again, or is
    /// dead if its attempts are used up; if cancelled, it is gone. Takes no further task once the envelopes have more
    /// than 4 MiB, half of that for leases that have run out. Trims what the retention does not keep.
    virtual awaitable_answer<claimed_tasks> claim(std::uint32_t shard, std::int64_t horizon_ms, std::uint32_t n,
                                                  std::int64_t lease_ms, const retention_limits&) = 0;
    /// The only decision: the generation matches, the state is waiting, and the store's time has reached the due time.
    /// Raises the attempt, sets the state to running, and leases for lease_ms. A record keeps the nonce of the worker
    /// that began it: so a worker may repeat the call if the answer was lost. Then attempt + 1 runs already, with this
    /// nonce; the answer is the same, and the lease counts from now.
    virtual awaitable_answer<begun_tasks> begin(std::int64_t lease_ms, std::uint32_t nonce,
                                                std::span<const begin_request>) = 0;
    /// An answer for each: true, or false if stale; nothing: unknown, because of answer::error.
    virtual awaitable_answer<std::vector<std::optional<bool>>> finish(const retention_limits&,
                                                                      std::span<const finish_request>) = 0;
    virtual awaitable_answer<std::vector<extended>> extend(std::uint32_t shard, std::int64_t lease_ms,
                                                           std::vector<attempt_ref>) = 0;

    virtual awaitable_answer<removal> cancel(std::string id) = 0;
    /// Gives a waiting task a new due time and a new generation. Answers not_found, running, recurring (refused: its
    /// occurrences would get the names of earlier ones), or removed for success.
    virtual awaitable_answer<removal> reschedule(std::string id, std::int64_t due, bool relative, added_task& now) = 0;
    /// Pauses a waiting task, or ends that. A pause ends a claim, and reschedule() keeps it. Answers not_found, running
    /// or removed for success.
    virtual awaitable_answer<removal> hold(std::string id, bool held) = 0;
    /// no_such_task if there is none.
    virtual awaitable_answer<stored_task> find(std::string id) = 0;
    /// About n tasks, in no order; those stored during the whole walk come at least once.
    virtual awaitable_answer<stored_page> list(std::string cursor, std::uint32_t n) = 0;
    /// Dead tasks, the oldest of each shard first.
    virtual awaitable_answer<stored_page> dead(std::string cursor, std::uint32_t n) = 0;
    /// A dead task waits again: due at once, no attempt used, no history, a new generation. false: there is none.
    virtual awaitable_answer<bool> redrive(std::string id) = 0;
    /// Removes a done or dead task. false: there is none.
    virtual awaitable_answer<bool> purge(std::string id) = 0;
    virtual asio::awaitable<error_code> pause(bool paused) = 0; // all shards
    virtual awaitable_answer<shard_counts> counts(std::uint32_t shard) = 0;
    /// Repairs what a crash or a hand left: records without a place in the order, and the reverse. Steps of about n.
    virtual awaitable_answer<audit_step> audit(std::uint32_t shard, std::string cursor, std::uint32_t n) = 0;

    /// Says that a worker lives. Answers all workers that did so within ttl_ms, sorted.
    virtual awaitable_answer<live_workers> heartbeat(std::string worker, std::int64_t ttl_ms) = 0;
    /// Takes a worker off the list, and tells the others (on_workers).
    virtual asio::awaitable<error_code> retire(std::string worker) = 0;

    struct hints {
        /// A task came that is due before a claim that was put off until claimed_tasks::next, or by up to most_idle. If
        /// `soon`, it is due within half a second: claim at once.
        std::function<void(std::uint32_t shard, bool soon)> on_wake{};
        std::function<void()> on_workers{};   // a worker came or went
        std::function<void()> on_alive{};     // hints arrive: with the heartbeats of one of the workers
        std::function<void()> on_connected{}; // the connection is there, for the first time or again
    };
    /// Hints may be lost, but then on_alive is silent, or on_connected follows. Called on the store's strand. Called at
    /// most once.
    virtual void listen(hints) = 0;
};

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
