// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// One life of a process whose durable tasks are in a journal: queue and worker together. Goes on with the tasks of
// DIRECTORY/tasks, adds new ones, and notes in DIRECTORY/log, a line an event, each written at once:
//
//     + LIFE ID RETRIES DUE UNTIL         schedule() has succeeded; the dates in ms; UNTIL is 0 if it has one run
//     * LIFE ID ATTEMPT GENERATION        its handler begins
//     event LIFE ID ATTEMPT GENERATION    what the worker reports: done, retry, stale ...
//     ~ LIFE ID                           cancel() begins
//     - LIFE ID RESULT                    it has answered
#include "durable_node.hpp"

#include <cogwheel/tasks/error.hpp>
#include <cogwheel/tasks/task_journal.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <filesystem>

#include <fcntl.h>

namespace durable_node {
namespace {

using namespace std::chrono_literals;
using cogwheel::task_trigger;

class event_log {
public:
    event_log(const std::filesystem::path& file, std::string life)
        : descriptor_(::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)), life_(std::move(life)) {
        if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), file.string());
    }
    event_log(const event_log&) = delete;
    event_log& operator=(const event_log&) = delete;
    ~event_log() { ::close(descriptor_); }

    void note(std::string_view what, const std::string& rest) const {
        write_line(descriptor_, std::string(what) + ' ' + life_ + ' ' + rest);
    }

private:
    int descriptor_;
    std::string life_;
};

asio::awaitable<void> pause(const cogwheel::timer_wheel& wheel, std::chrono::milliseconds time) {
    cogwheel::wheel_timer timer(wheel);
    timer.expires_after(time);
    const auto waited = co_await timer.async_wait(token);
    (void)waited;
}

struct noting_handler {
    const cogwheel::timer_wheel* wheel;
    const event_log* log;

    asio::awaitable<cogwheel::durable_outcome> operator()(cogwheel::durable_delivery& task) const {
        log->note("*", task.id() + ' ' + text_of(task.token()));
        return work(*wheel, task);
    }
};

asio::awaitable<void> add_tasks(cogwheel::durable_queue& queue, const cogwheel::timer_wheel& wheel,
                                const event_log& log, std::string life) {
    for (int n = 0;; ++n) {
        cogwheel::durable_task task;
        task.id = life + '-' + std::to_string(n);
        const bool recurs = n % 5 == 0;
        const int retries = !recurs && n % 4 == 0 ? 1 : 0;
        task.body = std::to_string(retries) + ' ' + std::to_string(n % 6);
        task.max_attempts = 1'000;
        task.misfire = cogwheel::task_misfire::catch_up(1'000);
        // All runs up to a date happen, however late. times() would count those that happen, and so a late process
        // would move the last one.
        const auto until = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()) + 50ms;
        task.when = recurs ? task_trigger::every(15ms).until(until)
                           : task_trigger::once(std::chrono::milliseconds(n * 7 % 100));
        const std::string id = task.id;
        const auto [ec, receipt] = co_await queue.schedule(std::move(task), token);
        if (recurs && ec == cogwheel::task_errc::never) continue; // this process slept too long
        if (ec) throw std::system_error(ec, "refused: " + id);
        const auto due = std::chrono::floor<std::chrono::milliseconds>(receipt.due).time_since_epoch().count();
        log.note("+", id + ' ' + std::to_string(retries) + ' ' + std::to_string(due) + ' ' +
                          std::to_string(recurs ? until.time_since_epoch().count() : 0));
        if (n % 11 == 3 && !recurs) {
            log.note("~", id);
            const auto [error, result] = co_await queue.cancel(id, token);
            if (error) throw std::system_error(error, "cancel: " + id);
            log.note("-", id + (result == cogwheel::durable_cancel_result::cancelled ? " cancelled" : " other"));
        }
        if (n % 8 == 7) co_await pause(wheel, 1ms); // not more tasks than 50 lives can finish
    }
}

asio::awaitable<void> await_the_end(cogwheel::durable_queue& queue, const cogwheel::timer_wheel& wheel) {
    for (;;) {
        const auto [ec, counts] = co_await queue.counts(token);
        if (ec) throw std::system_error(ec, "counts");
        if (counts.dead != 0) throw std::runtime_error("tasks are dead");
        if (counts.waiting + counts.claimed == 0) co_return;
        co_await pause(wheel, 20ms);
    }
}

} // namespace

int run_journal(const options& o) {
    const std::filesystem::path directory(o.directory);
    const event_log log(directory / "log", o.life);
    cogwheel::task_journal journal(directory / "tasks", {.compact_above = 4'096}); // rewritten all the time
    asio::io_context io(1);
    cogwheel::timer_wheel wheel(io, {.tick = 1ms});
    cogwheel::durable_queue queue(wheel, journal);
    cogwheel::durable_worker worker(queue, {.lease = o.lease,
                                            .backoff = cogwheel::backoff::constant(20ms),
                                            .misfire_grace = 1h,
                                            .on_event = [&](const cogwheel::durable_event& e) {
                                                const std::string text = text_of(e);
                                                const auto space = text.find(' ');
                                                log.note(text.substr(0, space), text.substr(space + 1));
                                            }});
    std::error_code ended;
    std::exception_ptr failure;
    const auto finished = [&](const std::exception_ptr& thrown) {
        failure = thrown;
        worker.drain();
    };
    queue.open([&](std::error_code ec) {
        if (ec) throw std::system_error(ec, "open: " + queue.trouble());
        print("open");
        worker.run(noting_handler{&wheel, &log}, [&](std::error_code error) {
            ended = error;
            queue.close();
        });
        if (o.finish)
            asio::co_spawn(io, await_the_end(queue, wheel), finished);
        else
            asio::co_spawn(io, add_tasks(queue, wheel, log, o.life), finished);
    });
    io.run();
    if (failure) std::rethrow_exception(failure);
    return ended ? 1 : 0;
}

} // namespace durable_node
