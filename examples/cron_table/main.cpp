// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A crontab-like file runs real commands: each in a process of its own, told to stop when it takes too long, with a
// table of what runs next. One thread, however many commands hang: a job is a coroutine that waits for its process.

#include "command.hpp"
#include "support/command_line.hpp"
#include "support/statistics_signal.hpp"

#include <cogwheel/tasks/task_scheduler.hpp>
#include <cogwheel/tasks/task_table.hpp>
#include <cogwheel/tasks/task_trigger.hpp>

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>

#include <csignal>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace cron {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view usage = R"(usage: cron_table [options]
Runs the commands of a crontab-like file.

  --file F      the table; - is standard input (default -)
  --limit D     then a command is told to end, SIGTERM (default 1h)
  --grace D     and then it is ended, SIGKILL, with all it has started (default 5s)
  --show D      how often the table is printed; 0s: at the beginning only (default 0s)
  --seconds N   end after so long (default: by a signal)

A duration D is a number and a unit: 500ms, 1.5s, 2m, 1h.
SIGINT, SIGTERM, SIGQUIT and SIGHUP tell the commands to end, and the program ends with the last of them; SIGUSR1 prints
the table to standard error.
)";

struct options {
    std::string file = "-";
    std::chrono::nanoseconds limit = 1h, grace = 5s, show = 0s;
    std::uint64_t seconds = 0;
    bool help = false;
};

// ---- the table: a line for each command, with its schedule before it ----
//
//     # second minute hour day-of-month month day-of-week  command; or five fields, or @daily
//     ZONE=Europe/Berlin
//     */5 * * * * *  echo "every five seconds"
//     30 2 * * *     /usr/local/bin/backup

struct entry {
    std::string name;
    cogwheel::task_trigger when;
    std::string command;
};

/// A line's fields, of which there are as many as its schedule needs; the rest is the command.
entry parse(const std::string& line, std::size_t number, cogwheel::zone_info zone) {
    const auto fail = [&](const std::string& why) {
        throw command_line::usage_error(fmt::format("line {}: {}", number, why));
    };
    std::istringstream words(line);
    std::vector<std::pair<std::string, std::size_t>> fields; // and where each ends
    for (std::string word; fields.size() < 6 && words >> word;)
        fields.emplace_back(word, words.eof() ? line.size() : static_cast<std::size_t>(words.tellg()));
    std::string trouble = "a schedule and a command are needed";
    // Six fields if they make sense, else five: a command may look like a field, but not like a day of the week.
    for (const std::size_t n :
         {line[line.find_first_not_of(" \t")] == '@' ? std::size_t{1} : std::size_t{6}, std::size_t{5}}) {
        if (fields.size() < n) continue;
        const std::string schedule = line.substr(0, fields[n - 1].second);
        const auto command = line.find_first_not_of(" \t", fields[n - 1].second);
        if (command == line.npos) continue;
        try {
            return {fmt::format("line {}", number), cogwheel::task_trigger::cron(schedule, zone), line.substr(command)};
        } catch (const cogwheel::cron_error& e) {
            trouble = e.what();
        }
        if (n == 1) break;
    }
    fail(trouble);
    return {};
}

/// Errors: command_line::usage_error that names the line.
std::vector<entry> read_table(std::istream& in) {
    std::vector<entry> all;
    cogwheel::zone_info zone = cogwheel::zone_info::local();
    std::string line;
    for (std::size_t number = 1; std::getline(in, line); ++number) {
        const auto first = line.find_first_not_of(" \t");
        if (first == line.npos || line[first] == '#') continue;
        if (line.starts_with("ZONE="))
            zone = cogwheel::zone_info(line.substr(5));
        else
            all.push_back(parse(line, number, zone));
    }
    return all;
}

// ---- the program ----

class server {
public:
    server(const std::vector<entry>& table, const options& wanted) : guard_(wanted.grace) {
        for (const entry& e : table) {
            const auto refused = tasks_.add({.name = e.name + ": " + e.command, .when = e.when},
                                            [this, command = e.command, grace = wanted.grace](cogwheel::task_run&) {
                                                return run_command(wheel_, guard_, command, grace);
                                            },
                                            {.timeout = wanted.limit});
            if (refused) throw command_line::usage_error(fmt::format("{}: {}", e.name, refused.message()));
        }
        show();
        if (wanted.show > 0ns && !table.empty())
            tasks_.add({.name = "(this table)", .when = cogwheel::task_trigger::every(wanted.show)},
                       [this] { show_or_end(); });
        if (wanted.seconds != 0) end_ = wheel_.schedule(std::chrono::seconds(wanted.seconds), [this] { end(); });
        struct sigaction hang_up{};
        ::sigaction(SIGHUP, nullptr, &hang_up);
        if (hang_up.sa_handler != SIG_IGN) signals_.add(SIGHUP); // else it was nohup that has started us
        signals_.async_wait([this](std::error_code ec, int) {
            if (ec) return;
            signals_.clear(); // before anybody can see that the first one has come
            end();
        });
    }

    void run() { io_.run(); }

private:
    std::string text() const { return cogwheel::task_table(tasks_.snapshot(), std::chrono::system_clock::now()); }
    void show() const {
        fmt::print("{}", text());
        output::flush();
    }
    void show_or_end() {
        try {
            show();
        } catch (const std::exception&) { // nobody is to read it: main() finds out, when the commands have ended
            stop();
        }
    }

    void end() {
        show_or_end();
        stop();
    }
    void stop() {
        if (std::exchange(stopped_, true)) return;
        tasks_.stop();
        end_.cancel();
        statistics_.stop();
        signals_.clear(); // a second one ends the program at once, and the guardian its commands
        signals_.cancel();
    }

    guardian guard_; // goes last
    asio::io_context io_{1};
    cogwheel::timer_wheel wheel_{io_};
    cogwheel::task_scheduler tasks_{wheel_, {.executor = io_.get_executor()}};
    asio::signal_set signals_{io_, SIGINT, SIGTERM, SIGQUIT};
    statistics_signal statistics_{io_.get_executor(), [this] { return text(); }};
    cogwheel::timer_token end_;
    bool stopped_ = false;
};

options parse_options(int argc, char** argv) {
    options wanted;
    for (command_line::reader line(argc, argv); line.next();) {
        if (line.name() == "--file")
            wanted.file = line.value();
        else if (line.name() == "--limit")
            wanted.limit = line.positive_duration();
        else if (line.name() == "--grace")
            wanted.grace = line.duration();
        else if (line.name() == "--show")
            wanted.show = line.duration();
        else if (line.name() == "--seconds")
            wanted.seconds = line.count(1, 1'000'000);
        else if (line.name() == "--help" || line.name() == "-h")
            wanted.help = true;
        else
            line.unknown();
    }
    return wanted;
}

int run(const options& wanted) {
    std::ifstream file;
    if (wanted.file != "-") file.open(wanted.file);
    if (wanted.file != "-" && !file) throw command_line::usage_error(fmt::format("cannot read {}", wanted.file));
    server(read_table(wanted.file == "-" ? std::cin : file), wanted).run();
    return 0;
}

} // namespace
} // namespace cron

int main(int argc, char** argv) {
    return command_line::run("cron_table", [&] {
        const cron::options wanted = cron::parse_options(argc, argv);
        if (wanted.help) return fmt::print("{}", cron::usage), 0;
        return cron::run(wanted);
    });
}
