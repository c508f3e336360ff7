// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// task_worker DIRECTORY LIFE [--finish]: one life of a process whose tasks are to outlive it. Goes on with
// DIRECTORY/tasks, adds new ones, with names of this life, and notes all that is known in DIRECTORY/log, a line an
// event, each written at once:
//
//     +NAME RUNS   add() has returned: the task has to run so often
//     NAME         its job runs
//     !NAME        recover() says that it was running when the process ended
//     ?WORDS       a warning of recover()
//
// It is killed by kill_task_worker.py, which reads the log. With --finish it adds nothing, and ends when all tasks
// have.
#include <cogwheel/tasks/task_journal.hpp>
#include <cogwheel/tasks/task_scheduler.hpp>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include <cstdio>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;

class event_log {
public:
    explicit event_log(const std::filesystem::path& file)
        : descriptor_(::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)) {
        if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), file.string());
    }
    event_log(const event_log&) = delete;
    event_log& operator=(const event_log&) = delete;
    ~event_log() { ::close(descriptor_); }

    void note(const std::string& line) const {
        const std::string whole = line + '\n';
        if (::write(descriptor_, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size()))
            throw std::system_error(errno, std::generic_category(), "log");
    }

private:
    int descriptor_;
};

/// recover() says it before any job begins.
class interruptions final : public cogwheel::task_observer {
public:
    explicit interruptions(const event_log& log) : log_(log) {}
    void on_event(const cogwheel::task_event& e) noexcept override {
        if (e.what == cogwheel::task_event::kind::interrupted) log_.note('!' + e.task);
    }

private:
    const event_log& log_;
};

void add_tasks(cogwheel::task_scheduler& tasks, const event_log& log, const std::string& life) {
    using cogwheel::task_trigger;
    for (int n = 0;; ++n) {
        const std::string name = life + '-' + std::to_string(n);
        const int runs = n % 5 == 0 ? 3 : 1;
        const auto when = runs == 1 ? task_trigger::once(std::chrono::milliseconds(n * 7 % 100))
                                    : task_trigger::every(15ms).times(runs);
        // Every other one fails at first.
        if (tasks.add({.name = name, .when = when, .job = n % 2 == 0 ? "works" : "fails", .body = "body\tof\n" + name}))
            throw std::runtime_error("refused: " + name);
        log.note('+' + name + ' ' + std::to_string(runs));
    }
}

int live(const std::filesystem::path& directory, const std::string& life, bool finish) {
    const event_log log(directory / "log");
    cogwheel::task_journal journal(directory / "tasks", {.compact_above = 4096}); // rewritten all the time
    asio::io_context io;
    auto work = asio::make_work_guard(io);
    cogwheel::timer_wheel wheel(io, {.tick = 1ms});
    std::thread loop([&] { io.run(); });
    interruptions observer(log);
    {
        cogwheel::task_scheduler tasks(
            wheel, {.pool = {.threads = 4}, .misfire_grace = 1h, .storage = &journal, .observer = &observer});
        tasks.define("works", [&](cogwheel::task_run& run) { log.note(run.name()); });
        tasks.define("fails",
                     [&](cogwheel::task_run& run) {
                         if (run.attempt() == 1) throw std::runtime_error("try again");
                         log.note(run.name());
                     },
                     {.attempts = 2, .backoff = cogwheel::backoff::constant(5ms)});
        const auto found = tasks.recover();
        for (const auto& words : found.warnings) log.note('?' + words);
        std::printf("recovered %zu\n", found.tasks);
        std::fflush(stdout);
        if (!finish) add_tasks(tasks, log, life);
        // With pauses: each count looks at each task, under the lock that the others need.
        for (auto n = tasks.counts(); n.pending + n.queued + n.running != 0; n = tasks.counts())
            asio::steady_timer(io, 1ms).wait();
    }
    work.reset();
    loop.join();
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    try {
        if (argc < 3) throw std::invalid_argument("usage: task_worker DIRECTORY LIFE [--finish]");
        return live(argv[1], argv[2], argc > 3);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "task_worker: %s\n", e.what());
        return 2;
    }
}
