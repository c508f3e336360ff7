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
#include COGWHEEL_ASIO_HEADER(bind_cancellation_slot.hpp)
#include COGWHEEL_ASIO_HEADER(cancellation_signal.hpp)
#include COGWHEEL_ASIO_HEADER(co_spawn.hpp)
#include COGWHEEL_ASIO_HEADER(post.hpp)
#include COGWHEEL_ASIO_HEADER(strand.hpp)

#include <atomic>
#include <concepts>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stop_token>
#include <string_view>
#include <system_error>

namespace cogwheel::inline v0::inline COGWHEEL_ASIO {

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

} // namespace cogwheel::inline v0::inline COGWHEEL_ASIO

namespace cogwheel::inline v0::detail::inline COGWHEEL_ASIO {

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
inline constexpr bool is_coroutine = false;
template <class Executor>
inline constexpr bool is_coroutine<asio::awaitable<void, Executor>> = true;
template <class Executor>
inline constexpr bool is_coroutine<asio::awaitable<error_code, Executor>> = true;

/// The strand and the cancellation signal of one attempt of a job that is a coroutine. A request to stop also emits
/// this signal, on this strand.
struct coroutine_stop {
    explicit coroutine_stop(const asio::any_io_executor& executor) : strand(asio::make_strand(executor)) {}

    asio::strand<asio::any_io_executor> strand;
    asio::cancellation_signal signal;
};
/// Posts the emission of the signal to the strand. Called when the scheduler tells the job to stop.
struct post_stop {
    std::weak_ptr<coroutine_stop> to;
    void operator()() const {
        const auto alive = to.lock();
        if (alive == nullptr) return;
        COGWHEEL_TRY {
            asio::post(alive->strand, [alive] { alive->signal.emit(asio::cancellation_type::terminal); });
        }
        COGWHEEL_CATCH {
            // The signal cannot be allocated: the coroutine learns of the request from stop_requested() only.
        }
    }
};

} // namespace cogwheel::inline v0::detail::inline COGWHEEL_ASIO

namespace cogwheel::inline v0::inline COGWHEEL_ASIO {

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
        static_assert(std::is_void_v<result> || std::convertible_to<result, error_code> || detail::is_coroutine<result>,
                      "a job returns nothing or a error_code, or is a coroutine that does: asio::awaitable<void>");
        start_ = [job = std::make_shared<callable>(std::forward<F>(f))](const detail::run_ptr& run,
                                                                        const asio::any_io_executor& executor) {
            if constexpr (detail::is_coroutine<result>)
                spawn(job, run, executor);
            else
                run_now<result>(*job, *run);
        };
    }

    /// Runs a plain job in this call, or posts the start of a coroutine to a strand of `executor`. Calls run->ended()
    /// once, however the job ends. Errors: std::bad_alloc if it cannot post; start() then does not call run->ended().
    void start(const detail::run_ptr& run, const asio::any_io_executor& executor) const { start_(run, executor); }

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
    static void spawn(const std::shared_ptr<F>& job, const detail::run_ptr& run,
                      const asio::any_io_executor& executor) {
        const auto stop = std::make_shared<detail::coroutine_stop>(executor);
        // Starts on the strand. A request to stop posts its signal to the same strand, so the signal comes after
        // co_spawn() has connected the slot.
        asio::post(stop->strand, [job, run, stop] {
            COGWHEEL_TRY { start_coroutine(job, run, stop); }
            COGWHEEL_CATCH { run->ended(std::current_exception(), {}); }
        });
    }

    template <class F>
    static void start_coroutine(const std::shared_ptr<F>& job, const detail::run_ptr& run,
                                const std::shared_ptr<detail::coroutine_stop>& stop) {
        const std::stop_token token = run->stop_token(); // taken now: the attempt may be over when co_spawn() returns
        const auto told = std::make_shared<std::optional<std::stop_callback<detail::post_stop>>>();
        const auto end = [job, run, stop, told](const std::exception_ptr& thrown, error_code error = {}) {
            told->reset();
            run->ended(thrown, error);
        };
        // The lambda keeps the callable, which holds the captures of a coroutine lambda. It also keeps the run, to
        // which the coroutine refers.
        asio::co_spawn(
            stop->strand, [job, run] { return call(*job, *run); },
            asio::bind_cancellation_slot(stop->signal.slot(), end));
        told->emplace(token, detail::post_stop{stop});
    }

    std::function<void(const detail::run_ptr&, const asio::any_io_executor&)> start_;
};

} // namespace cogwheel::inline v0::inline COGWHEEL_ASIO
