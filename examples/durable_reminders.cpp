// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Reminders that outlive the program. Kill it while they fire, and start it again: none is lost, and none comes early.
// The one that was being printed at that moment may come twice, as attempt 2.
//
//     durable_reminders --data ~/.reminders --add "tea 3m The tea is ready" --add "bus 20m Leave for the bus"

#include "support/command_line.hpp"

#include <cogwheel/durable/durable_worker.hpp>
#include <cogwheel/tasks/task_journal.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/redirect_error.hpp>
#include <asio/signal_set.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>

namespace {

using namespace std::chrono_literals;
using cogwheel::durable_errc;
using cogwheel::task_trigger;

constexpr std::string_view usage = R"(usage: durable_reminders [options]
Keeps reminders, and prints each when it is due; also those that came due while it did not run.

  --redis URL    keeps them in a Redis server: redis://127.0.0.1:6379, unix:///run/redis/redis.sock, sentinel://..., ...
  --data DIR     keeps them in a journal in this directory; one program at a time (default durable_reminders.data)
  --add TEXT     adds a reminder "NAME DELAY WORDS", such as "tea 3m The tea is ready"; may be repeated
  --file F       adds each line of F; - is standard input
  --cancel NAME  cancels a reminder; may be repeated
  --list         prints the reminders that wait, and ends
  --no-wait      ends when the reminders are added and cancelled; another program prints them
  --until-empty  ends when no reminder waits (default: by a signal)

A DELAY is a number and a unit: 500ms, 1.5s, 2m, 1h. A NAME that exists stays as it is, for a day after it was printed:
so it does no harm to start the program again with the same options.
SIGINT and SIGTERM let it finish what it prints, and end it.
)";

struct reminder {
    std::string name;
    std::chrono::nanoseconds delay{};
    std::string words;
};

struct options {
    std::string redis;
    std::string data = "durable_reminders.data";
    std::vector<reminder> add;
    std::vector<std::string> cancel;
    bool list = false, wait = true, until_empty = false, help = false;
};

/// Reads "NAME DELAY WORDS".
reminder parse(std::string_view text, std::string_view where) {
    constexpr std::string_view spaces = " \t\r";
    const auto word = [&] {
        text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size()));
        const auto found = text.substr(0, text.find_first_of(spaces));
        text.remove_prefix(found.size());
        return found;
    };
    const auto name = word();
    const auto delay = word();
    text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size()));
    if (text.empty())
        throw command_line::usage_error(
            fmt::format("{}: give NAME DELAY WORDS, such as 'tea 3m The tea is ready'", where));
    if (name.size() > cogwheel::durable_task::max_id)
        throw command_line::usage_error(fmt::format("{}: the name has {} bytes, at most {} are allowed", where,
                                                    name.size(), cogwheel::durable_task::max_id));
    return {std::string(name), command_line::reader::parse_duration(delay, where), std::string(text)};
}

void read_lines(std::istream& in, const std::string& file, std::vector<reminder>& all) {
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        const auto first = line.find_first_not_of(" \t\r");
        if (first != line.npos && line[first] != '#')
            all.push_back(parse(line, fmt::format("{}, line {}", file, number)));
    }
}

options parse(int argc, char** argv) {
    options wanted;
    for (command_line::reader line(argc, argv); line.next();) {
        if (line.name() == "--redis") {
            wanted.redis = line.value();
        } else if (line.name() == "--data") {
            wanted.data = line.value();
        } else if (line.name() == "--add") {
            wanted.add.push_back(parse(line.value(), "--add"));
        } else if (line.name() == "--file") {
            const std::string file(line.value());
            std::ifstream opened;
            if (file != "-") opened.open(file);
            if (file != "-" && !opened) throw command_line::usage_error(fmt::format("cannot read {}", file));
            read_lines(file == "-" ? std::cin : opened, file == "-" ? "standard input" : file, wanted.add);
        } else if (line.name() == "--cancel") {
            wanted.cancel.emplace_back(line.value());
        } else if (line.name() == "--list") {
            wanted.list = true;
        } else if (line.name() == "--no-wait") {
            wanted.wait = false;
        } else if (line.name() == "--until-empty") {
            wanted.until_empty = true;
        } else if (line.name() == "--help" || line.name() == "-h") {
            wanted.help = true;
        } else {
            line.unknown();
        }
    }
    return wanted;
}

/// In UTC, such as 2026-03-01T07:00:00.250Z.
std::string text(task_trigger::wall_point point) {
    const auto ms = std::chrono::floor<std::chrono::milliseconds>(point);
    const auto day = std::chrono::floor<std::chrono::days>(ms);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(ms - day);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), time.hours().count(),
                       time.minutes().count(), time.seconds().count(), time.subseconds().count());
}

class program {
public:
    explicit program(options wanted)
        : wanted_(std::move(wanted)), queue_(make_queue()), worker_(*queue_, {.lease = 5s}) {
        signals_.async_wait([this](std::error_code ec, int) {
            if (!ec) end();
        });
    }

    void run() {
        asio::co_spawn(io_, work(), [this](const std::exception_ptr& failure) {
            failure_ = failure_ ? failure_ : failure;
            std::error_code ignored;
            signals_.cancel(ignored);
            grace_.cancel();
            queue().close();
        });
        io_.run();
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    cogwheel::durable_queue& queue() noexcept { return *queue_; }

    /// A queue in a Redis server, or in a journal of this process.
    std::unique_ptr<cogwheel::durable_queue> make_queue() {
        cogwheel::durable_options options{.name = "reminders", .retention = 24h};
        if (wanted_.redis.empty()) {
            std::filesystem::create_directories(wanted_.data);
            journal_.emplace(std::filesystem::path(wanted_.data) / "tasks");
            return std::make_unique<cogwheel::durable_queue>(wheel_, *journal_, std::move(options));
        }
        options.redis = cogwheel::redis_options::from_url(wanted_.redis);
        options.redis.log = [last = std::string()](std::string_view line) mutable {
            if (line != std::exchange(last, line)) output::complain("durable_reminders: {}\n", line);
        };
        return std::make_unique<cogwheel::durable_queue>(wheel_, std::move(options));
    }

    asio::awaitable<void> work() {
        std::error_code ec;
        co_await queue().open(asio::redirect_error(asio::use_awaitable, ec));
        if (ended_) co_return;
        if (ec) throw std::runtime_error(queue().trouble().empty() ? ec.message() : queue().trouble());
        for (const reminder& r : wanted_.add) co_await add(r);
        for (const std::string& name : wanted_.cancel) {
            const auto result = co_await queue().cancel(name, asio::use_awaitable);
            say("{} {}", name, result == cogwheel::durable_cancel_result::not_found ? "is not there" : "is cancelled");
        }
        if (wanted_.list) {
            co_await list();
            co_return;
        }
        if (!wanted_.wait || ended_) co_return;
        if (wanted_.until_empty) asio::co_spawn(io_, drain_when_empty(), [](const std::exception_ptr&) {});
        working_ = true;
        co_await worker_.run([this](cogwheel::durable_delivery& task) { remind(task); },
                             asio::redirect_error(asio::use_awaitable, ec));
        if (ec && !ended_ && !failure_) throw std::system_error(ec, "reminders");
    }

    /// A reminder counts as added only if the server has said so. Until then, the same name is given again: that adds
    /// no second one.
    asio::awaitable<void> add(const reminder& r) {
        while (!ended_) {
            std::error_code ec;
            cogwheel::durable_task task{.id = r.name, .when = task_trigger::once(r.delay), .body = r.words};
            const auto receipt = co_await queue().schedule(std::move(task), cogwheel::on_duplicate::keep,
                                                           asio::redirect_error(asio::use_awaitable, ec));
            if (!ec) {
                say("{} {} {}", r.name, receipt.existed ? "is known since before, due" : "is due", text(receipt.due));
                co_return;
            }
            if (ec != durable_errc::not_connected && ec != durable_errc::disconnected &&
                ec != durable_errc::server_busy && ec != durable_errc::durability_unknown)
                throw std::runtime_error(fmt::format("cannot add {}: {}", r.name, ec.message()));
            co_await wheel_.async_wait(250ms, asio::redirect_error(asio::use_awaitable, ec));
        }
    }

    asio::awaitable<void> list() {
        std::string cursor;
        do {
            auto page = co_await queue().list(cursor, 100, asio::use_awaitable);
            for (const auto& task : page.tasks)
                if (task.state == cogwheel::durable_state::waiting || task.state == cogwheel::durable_state::running)
                    say("{} {} {}", text(task.due), task.id, task.body);
            cursor = std::move(page.cursor);
        } while (!cursor.empty());
    }

    /// Prints a reminder. It is done when it has left this program; before, a crash prints it again.
    void remind(const cogwheel::durable_delivery& task) {
        try {
            const std::string again = task.attempt() == 1 ? "" : fmt::format(" (attempt {})", task.attempt());
            say("{} {}: {}{}", text(std::chrono::system_clock::now()), task.id(), task.body(), again);
        } catch (const std::exception&) {
            failure_ = std::current_exception(); // nothing reads what is printed: the others stay for later
            worker_.stop();
            throw;
        }
    }

    asio::awaitable<void> drain_when_empty() {
        for (;;) {
            std::error_code ec;
            const auto counts = co_await queue().counts(asio::redirect_error(asio::use_awaitable, ec));
            if (ended_ || failure_ || ec == asio::error::operation_aborted) co_return;
            if (!ec && counts.waiting + counts.claimed == 0) break;
            co_await wheel_.async_wait(50ms, asio::redirect_error(asio::use_awaitable, ec));
        }
        end();
    }

    void end() {
        ended_ = true;
        std::error_code ignored;
        signals_.clear(ignored); // a second signal ends the program at once
        if (!working_) return queue().close();
        worker_.drain();
        grace_ = wheel_.schedule(5s, [this] { worker_.stop(); }); // the server may be away
    }

    template <class... Arguments>
    static void say(fmt::format_string<Arguments...> words, Arguments&&... arguments) {
        fmt::print("{}\n", fmt::format(words, std::forward<Arguments>(arguments)...));
        output::flush();
    }

    options wanted_;
    asio::io_context io_{1};
    cogwheel::timer_wheel wheel_{io_, {.tick = 1ms}};
    std::optional<cogwheel::task_journal> journal_;
    std::unique_ptr<cogwheel::durable_queue> queue_;
    cogwheel::durable_worker worker_;
    asio::signal_set signals_{io_, SIGINT, SIGTERM};
    cogwheel::timer_token grace_;
    std::exception_ptr failure_;
    bool ended_ = false, working_ = false;
};

} // namespace

int main(int argc, char** argv) {
    return command_line::run("durable_reminders", [&] {
        options wanted = parse(argc, argv);
        if (wanted.help) return fmt::print("{}", usage), 0;
        program(std::move(wanted)).run();
        return 0;
    });
}
