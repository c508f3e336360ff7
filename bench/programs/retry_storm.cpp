// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// retry_storm DIRECTORY: runs the storm of tests/resilience/retry_storm_test with and without its defences, and writes
// what the server sees to DIRECTORY/retry-storm.csv and retry-storm.svg. Virtual time and fixed seeds: the same files
// on every machine.
#include "support/resilience/retry_storm.hpp"

#include <cmath>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>

namespace {

using cogwheel_tests::retry_storm;

struct panel {
    std::string title;
    std::string name;
    retry_storm::defences defences;
    retry_storm::bins seen{};
};

constexpr std::size_t shown = 400; // bins of 100 ms
constexpr double width = 760, height = 150, left = 64, top = 56, gap = 62, tallest = 10'000;

int at(const std::vector<int>& v, std::size_t i) { return i < v.size() ? v[i] : 0; }

double x_of(std::size_t bin) { return left + width * static_cast<double>(bin) / shown; }
double level(double count) { return count < 1 ? 0 : height * (0.05 + 0.95 * std::log10(count) / std::log10(tallest)); }

void write_csv(std::ostream& out, const std::vector<panel>& panels) {
    out << "ms";
    for (const panel& p : panels) out << ',' << p.name << "_first_attempts," << p.name << "_retries";
    out << '\n';
    for (std::size_t i = 0; i < shown; ++i) {
        out << i * 100;
        for (const panel& p : panels) out << ',' << at(p.seen.first_attempts, i) << ',' << at(p.seen.retries, i);
        out << '\n';
    }
}

void text(std::ostream& out, double x, double y, const char* style, const std::string& s) {
    out << "<text x=\"" << x << "\" y=\"" << y << "\" class=\"" << style << "\">" << s << "</text>\n";
}

void bars(std::ostream& out, const std::vector<int>& v, double base, const char* style) {
    out << "<path class=\"" << style << "\" d=\"";
    const double one = width / shown;
    for (std::size_t i = 0; i < shown; ++i) {
        const double h = level(at(v, i));
        if (h > 0) out << 'M' << x_of(i) << ' ' << base << 'v' << -h << 'h' << one << 'v' << h << 'z';
    }
    out << "\"/>\n";
}

// As an outline, so that the bars below it show.
void outline(std::ostream& out, const std::vector<int>& v, double base, const char* style) {
    out << "<path class=\"" << style << "\" d=\"M" << left << ' ' << base;
    for (std::size_t i = 0; i < shown; ++i) out << 'V' << base - level(at(v, i)) << 'H' << x_of(i + 1);
    out << "\"/>\n";
}

std::string summary(const panel& p) {
    std::ostringstream s;
    s << std::fixed << std::setprecision(1) << p.title << ": " << p.seen.all_retries() << " retries; at the peak "
      << p.seen.peak_of_retries() << " in 100 ms, " << p.seen.peak_of_retries() / p.seen.mean_of_retries()
      << " x their mean";
    return s.str();
}

void write_svg(std::ostream& out, const std::vector<panel>& panels) {
    const double full = top + static_cast<double>(panels.size()) * (height + gap);
    out << std::fixed << std::setprecision(1);
    out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << left + width + 24 << ' ' << full
        << "\" font-family=\"sans-serif\" font-size=\"12\">\n<style>.title{font-size:14px;font-weight:bold}"
           ".small{fill:#555}.count{fill:#555;text-anchor:end}.first{fill:none;stroke:#1f2937;stroke-width:1}.retry{"
           "fill:#c2410c;fill-opacity:.6}"
           ".away{fill:#fde8e0}.grid{stroke:#ccc;stroke-width:.5}</style>\n<rect width=\"100%\" height=\"100%\" "
           "fill=\"#fff\"/>\n";
    text(out, left, 20, "title", "10,000 clients, a server that is away for 30 s: calls it sees in 100 ms");
    out << "<rect x=\"" << left << "\" y=\"28\" width=\"10\" height=\"10\" class=\"first\"/>\n";
    text(out, left + 15, 37, "small", "first attempts");
    out << "<rect x=\"" << left + 110 << "\" y=\"28\" width=\"10\" height=\"10\" class=\"retry\"/>\n";
    text(out, left + 125, 37, "small", "retries (logarithmic scale)");
    double base = top + 18 + height;
    for (const panel& p : panels) {
        text(out, left, base - height - 5, "small", summary(p));
        out << "<rect class=\"away\" x=\"" << left << "\" y=\"" << base - height << "\" width=\"" << width * 0.75
            << "\" height=\"" << height << "\"/>\n";
        for (int count = 1; count <= 10'000; count *= 10) {
            const double y = base - level(count);
            out << "<line class=\"grid\" x1=\"" << left << "\" x2=\"" << left + width << "\" y1=\"" << y << "\" y2=\""
                << y << "\"/>\n";
            text(out, left - 6, y + 4, "count", std::to_string(count));
        }
        bars(out, p.seen.retries, base, "retry");
        outline(out, p.seen.first_attempts, base, "first");
        for (std::size_t s = 0; s <= shown / 10; s += 5)
            text(out, x_of(s * 10) - 6, base + 15, "small", std::to_string(s) + " s");
        base += height + gap;
    }
    out << "</svg>\n";
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "retry_storm DIRECTORY\n";
        return 2;
    }
    std::vector<panel> panels{{"neither jitter nor budget", "none", {.jitter = false, .budget = false}},
                              {"jitter", "jitter", {.jitter = true, .budget = false}},
                              {"jitter and budget", "jitter_budget", {.jitter = true, .budget = true}}};
    for (panel& p : panels) {
        p.seen = retry_storm(p.defences).run();
        std::cout << summary(p) << '\n';
    }
    const std::string directory = argv[1];
    std::ofstream csv(directory + "/retry-storm.csv");
    std::ofstream svg(directory + "/retry-storm.svg");
    write_csv(csv, panels);
    write_svg(svg, panels);
    csv.close();
    svg.close();
    if (csv && svg) return 0;
    std::cerr << "cannot write to " << directory << '\n';
    return 1;
}
