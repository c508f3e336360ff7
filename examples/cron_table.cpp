// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A crontab-like file runs real commands: each in a process of its own, told to stop when it takes too long, with a table of what runs next.
//
//     # second minute hour day-of-month month day-of-week  command; or five fields, or @daily
//     ZONE=Europe/Berlin
//     */5 * * * * *  echo "every five seconds"
//     30 2 * * *     /usr/local/bin/backup

#include "support/command_line.hpp"

#include <cogwheel/schedule/task_scheduler.hpp>
#include <cogwheel/schedule/task_table.hpp>

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>

#include <csignal>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stop_token>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ; // NOLINT(readability-redundant-declaration)

namespace {

using namespace std::chrono_literals;

constexpr std::string_view usage = R"(usage: cron_table [options]
Runs the commands of a crontab-like file.

  --file F      the table; - is standard input (default -)
  --limit D     then a command is told to end, SIGTERM (default 1h)
  --show D      how often the table is printed; 0s: at the beginning only (default 0s)
  --seconds N   end after so long (default: by SIGINT or SIGTERM)
)";

struct options {
    std::string file = "-";
    std::chrono::nanoseconds limit = 1h, show = 0s;
    std::uint64_t seconds = 0;
};

struct entry {
    std::string name;
    cogwheel::task_trigger when;
    std::string command;
};

/// A line's fields, of which there are as many as its schedule needs; the rest is the command.
entry parse(const std::string& line, std::size_t number, cogwheel::time_zone zone) {
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

std::vector<entry> read(std::istream& in) {
    std::vector<entry> all;
    cogwheel::time_zone zone = cogwheel::time_zone::local();
    std::string line;
    for (std::size_t number = 1; std::getline(in, line); ++number) {
        const auto first = line.find_first_not_of(" \t");
        if (first == line.npos || line[first] == '#') continue;
        if (line.starts_with("ZONE="))
            zone = cogwheel::time_zone(line.substr(5));
        else
            all.push_back(parse(line, number, zone));
    }
    return all;
}

/// Runs it by a shell; what it prints goes where ours does. Throws what a failed task is to say.
void run_command(const std::string& command, const std::stop_token& stop) {
    const char* arguments[] = {"sh", "-c", command.c_str(), nullptr};
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP); // so that its children are told as well
    pid_t child = 0;
    const int failed = ::posix_spawn(&child, "/bin/sh", nullptr, &attributes, const_cast<char**>(arguments), environ);
    ::posix_spawnattr_destroy(&attributes);
    if (failed != 0) throw std::system_error(failed, std::generic_category(), "sh");
    int status = 0;
    {
        const std::stop_callback told(stop, [child] { ::kill(-child, SIGTERM); });
        siginfo_t ended{};
        while (::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
        }
    } // it is waited for only now: until then its number is nobody else's
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) throw std::runtime_error(fmt::format("ended by signal {}", WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0) throw std::runtime_error(fmt::format("exit code {}", WEXITSTATUS(status)));
}

void show(const cogwheel::task_scheduler& tasks) {
    fmt::print("{}", cogwheel::task_table(tasks.snapshot(), std::chrono::system_clock::now()));
    output::flush();
}

int serve(const options& wanted) {
    std::ifstream file;
    if (wanted.file != "-") file.open(wanted.file);
    if (wanted.file != "-" && !file) throw command_line::usage_error(fmt::format("cannot read {}", wanted.file));
    const auto table = read(wanted.file == "-" ? std::cin : file);

    asio::io_context io(1);
    cogwheel::timer_wheel wheel(io);
    cogwheel::task_scheduler tasks(wheel, {.pool = {.threads = 8}});
    for (const entry& e : table) {
        const auto refused =
            tasks.add({.name = e.name + ": " + e.command, .when = e.when},
                      [command = e.command](cogwheel::task_run& run) { run_command(command, run.stop_token()); },
                      {.time_limit = wanted.limit});
        if (refused) throw command_line::usage_error(fmt::format("{}: {}", e.name, refused.message()));
    }
    show(tasks);
    if (wanted.show > 0ns && !table.empty())
        tasks.add({.name = "(this table)", .when = cogwheel::task_trigger::every(wanted.show)},
                  [&tasks] { show(tasks); });

    asio::signal_set signals(io, SIGINT, SIGTERM);
    const auto end = [&] {
        show(tasks);
        tasks.stop();
        signals.cancel();
    };
    signals.async_wait([&](std::error_code ec, int) {
        if (!ec) end();
    });
    if (wanted.seconds != 0) wheel.schedule(std::chrono::seconds(wanted.seconds), end);
    io.run();
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    return command_line::run("cron_table", [&] {
        options wanted;
        command_line::reader line(argc, argv);
        while (line.next()) {
            if (line.name() == "--file") {
                wanted.file = line.value();
            } else if (line.name() == "--limit") {
                wanted.limit = line.positive_duration();
            } else if (line.name() == "--show") {
                wanted.show = line.duration();
            } else if (line.name() == "--seconds") {
                wanted.seconds = line.count(1, 1'000'000);
            } else if (line.name() == "--help" || line.name() == "-h") {
                fmt::print("{}", usage);
                return 0;
            } else {
                line.unknown();
            }
        }
        return serve(wanted);
    });
}
