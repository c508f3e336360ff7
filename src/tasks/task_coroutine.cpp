// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A job that is a coroutine: on a strand of its own, where a request to stop also cancels what it waits for.
#include <cogwheel/tasks/task_job.hpp>

#include COGWHEEL_ASIO_HEADER(bind_cancellation_slot.hpp)
#include COGWHEEL_ASIO_HEADER(cancellation_signal.hpp)
#include COGWHEEL_ASIO_HEADER(co_spawn.hpp)
#include COGWHEEL_ASIO_HEADER(post.hpp)
#include COGWHEEL_ASIO_HEADER(strand.hpp)

#include <optional>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

// The strand and the cancellation signal of one attempt. A request to stop also emits this signal, on this strand.
struct coroutine_stop {
    explicit coroutine_stop(const asio::any_io_executor& executor) : strand(asio::make_strand(executor)) {}

    asio::strand<asio::any_io_executor> strand;
    asio::cancellation_signal signal;
};

// Posts the emission of the signal to the strand. Called when the scheduler tells the job to stop.
struct post_stop {
    std::weak_ptr<coroutine_stop> to;
    void operator()() const {
        const auto alive = to.lock();
        if (alive == nullptr) return;
        try {
            asio::post(alive->strand, [alive] { alive->signal.emit(asio::cancellation_type::terminal); });
        } catch (...) {
            // The signal cannot be allocated: the coroutine learns of the request from stop_requested() only.
        }
    }
};

template <class Coroutine>
void start_on_strand(const coroutine_call<Coroutine>& job, const run_ptr& run,
                     const std::shared_ptr<coroutine_stop>& stop) {
    const std::stop_token token = run->stop_token(); // taken now: the attempt may be over when co_spawn() returns
    const auto told = std::make_shared<std::optional<std::stop_callback<post_stop>>>();
    const auto end = [job, run, stop, told](const std::exception_ptr& thrown, error_code error = {}) {
        told->reset();
        run->ended(thrown, error);
    };
    // The lambda keeps the callable, and the run, to which the coroutine refers.
    asio::co_spawn(
        stop->strand, [job, run] { return job.call(job.callable.get(), *run); },
        asio::bind_cancellation_slot(stop->signal.slot(), end));
    told->emplace(token, post_stop{stop});
}

template <class Coroutine>
void post_start(const coroutine_call<Coroutine>& job, const run_ptr& run, const asio::any_io_executor& executor) {
    const auto stop = std::make_shared<coroutine_stop>(executor);
    // Starts on the strand. A request to stop posts its signal to the same strand, so the signal comes after co_spawn()
    // has connected the slot.
    asio::post(stop->strand, [job, run, stop] {
        try {
            start_on_strand(job, run, stop);
        } catch (...) {
            run->ended(std::current_exception(), {});
        }
    });
}

} // namespace

void start_coroutine(const coroutine_call<asio::awaitable<void>>& job, const run_ptr& run,
                     const asio::any_io_executor& executor) {
    post_start(job, run, executor);
}

void start_coroutine(const coroutine_call<asio::awaitable<error_code>>& job, const run_ptr& run,
                     const asio::any_io_executor& executor) {
    post_start(job, run, executor);
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
