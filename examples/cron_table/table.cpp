// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "table.hpp"

#include "support/command_line.hpp"

#include <istream>
#include <sstream>
#include <utility>

namespace cron {
namespace {

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

} // namespace

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

} // namespace cron
