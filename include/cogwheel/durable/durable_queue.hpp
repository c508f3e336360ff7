// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A queue of tasks that outlive the machine: a task that was scheduled here fires although this process, the workers
// and the server have died and come back. Target cogwheel::durable.
//
//     cogwheel::durable_queue queue(wheel, {.redis = cogwheel::redis_options::from_url("redis://127.0.0.1:6379")});
//     co_await queue.open(asio::use_awaitable);
//     cogwheel::durable_task task{.id = "order-17", .when = cogwheel::task_trigger::once(30min)};
//     co_await queue.schedule(std::move(task), asio::use_awaitable); // GCC 12 crashes with {...} within a co_await
//
// The tasks live in a Redis server, or in a journal of this process (a task_storage). durable_worker runs them.
//
// - At least once: a task whose schedule() succeeded is tried until a handler answers, or its attempts are used up.
// - Never early, by the server's clock. The clocks of other machines do not matter.
// - Once cancel() has answered `cancelled`, no handler of the task starts.
// - Each run has an id that stays, so that a receiver can drop repetitions. They happen if a lease runs out, or if an
//   answer is lost.
//
// What a loss of power, of a replica or of a master may cost is the choice of durable_options::durability.
// docs/durable.md has the mechanisms and the tests.
//
// Operations. Each takes a completion token last; the completion signature is void(std::error_code, R).
//   Cancellation: terminal, partial and total: the operation completes with operation_aborted; the change may have been
//     made. Executor: the handler's associated one, else the wheel's. Never completes inside the call.
//   Errors: durable_errc, and asio::error::operation_aborted when the queue is destroyed or closed. `not_connected`,
//     `server_full`, `server_busy` and the refusals of a task mean that nothing was changed. After `disconnected`, the
//     change may have been made; so it may after `durability_unknown`, and then R tells what was made. Repeat
//     schedule() with the same id and on_duplicate::keep: it makes no second task while the first one is stored.
//   Complexity: one round trip, unless said otherwise. Thread safety: any thread.
#pragma once

#include <cogwheel/asio/timer_wheel.hpp>
#include <cogwheel/detail/which_asio.hpp>
#include <cogwheel/durable/detail/completion.hpp>
#include <cogwheel/durable/durable_options.hpp>
#include <cogwheel/durable/durable_task.hpp>
#include <cogwheel/schedule/on_duplicate.hpp>

#include COGWHEEL_ASIO_HEADER(any_io_executor.hpp)

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

class task_storage;

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
class durable_queue_impl;
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// What counts() answers.
struct durable_counts {
    std::uint64_t waiting = 0; ///< not claimed by a worker
    std::uint64_t claimed = 0; ///< claimed by a worker, or running
    std::uint64_t overdue = 0; ///< of the waiting ones: due, and no worker has claimed them
    std::uint64_t done = 0, dead = 0;
    bool paused = false;
    std::chrono::milliseconds oldest{}; ///< how long the first of the overdue ones has been due
};

/// What audit() answers.
struct durable_audit {
    std::uint64_t tasks = 0;    ///< seen
    std::uint64_t repaired = 0; ///< records without a place in the order, or the reverse
};

/// A queue. Lifetime: the wheel's execution context outlives the queue, and so does the storage. The wheel exists until
/// open() has completed.
class durable_queue {
    template <class R, class Token, class Start>
    auto initiate(Token&& token, Start start) {
        return detail::initiate<R>(get_executor(), std::forward<Token>(token), std::move(start));
    }

public:
    using executor_type = asio::any_io_executor;
    static constexpr std::size_t max_batch = 1'000; ///< tasks in one bulk call

    /// Makes a queue in a Redis server. Connects in open(). Errors: std::invalid_argument (options), std::bad_alloc.
    durable_queue(const timer_wheel& wheel, durable_options options);

    /// Makes a queue in a storage, such as a task_journal: for one process. Of the options, `redis`, `name`, `shards`
    /// and `durability` do not count; task_journal_options::sync says if the tasks survive a loss of power.
    durable_queue(const timer_wheel& wheel, task_storage& storage, durable_options options = {});

    durable_queue(const durable_queue&) = delete;
    durable_queue& operator=(const durable_queue&) = delete;
    /// Calls close().
    ~durable_queue();

    executor_type get_executor() const noexcept;
    const durable_options& options() const noexcept;

    /// Connects, and checks that the server can keep the promises. While the server cannot be reached, tries again.
    /// Completion signature: void(std::error_code). Errors: wrong_server, durability_refused, access_denied; trouble()
    ///   says why, in words. Those of the storage.
    template <class Token>
    auto open(Token&& token) {
        return initiate<void>(std::forward<Token>(token), [i = impl_](auto done) { start_open(i, std::move(done)); });
    }
    /// Returns what is wrong, in words that name the value, what is wanted and what to do; empty: nothing is known.
    /// After open() has succeeded: what a damaged journal has lost.
    std::string trouble() const;

    /// Adds a task. Calls that come at the same time share a round trip; if it fails, each of them has its error.
    /// R: durable_receipt. Errors: of the task (durable_task::check()); errc::duplicate_key
    /// (on_duplicate::reject, and a task with this id is stored), task_errc::never (the trigger has no run).
    /// A stored task is one that waits, runs, is dead, or is done and kept for `retention`. on_duplicate::replace of a
    /// recurring task by one with the same trigger and misfire policy keeps its next run, the runs left and a pause: a
    /// program may do so at each start. If nothing else differs, the stored task stays (`existed`).
    template <class Token>
    auto schedule(durable_task task, on_duplicate policy, Token&& token) {
        return initiate<durable_receipt>(std::forward<Token>(token),
                                         [i = impl_, t = std::move(task), policy](auto done) mutable {
                                             start_schedule(i, std::move(t), policy, std::move(done));
                                         });
    }
    template <class Token>
    auto schedule(durable_task task, Token&& token) {
        return schedule(std::move(task), on_duplicate::reject, std::forward<Token>(token));
    }

    /// Adds up to max_batch tasks. R: std::vector<durable_added>, an answer for each task, in order. Each task is added
    /// on its own. Complexity: a round trip for all shards together.
    template <class Token>
    auto schedule_all(std::vector<durable_task> tasks, on_duplicate policy, Token&& token) {
        return initiate<std::vector<durable_added>>(std::forward<Token>(token),
                                                    [i = impl_, t = std::move(tasks), policy](auto done) mutable {
                                                        start_schedule_all(i, std::move(t), policy, std::move(done));
                                                    });
    }

    /// Ends a task. R: durable_cancel_result. Of a recurring task, occurrences under way continue; cancel them by their
    /// own ids.
    template <class Token>
    auto cancel(std::string id, Token&& token) {
        return initiate<durable_cancel_result>(std::forward<Token>(token), [i = impl_, id = std::move(id)](auto done) {
            start_cancel(i, id, std::move(done));
        });
    }

    /// Moves a waiting task. `when`: once() or at(). R: durable_receipt, with a new generation. Errors: no_such_task,
    /// running, task_errc::bad_period (another trigger, or a recurring task: schedule() replaces that), bad_due.
    template <class Token>
    auto reschedule(std::string id, task_trigger when, Token&& token) {
        return initiate<durable_receipt>(std::forward<Token>(token),
                                         [i = impl_, id = std::move(id), w = std::move(when)](auto done) {
                                             start_reschedule(i, id, w, std::move(done));
                                         });
    }

    /// Pauses one waiting task: no attempt begins until resume(). reschedule() moves it, and it stays paused; of a
    /// recurring task, occurrences under way continue. With resume() it goes on at its due time, at once if that has
    /// passed. Nothing changes if it is paused, or goes on, already. Workers of an earlier version know no pause: stop
    /// them first. Completion signature: void(std::error_code). Errors: no_such_task, running.
    template <class Token>
    auto pause(std::string id, Token&& token) {
        return initiate<void>(std::forward<Token>(token),
                              [i = impl_, id = std::move(id)](auto done) { start_hold(i, id, true, std::move(done)); });
    }
    template <class Token>
    auto resume(std::string id, Token&& token) {
        return initiate<void>(std::forward<Token>(token), [i = impl_, id = std::move(id)](auto done) {
            start_hold(i, id, false, std::move(done));
        });
    }

    /// R: std::optional<durable_info>, empty if there is no such task.
    template <class Token>
    auto find(std::string id, Token&& token) {
        return initiate<std::optional<durable_info>>(
            std::forward<Token>(token),
            [i = impl_, id = std::move(id)](auto done) { start_find(i, id, std::move(done)); });
    }

    /// Lists tasks, about `count` a page (1 .. 1,000), in no order. Begin with an empty cursor. A task that is stored
    /// during the whole walk appears at least once. R: durable_page.
    template <class Token>
    auto list(std::string cursor, std::uint32_t count, Token&& token) {
        return initiate<durable_page>(std::forward<Token>(token), [i = impl_, c = std::move(cursor), count](auto done) {
            start_list(i, c, count, false, std::move(done));
        });
    }
    /// The same for dead tasks.
    template <class Token>
    auto dead(std::string cursor, std::uint32_t count, Token&& token) {
        return initiate<durable_page>(std::forward<Token>(token), [i = impl_, c = std::move(cursor), count](auto done) {
            start_list(i, c, count, true, std::move(done));
        });
    }
    /// Lets a dead task wait again: due at once, with no attempt used. R: bool, false if there is no such dead task.
    template <class Token>
    auto redrive(std::string id, Token&& token) {
        return initiate<bool>(std::forward<Token>(token),
                              [i = impl_, id = std::move(id)](auto done) { start_redrive(i, id, std::move(done)); });
    }
    /// Removes a dead or done task. R: bool, false if there is none.
    template <class Token>
    auto purge(std::string id, Token&& token) {
        return initiate<bool>(std::forward<Token>(token),
                              [i = impl_, id = std::move(id)](auto done) { start_purge(i, id, std::move(done)); });
    }

    /// Pauses the queue for all workers: no attempt begins until resume(). Attempts under way continue. The server
    /// keeps the pause. Completion signature: void(std::error_code).
    template <class Token>
    auto pause(Token&& token) {
        return initiate<void>(std::forward<Token>(token),
                              [i = impl_](auto done) { start_pause(i, true, std::move(done)); });
    }
    template <class Token>
    auto resume(Token&& token) {
        return initiate<void>(std::forward<Token>(token),
                              [i = impl_](auto done) { start_pause(i, false, std::move(done)); });
    }

    /// R: durable_counts, the sum of all shards; each shard is one snapshot.
    template <class Token>
    auto counts(Token&& token) {
        return initiate<durable_counts>(std::forward<Token>(token),
                                        [i = impl_](auto done) { start_counts(i, std::move(done)); });
    }
    /// Looks at each stored task, and repairs what a hand or a damaged server left. R: durable_audit. Complexity:
    /// O(tasks), in steps that each hold the server for about a millisecond.
    template <class Token>
    auto audit(Token&& token) {
        return initiate<durable_audit>(std::forward<Token>(token),
                                       [i = impl_](auto done) { start_audit(i, std::move(done)); });
    }

    /// Closes the connection: operations under way complete with operation_aborted, and so do later ones. The tasks
    /// stay.
    void close() noexcept;

private:
    friend class durable_worker;
    using impl_ptr = std::shared_ptr<detail::durable_queue_impl>;

    static void start_open(const impl_ptr&, detail::completion<void>);
    static void start_schedule(const impl_ptr&, durable_task, on_duplicate, detail::completion<durable_receipt>);
    static void start_schedule_all(const impl_ptr&, std::vector<durable_task>, on_duplicate,
                                   detail::completion<std::vector<durable_added>>);
    static void start_cancel(const impl_ptr&, std::string, detail::completion<durable_cancel_result>);
    static void start_reschedule(const impl_ptr&, std::string, task_trigger, detail::completion<durable_receipt>);
    static void start_hold(const impl_ptr&, std::string, bool held, detail::completion<void>);
    static void start_find(const impl_ptr&, std::string, detail::completion<std::optional<durable_info>>);
    static void start_list(const impl_ptr&, std::string, std::uint32_t, bool dead, detail::completion<durable_page>);
    static void start_redrive(const impl_ptr&, std::string, detail::completion<bool>);
    static void start_purge(const impl_ptr&, std::string, detail::completion<bool>);
    static void start_pause(const impl_ptr&, bool, detail::completion<void>);
    static void start_counts(const impl_ptr&, detail::completion<durable_counts>);
    static void start_audit(const impl_ptr&, detail::completion<durable_audit>);

    impl_ptr impl_;
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
