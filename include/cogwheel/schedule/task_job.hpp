// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What a task does: a callable or a coroutine, and what it is told of its run.
//
//     [] { rotate_logs(); }
//     [](cogwheel::task_run& run) { send(run.body(), run.stop_token()); }
//     [](cogwheel::task_run& run) -> std::error_code { ... }
//     [&](cogwheel::task_run& run) -> asio::awaitable<void> { co_await upload(run.body()); }
#pragma once

#include <cogwheel/schedule/task.hpp>
#include <cogwheel/wheel/detail/exceptions.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <asio/strand.hpp>

#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <stop_token>
#include <system_error>

namespace cogwheel {

/// One attempt of one run, as its job sees it. Lifetime: until the job has ended. Thread safety: any thread may read it.
class task_run {
public:
    const std::string& name() const noexcept { return name_; }
    const std::string& body() const noexcept { return body_; }
    /// When the run was due, by the clock on the wall.
    task_trigger::wall_point scheduled() const noexcept { return scheduled_; }
    /// 1, 2 ...
    std::uint32_t attempt() const noexcept { return attempt_; }
    /// This attempt had begun already, in a process that died; how far it came is not known.
    bool interrupted() const noexcept { return interrupted_; }

    /// Told to stop: the time limit, cancel(), the next run (task_overlap::replace), the scheduler's end. What the job says then still
    /// counts: it may end well, or with an exception or error, and then was cancelled (with the limit: failed).
    std::stop_token stop_token() const noexcept { return stop_.get_token(); }
    bool stop_requested() const noexcept { return stop_.stop_requested(); }
    /// Throws std::system_error, operation_aborted, if it is told to stop.
    void throw_if_stopped() const;

protected:
    task_run(std::string name, std::string body, task_trigger::wall_point scheduled)
        : name_(std::move(name)), body_(std::move(body)), scheduled_(scheduled) {}
    ~task_run() = default;

    std::string name_, body_;
    task_trigger::wall_point scheduled_;
    std::uint32_t attempt_ = 0;
    bool interrupted_ = false;
    std::stop_source stop_{std::nostopstate}; // one an attempt
};

namespace detail {

/// A run that tells its scheduler when the job has ended.
class reporting_run : public task_run {
public:
    virtual void ended(const std::exception_ptr& thrown, std::error_code error) noexcept = 0;

protected:
    using task_run::task_run;
    ~reporting_run() = default;
};

using run_ptr = std::shared_ptr<reporting_run>;

template <class T>
inline constexpr bool is_coroutine = false;
template <class Executor>
inline constexpr bool is_coroutine<asio::awaitable<void, Executor>> = true;
template <class Executor>
inline constexpr bool is_coroutine<asio::awaitable<std::error_code, Executor>> = true;

/// A job that is a coroutine: being told to stop reaches it as a cancellation signal, on the strand on which it runs.
struct coroutine_stop {
    explicit coroutine_stop(const asio::any_io_executor& executor) : strand(asio::make_strand(executor)) {}

    asio::strand<asio::any_io_executor> strand;
    asio::cancellation_signal signal;
};
struct post_stop {
    std::weak_ptr<coroutine_stop> to;
    void operator()() const {
        const auto alive = to.lock();
        if (alive == nullptr) return;
        COGWHEEL_TRY {
            asio::post(alive->strand, [alive] { alive->signal.emit(asio::cancellation_type::terminal); });
        }
        COGWHEEL_CATCH {
            // No memory: it finds out by stop_requested() only.
        }
    }
};

} // namespace detail

/// Copyable; copies share the callable. One that serves several tasks, or runs that may overlap, is called by several threads at once.
class task_job {
    template <class F>
    static decltype(auto) call(F& f, task_run& run) {
        if constexpr (std::invocable<F&, task_run&>)
            return f(run);
        else
            return f();
    }
    template <class F>
    using result_of = decltype(call(std::declval<F&>(), std::declval<task_run&>()));

public:
    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, task_job>) &&
                (std::invocable<std::decay_t<F>&, task_run&> || std::invocable<std::decay_t<F>&>)
    task_job(F&& f) { // NOLINT(google-explicit-constructor): a job is what it does
        using callable = std::decay_t<F>;
        using result = std::remove_cvref_t<result_of<callable>>;
        static_assert(std::is_void_v<result> || std::convertible_to<result, std::error_code> ||
                          detail::is_coroutine<result>,
                      "a job returns nothing or a std::error_code, or is a coroutine that does: asio::awaitable<void>");
        start_ = [job = std::make_shared<callable>(std::forward<F>(f))](const detail::run_ptr& run,
                                                                        const asio::any_io_executor& executor) {
            if constexpr (detail::is_coroutine<result>)
                spawn(job, run, executor);
            else
                run_now<result>(*job, *run);
        };
    }

    /// Called where the job is to run. Whatever it does is told to run->ended(), once.
    void start(const detail::run_ptr& run, const asio::any_io_executor& executor) const { start_(run, executor); }

private:
    template <class Result, class F>
    static void run_now(F& f, detail::reporting_run& run) {
        std::exception_ptr thrown;
        std::error_code error;
        COGWHEEL_TRY {
            if constexpr (std::is_void_v<Result>)
                call(f, run);
            else
                error = call(f, run);
        }
        COGWHEEL_CATCH { thrown = std::current_exception(); }
        run.ended(thrown, error);
    }

    template <class F>
    static void spawn(const std::shared_ptr<F>& job, const detail::run_ptr& run,
                      const asio::any_io_executor& executor) {
        const auto stop = std::make_shared<detail::coroutine_stop>(executor);
        // On the strand, and the slot first: who is told to stop just now is told when there is somebody who listens.
        asio::post(stop->strand, [job, run, stop] {
            COGWHEEL_TRY { start_coroutine(job, run, stop); }
            COGWHEEL_CATCH { run->ended(std::current_exception(), {}); }
        });
    }

    template <class F>
    static void start_coroutine(const std::shared_ptr<F>& job, const detail::run_ptr& run,
                                const std::shared_ptr<detail::coroutine_stop>& stop) {
        const std::stop_token token = run->stop_token(); // it may have ended when co_spawn() returns
        const auto told = std::make_shared<std::optional<std::stop_callback<detail::post_stop>>>();
        const auto end = [job, run, stop, told](const std::exception_ptr& thrown, std::error_code error = {}) {
            told->reset();
            run->ended(thrown, error);
        };
        // The callable is kept: a coroutine lambda's captures live in it. So is the run, which the coroutine refers to.
        asio::co_spawn(
            stop->strand, [job, run] { return call(*job, *run); },
            asio::bind_cancellation_slot(stop->signal.slot(), end));
        told->emplace(token, detail::post_stop{stop});
    }

    std::function<void(const detail::run_ptr&, const asio::any_io_executor&)> start_;
};

} // namespace cogwheel
