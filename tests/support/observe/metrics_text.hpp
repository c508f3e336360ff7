// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Reads the Prometheus text format and OpenMetrics, strictly enough for tests: by hand, so that it shares no code with
// what writes them.
#pragma once

#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace cogwheel_tests {

class read_metrics {
public:
    std::map<std::string, std::string> families; ///< name and type; of a counter always with _total
    std::string fault;                           ///< the first thing that the format does not allow

    explicit read_metrics(const std::string& text) {
        std::istringstream lines(text);
        std::string line, family;
        bool ended = false;
        while (std::getline(lines, line)) {
            if (ended) note("a line after # EOF");
            if (line == "# EOF") {
                ended = true;
            } else if (line.starts_with("# ")) {
                std::istringstream words(line.substr(2));
                std::string keyword, name, type;
                words >> keyword >> name >> type;
                if (keyword == "HELP" && !begun_.insert(name).second) note("a family in two places: " + name);
                family = name;
                if (keyword == "TYPE")
                    families[type == "counter" && !name.ends_with("_total") ? name + "_total" : name] = type;
            } else {
                const std::size_t space = line.rfind(' ');
                const std::string series = line.substr(0, space);
                if (!series.starts_with(family)) note("a sample outside of its family: " + line);
                if (!values_.emplace(series, number(line.substr(space + 1))).second) note("a sample twice: " + line);
            }
        }
        if (!text.empty() && text.back() != '\n') note("no line feed at the end");
    }

    bool has(const std::string& series) const { return values_.contains(series); }
    /// -1 if there is no such series.
    double value(const std::string& series) const { return has(series) ? values_.at(series) : -1; }

private:
    void note(const std::string& what) {
        if (fault.empty()) fault = what;
    }
    double number(const std::string& text) {
        if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
        char* end = nullptr;
        const double v = std::strtod(text.c_str(), &end);
        if (*end != '\0' || text.empty()) note("not a number: " + text);
        return v;
    }

    std::set<std::string> begun_;
    std::map<std::string, double> values_;
};

} // namespace cogwheel_tests
