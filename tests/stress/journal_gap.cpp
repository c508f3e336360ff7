// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// journal_gap [TASKS=50000 [SECONDS=20 [DIRECTORY]]]: does the wheel stand still while the journal is rewritten? Two
// runs on one thread, each with a timer of 5 ms, that every time replaces 200 of the tasks: in the first the journal is
// never rewritten, in the second whenever half of it is out of date. Prints the longest times between two expiries of
// the timer, and the same without the time for which the thread was ready but other threads of the machine had its
// processor (Linux). It judges nothing.
//
//     cmake --preset release && cmake --build build/release --target journal_gap && build/release/tests/journal_gap
#include <cogwheel/tasks/task_journal.hpp>
#include <cogwheel/tasks/task_scheduler.hpp>

#include <asio/io_context.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <vector>

namespace {

using namespace std::chrono_literals;
using cogwheel::task_trigger;
using std::chrono::steady_clock;

struct workload {
    int tasks;
    std::chrono::seconds lasts;
    std::filesystem::path file;
};

// Milliseconds for which this thread has waited for a processor.
double waited_for_a_processor() {
    double ran = 0, waited = 0;
    std::ifstream("/proc/thread-self/schedstat") >> ran >> waited;
    return waited / 1e6;
}

class gaps {
public:
    void note() {
        const auto now = steady_clock::now();
        const double waited = waited_for_a_processor();
        if (last_ != steady_clock::time_point()) {
            all_.push_back(std::chrono::duration<double, std::milli>(now - last_).count());
            own_.push_back(all_.back() - (waited - waited_));
        }
        last_ = now;
        waited_ = waited;
    }
    void print(const char* what, int rewritings) {
        std::printf("%s: %zu times, %d rewritings\n", what, all_.size(), rewritings);
        print("longest", all_);
        print("with a processor", own_);
        std::fflush(stdout);
    }

private:
    static void print(const char* what, std::vector<double>& all) {
        std::sort(all.begin(), all.end(), std::greater<>());
        std::printf("    %-17s", what);
        for (std::size_t i = 0; i < std::min<std::size_t>(all.size(), 5); ++i) std::printf(" %7.2f", all[i]);
        if (!all.empty()) std::printf(" ms; median %.2f\n", all[all.size() / 2]);
    }

    steady_clock::time_point last_{};
    double waited_ = 0;
    std::vector<double> all_, own_;
};

cogwheel::task task_number(int n) {
    return {.name = "task-" + std::to_string(n),
            .when = task_trigger::once(1h),
            .job = "job",
            .body = std::string(100, 'x')};
}

void run(const workload& w, const char* what, std::size_t compact_above) {
    std::filesystem::remove(w.file);
    cogwheel::task_journal journal(w.file, {.compact_above = compact_above});
    asio::io_context io;
    cogwheel::timer_wheel wheel(io, {.tick = 1ms});
    cogwheel::task_scheduler tasks(wheel, {.executor = io.get_executor(), .storage = &journal});
    tasks.define("job", [] {});
    std::vector<cogwheel::task> all;
    for (int n = 0; n < w.tasks; ++n) all.push_back(task_number(n));
    tasks.add_all(std::move(all));

    gaps seen;
    int next = 0, rewritings = 0;
    auto size = std::filesystem::file_size(w.file);
    const auto end = steady_clock::now() + w.lasts;
    std::function<void()> again = [&] {
        seen.note();
        for (int n = 0; n < 200; ++n) tasks.add(task_number(next++ % w.tasks), cogwheel::on_duplicate::replace);
        const auto now = std::filesystem::file_size(w.file);
        if (now < size) ++rewritings;
        size = now;
        if (steady_clock::now() < end)
            wheel.schedule(5ms, again);
        else
            io.stop();
    };
    wheel.schedule(5ms, again);
    io.run();
    seen.print(what, rewritings);
}

} // namespace

int main(int argc, char** argv) {
    try {
        const workload w{argc > 1 ? std::atoi(argv[1]) : 50'000,
                         std::chrono::seconds(argc > 2 ? std::atoi(argv[2]) : 20),
                         std::filesystem::path(argc > 3 ? argv[3] : ".") / "journal_gap.tasks"};
        run(w, "without rewriting", std::numeric_limits<std::size_t>::max());
        run(w, "with rewriting", 1U << 20);
        std::filesystem::remove(w.file);
        std::filesystem::remove(w.file.string() + ".lock");
    } catch (const std::exception& e) {
        std::fprintf(stderr, "journal_gap: %s\n", e.what());
        return 1;
    }
    return 0;
}
