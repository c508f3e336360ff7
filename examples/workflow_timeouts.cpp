// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Requests that wait for somebody's decision: reminded after a while, escalated when nobody reacts, approved by
// themselves in the end; one begins later, and old ones are cleared away. All of it is tasks with names, so that a
// decision cancels what was planned for its request. An hour of the workflow is a tenth of a second here.

#include "support/command_line.hpp"

#include <cogwheel/tasks/task_scheduler.hpp>
#include <cogwheel/tasks/task_table.hpp>

#include <asio/io_context.hpp>
#include <fmt/format.h>

#include <map>
#include <stdexcept>

namespace {

using namespace std::chrono_literals;
using cogwheel::task_trigger;

constexpr auto hour = 100ms;

enum class decision { open, approved, rejected };

class workflow {
public:
    explicit workflow(cogwheel::timer_wheel& wheel)
        : tasks_(wheel, {.executor = wheel.get_executor()}), begin_(std::chrono::steady_clock::now()) {
        tasks_.define("remind", [this](cogwheel::task_run& run) { say(run.body(), "reminder to its owner"); });
        // The mail server has bad days.
        tasks_.define("escalate",
                      [this](cogwheel::task_run& run) {
                          if (run.attempt() == 1) throw std::runtime_error("mail server: connection refused");
                          say(run.body(), fmt::format("escalated, in attempt {}", run.attempt()));
                      },
                      {.attempts = 3, .backoff = cogwheel::backoff::constant(hour / 4)});
        tasks_.define("approve", [this](cogwheel::task_run& run) {
            close(run.body(), decision::approved);
            say(run.body(), "approved, as nobody objected");
        });
        tasks_.define("open", [this](cogwheel::task_run& run) { open(run.body()); });
        tasks_.add({.name = "clean up", .when = task_trigger::every(3 * hour).times(4)}, [this] {
            const auto closed = std::erase_if(requests_, [](const auto& r) { return r.second != decision::open; });
            say("clean up", fmt::format("{} closed requests cleared away", closed));
        });
    }

    void open(const std::string& request) {
        requests_[request] = decision::open;
        say(request, "opened");
        const auto plan = [&](const char* what, auto when) {
            return cogwheel::task{.name = request + ": " + what, .when = when, .job = what, .body = request};
        };
        tasks_.add_all({plan("remind", task_trigger::every(2 * hour).times(2)),
                        plan("escalate", task_trigger::once(5 * hour)), plan("approve", task_trigger::once(8 * hour))},
                       cogwheel::on_duplicate::replace);
    }
    void open_later(const std::string& request, std::chrono::milliseconds delay) {
        tasks_.add({.name = request + ": open", .when = task_trigger::once(delay), .job = "open", .body = request});
    }
    /// Somebody has decided: nothing of what was planned happens.
    void decide(const std::string& request, decision d, std::chrono::milliseconds when) {
        tasks_.add({.name = request + ": decided", .when = task_trigger::once(when)}, [this, request, d] {
            close(request, d);
            say(request, "decided by its owner");
        });
    }

    std::string table() const { return cogwheel::task_table(tasks_.snapshot(), std::chrono::system_clock::now()); }
    bool as_planned() const {
        const auto runs = [&](const char* name) { return tasks_.find(name).value().completed; };
        return runs("travel: approve") == 1 && runs("laptop: approve") == 0 && runs("laptop: remind") == 1 &&
               runs("travel: escalate") == 1 && runs("desk: approve") == 1 && runs("clean up") == 4;
    }

private:
    void close(const std::string& request, decision d) {
        requests_[request] = d;
        for (const char* what : {"remind", "escalate", "approve"}) tasks_.cancel(request + ": " + what);
    }
    void say(const std::string& who, std::string_view what) const {
        const auto hours = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_) / hour;
        fmt::print("{:4.1f} h  {:<8} {}\n", hours, who, what);
    }

    std::map<std::string, decision> requests_;
    cogwheel::task_scheduler tasks_;
    std::chrono::steady_clock::time_point begin_;
};

int example() {
    asio::io_context io(1);
    cogwheel::timer_wheel wheel(io);
    workflow w(wheel);
    w.open("travel");
    w.open("laptop");
    w.decide("laptop", decision::rejected, 3 * hour);
    w.open_later("desk", 4 * hour);
    io.run(); // until nothing is planned any more
    fmt::print("\n{}", w.table());
    if (w.as_planned()) return 0;
    fmt::print("BROKEN: not all ran as often as planned\n");
    return 1;
}

} // namespace

int main(int argc, char** argv) {
    return command_line::run(argc, argv, "workflow_timeouts",
                             "Requests that wait for a decision: reminded, escalated, and approved in the end.",
                             example);
}
