// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The table as it is written: a line for each command, with its schedule before it.
//
//     # second minute hour day-of-month month day-of-week  command; or five fields, or @daily
//     ZONE=Europe/Berlin
//     */5 * * * * *  echo "every five seconds"
//     30 2 * * *     /usr/local/bin/backup
#pragma once

#include <cogwheel/tasks/task_trigger.hpp>

#include <iosfwd>
#include <string>
#include <vector>

namespace cron {

struct entry {
    std::string name;
    cogwheel::task_trigger when;
    std::string command;
};

/// Errors: command_line::usage_error that names the line.
std::vector<entry> read_table(std::istream& in);

} // namespace cron
