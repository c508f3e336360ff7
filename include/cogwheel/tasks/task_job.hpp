// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The job of a task: a callable or a coroutine. It may take a task_run, which describes its run.
//
//     [] { rotate_logs(); }
//     [](cogwheel::task_run& run) { send(run.body(), run.stop_token()); }
//     [](cogwheel::task_run& run) -> std::error_code { ... }
//     [&](cogwheel::task_run& run) -> asio::awaitable<void> { co_await upload(run.body()); }
#pragma once

#include <cogwheel/detail/exceptions.hpp>
#include <cogwheel/tasks/task.hpp>

#if !__has_include(<stop_token>)
#error "cogwheel::tasks needs <stop_token>: libstdc++, or libc++ 18 with -fexperimental-library"
#endif

#include COGWHEEL_ASIO_HEADER(any_io_executor.hpp)
#include COGWHEEL_ASIO_HEADER(awaitable.hpp)

#include <atomic>
#include <concepts>
#include <cstdint>
#include <exception>
#include <memory>
#include <stop_token>
#include <string_view>
#include <system_error>

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// Why the scheduler has told a job to stop.
enum class task_stop_reason : std::uint8_t {
    none,      ///< it has not
    timeout,   ///< job_options::timeout has passed
    cancelled, ///< task_scheduler::cancel()
    replaced,  ///< by the next run (task_overlap::replace), or by a new task of this name (on_duplicate::replace)
    stopped    ///< task_scheduler::stop(), or the destructor
};
std::string_view to_string(task_stop_reason) noexcept; ///< the name of the constant

/// One attempt of one run, as its job sees it.
/// Thread safety: any thread may read it. Lifetime: until the job has ended.
class task_run {
public:
    const std::string& name() const noexcept { return name_; }
    const std::string& body() const noexcept { return body_; }
    /// Returns task::traceparent. A tracer continues that trace: its trace id, with a new span id and this parent.
    const std::string& traceparent() const noexcept { return traceparent_; }
    /// Returns when the run was due, by the wall clock.
    task_trigger::wall_point scheduled() const noexcept { return scheduled_; }
    /// Returns the number of the attempt: 1, 2 ...
    std::uint32_t attempt() const noexcept { return attempt_; }
    /// Returns whether this attempt had begun before, when the process ended or the scheduler was stopped. How far it
    /// came is not known.
    bool interrupted() const noexcept { return interrupted_; }

    /// Returns the token by which the scheduler tells the job to stop: at its timeout, on cancel() and stop(), when the
    /// next run or a new task replaces it, and in the scheduler's destructor. While the
    /// scheduler exists and no new task replaces it, the result of the job still counts. If the job succeeds, the run
    /// is completed. If it fails, the run is cancelled; after a timeout, the attempt has failed instead; after stop(),
    /// the storage keeps the run for recover().
    std::stop_token stop_token() const noexcept { return stop_.get_token(); }
    bool stop_requested() const noexcept { return stop_.stop_requested(); }
    /// Returns why stop_requested() is true. After a timeout, it may still change to another reason.
    task_stop_reason stop_reason() const noexcept { return why_; }
    /// Throws std::system_error with asio::error::operation_aborted if the scheduler has told the job to stop.
    void throw_if_stopped() const;

    /// Keeps a text, in any format, as the result of this attempt: task_attempt::result, and task_info::result, which
    /// the storage keeps as well. A later call replaces it.
    /// Errors: std::length_error if the text has more than max_result bytes; the result stays as it was.
    /// Thread safety: only the job calls it, one call at a time.
    void result(std::string text);
    static constexpr std::size_t max_result = std::size_t{64} << 10; ///< bytes

protected:
    task_run(std::string name, std::string body, std::string traceparent, task_trigger::wall_point scheduled)
        : name_(std::move(name)), body_(std::move(body)), traceparent_(std::move(traceparent)), scheduled_(scheduled) {}
    ~task_run() = default;

    std::string name_, body_, traceparent_, result_;
    task_trigger::wall_point scheduled_;
    std::uint32_t attempt_ = 0;
    bool interrupted_ = false;
    std::atomic<task_stop_reason> why_{task_stop_reason::none}; // the scheduler's lock guards changes
    std::stop_source stop_{std::nostopstate};                   // one for each attempt
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

/// A run that reports the end of its job to the scheduler.
class reporting_run : public task_run {
public:
    virtual void ended(const std::exception_ptr& thrown, error_code error) noexcept = 0;

protected:
    using task_run::task_run;
    ~reporting_run() = default;
};

using run_ptr = std::shared_ptr<reporting_run>;

template <class T>
concept coroutine_of_job = std::same_as<T, asio::awaitable<void>> || std::same_as<T, asio::awaitable<error_code>>;

/// A callable that makes a coroutine, without its type: so what starts coroutines is compiled once, in the library.
template <coroutine_of_job Coroutine>
struct coroutine_call {
    std::shared_ptr<void> callable; // holds the captures of a coroutine lambda
    Coroutine (*call)(void* callable, task_run&);
};

/// Posts the start of the coroutine to a strand of `executor`. Calls run->ended() once. Errors: std::bad_alloc; then
/// run->ended() is not called.
void start_coroutine(const coroutine_call<asio::awaitable<void>>&, const run_ptr&, const asio::any_io_executor&);
void start_coroutine(const coroutine_call<asio::awaitable<error_code>>&, const run_ptr&, const asio::any_io_executor&);

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {

/// A job of any form. Copyable: copies share the callable. When the scheduler tells a coroutine to stop, it also
/// cancels the operation for which the coroutine waits.
/// Thread safety: if several tasks share the callable, or runs overlap, several threads may call it at once.
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
    task_job(F&& f) { // NOLINT(google-explicit-constructor): a callable converts to a job
        using callable = std::decay_t<F>;
        using result = std::remove_cvref_t<result_of<callable>>;
        static_assert(std::is_void_v<result> || std::convertible_to<result, error_code> ||
                          detail::coroutine_of_job<result>,
                      "a job returns nothing or a error_code, or is a coroutine that does: asio::awaitable<void>");
        callable_ = std::make_shared<callable>(std::forward<F>(f));
        start_ = [](const std::shared_ptr<void>& job, const detail::run_ptr& run,
                    const asio::any_io_executor& executor) {
            if constexpr (detail::coroutine_of_job<result>)
                detail::start_coroutine(detail::coroutine_call<result>{job, &call_erased<callable>}, run, executor);
            else
                run_now<result>(*static_cast<callable*>(job.get()), *run);
        };
    }

    /// Runs a plain job in this call, or posts the start of a coroutine to a strand of `executor`. Calls run->ended()
    /// once, however the job ends. Errors: std::bad_alloc if it cannot post; start() then does not call run->ended().
    void start(const detail::run_ptr& run, const asio::any_io_executor& executor) const {
        start_(callable_, run, executor);
    }

private:
    template <class Result, class F>
    static void run_now(F& f, detail::reporting_run& run) {
        std::exception_ptr thrown;
        error_code error;
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
    static std::remove_cvref_t<result_of<F>> call_erased(void* f, task_run& run) {
        return call(*static_cast<F*>(f), run);
    }

    std::shared_ptr<void> callable_;
    void (*start_)(const std::shared_ptr<void>& callable, const detail::run_ptr&, const asio::any_io_executor&);
};

} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO
