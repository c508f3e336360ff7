// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Requests that wait for somebody's decision: reminded after a while, escalated when nobody reacts, approved by
// themselves in the end; one begins later, and old ones are cleared away. All of it is durable tasks, whose ids are
// "what request", so that a decision cancels what was planned for its request. An hour of the workflow is a fifth of a
// second here.
//
// The tasks are in a journal, or with --redis in a server: support/durable_backend.hpp has the one line that differs.
// The requests themselves are in memory, to keep this short; a program whose timers outlive it keeps them in a
// database.

#include "support/command_line.hpp"
#include "support/durable_backend.hpp"
#include "support/spawned.hpp"
#include "support/temporary_directory.hpp"

#include <cogwheel/durable/durable_worker.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include <map>

namespace {

using namespace std::chrono_literals;
using cogwheel::durable_delivery;
using cogwheel::durable_outcome;
using cogwheel::task_trigger;

constexpr auto hour = 200ms;

enum class decision { open, approved, rejected };

class workflow {
public:
    workflow(cogwheel::timer_wheel& wheel, cogwheel::durable_queue& queue)
        : queue_(queue),
          worker_(queue, {.backoff = cogwheel::backoff::constant(hour / 4), .executor = wheel.get_executor()}),
          begin_(std::chrono::steady_clock::now()) {}

    asio::awaitable<void> run() {
        std::error_code ec;
        co_await queue_.open(asio::redirect_error(asio::use_awaitable, ec));
        if (ec) throw std::runtime_error(queue_.trouble().empty() ? ec.message() : queue_.trouble());
        co_await plan("clean up", "", task_trigger::every(3 * hour).times(5));
        co_await plan("open", "travel", task_trigger::once(0s));
        co_await plan("open", "laptop", task_trigger::once(0s));
        co_await plan("decide", "laptop", task_trigger::once(3 * hour));
        co_await plan("open", "desk", task_trigger::once(4 * hour));
        co_await worker_.run([this](durable_delivery& task) { return handle(task); }, asio::use_awaitable);
        queue_.close();
    }

    bool as_planned() const {
        const auto runs = [&](const char* id) { return runs_.contains(id) ? runs_.at(id) : 0; };
        return runs("approve travel") == 1 && runs("escalate travel") == 2 && runs("remind travel") >= 1 &&
               runs("approve laptop") == 0 && runs("escalate laptop") == 0 && runs("approve desk") == 1 && !too_late_;
    }

private:
    /// The body has the id, too: that of an occurrence of a recurring task ends with its date.
    asio::awaitable<void> plan(std::string what, std::string request, task_trigger when) {
        const std::string id = what + " " + request;
        cogwheel::durable_task task{.id = id, .when = std::move(when), .body = id, .max_attempts = 3};
        co_await queue_.schedule(std::move(task), cogwheel::on_duplicate::replace, asio::use_awaitable);
    }

    asio::awaitable<durable_outcome> handle(const durable_delivery& task) {
        const std::string& id = task.body();
        const auto space = id.rfind(' ');
        const std::string what = id.substr(0, space), request = id.substr(space + 1);
        ++runs_[id];
        if (what == "open") {
            requests_[request] = decision::open;
            say(request, "opened");
            co_await plan("remind", request, task_trigger::every(2 * hour).times(2));
            co_await plan("escalate", request, task_trigger::once(5 * hour));
            co_await plan("approve", request, task_trigger::once(8 * hour));
        } else if (what == "clean up") {
            const auto closed = std::erase_if(requests_, [](const auto& r) { return r.second != decision::open; });
            say(what, fmt::format("{} closed requests cleared away", closed));
            if (runs_[id] == 5) worker_.drain(); // the last task of the plan
        } else if (what == "decide") {
            co_await close(request, decision::rejected);
            say(request, "decided by its owner");
        } else {
            const auto found = requests_.find(request);
            too_late_ = too_late_ || found == requests_.end() || found->second != decision::open;
            if (what == "remind") {
                say(request, "reminder to its owner");
            } else if (what == "escalate") {
                // The mail server has bad days.
                if (task.attempt() == 1) co_return durable_outcome::retry("mail server: connection refused");
                say(request, fmt::format("escalated, in attempt {}", task.attempt()));
            } else if (what == "approve") {
                co_await close(request, decision::approved);
                say(request, "approved, as nobody objected");
            }
        }
        co_return durable_outcome::done();
    }

    /// Nothing of what was planned happens any more.
    asio::awaitable<void> close(const std::string& request, decision d) {
        for (const char* what : {"remind ", "escalate ", "approve "}) {
            std::string id = what + request;
            co_await queue_.cancel(std::move(id), asio::use_awaitable);
        }
        requests_[request] = d;
    }
    void say(const std::string& who, std::string_view what) const {
        const auto hours = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_) / hour;
        fmt::print("{:4.1f} h  {:<8} {}\n", hours, who, what);
    }

    cogwheel::durable_queue& queue_;
    cogwheel::durable_worker worker_;
    std::map<std::string, decision> requests_;
    std::map<std::string, int> runs_;
    std::chrono::steady_clock::time_point begin_;
    bool too_late_ = false;
};

} // namespace

int main(int argc, char** argv) {
    return command_line::run("workflow_timeouts", [&] {
        std::string url;
        for (command_line::reader line(argc, argv); line.next();) {
            if (line.name() == "--redis") {
                url = line.value();
            } else if (line.name() == "--help" || line.name() == "-h") {
                fmt::print("usage: workflow_timeouts [--redis URL]\n"
                           "Requests that wait for a decision: reminded, escalated, and approved in the end.\n");
                return 0;
            } else {
                line.unknown();
            }
        }
        const temporary_directory directory("workflow_timeouts");
        asio::io_context io(1);
        cogwheel::timer_wheel wheel(io, {.tick = 1ms});
        durable_backend backend("workflow_timeouts", wheel, url, directory.path(), {.name = "workflow_timeouts"});
        workflow w(wheel, backend.queue());
        asio::co_spawn(io, w.run(), rethrow);
        io.run(); // until nothing is planned any more
        if (w.as_planned()) return 0;
        fmt::print("BROKEN: not all ran as planned\n");
        return 1;
    });
}
