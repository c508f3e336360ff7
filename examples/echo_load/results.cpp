// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The table of results and the promises. How late a kick came is shown and not judged: it depends on the machine.

#include "results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include <unistd.h>

namespace load {
namespace {

double seconds(std::chrono::nanoseconds duration) { return std::chrono::duration<double>(duration).count(); }

/// The nearest-rank quantile of a sorted list.
std::string milliseconds_at(const std::vector<std::chrono::nanoseconds>& sorted, double fraction) {
    if (sorted.empty()) return "-";
    const auto rank = static_cast<std::size_t>(std::llround(fraction * static_cast<double>(sorted.size() - 1)));
    return fmt::format("{:.2f} ms", std::chrono::duration<double, std::milli>(sorted[rank]).count());
}

std::chrono::nanoseconds earliest_kick(const results& seen) {
    auto earliest = std::chrono::nanoseconds::max();
    for (const kick& one : seen.kicks) earliest = std::min(earliest, one.after_last_send);
    return earliest;
}

/// Rounded down, so that what is printed never looks better than it was.
std::string truncated_seconds(std::chrono::nanoseconds duration) {
    return fmt::format("{:.6f} s", seconds(std::chrono::floor<std::chrono::microseconds>(duration)));
}

} // namespace

std::chrono::duration<double> cpu_time_of(int pid) {
    std::ifstream file{fmt::format("/proc/{}/stat", pid)};
    std::string text;
    std::getline(file, text);
    const auto name_end = text.rfind(')'); // the name may hold anything, spaces and brackets too
    if (name_end == text.npos) return std::chrono::duration<double>{-1};

    std::istringstream fields{text.substr(name_end + 1)};
    std::string skipped;
    for (int field = 3; field < 14; ++field) fields >> skipped;
    double user = 0;
    double system = 0;
    fields >> user >> system;
    return std::chrono::duration<double>{(user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK))};
}

std::string table(const options& wanted, results seen, std::chrono::duration<double> cpu,
                  std::chrono::duration<double> elapsed) {
    const auto silent = wanted.connections / 2;
    std::vector<std::chrono::nanoseconds> lateness;
    for (const kick& one : seen.kicks) lateness.push_back(one.after_last_receipt - wanted.idle);
    std::sort(lateness.begin(), lateness.end());

    std::string text;
    const auto row = [&text](std::string_view name, const std::string& value) {
        text += fmt::format("  {:<44}{}\n", name, value);
    };
    row("connections", fmt::format("{} for {:.1f} s", seen.connected, elapsed.count()));
    row("chatting connections kicked",
        fmt::format("{} of {}", seen.kicked_while_chatting, wanted.connections - silent));
    row("silent connections kicked", fmt::format("{} of {}", seen.kicks.size(), silent));
    row("earliest kick after its last byte",
        seen.kicks.empty()
            ? "-"
            : fmt::format("{}  (limit {:.3f} s)", truncated_seconds(earliest_kick(seen)), seconds(wanted.idle)));
    row("lateness of the kicks, p50 / p99 / max",
        fmt::format("{} / {} / {}", milliseconds_at(lateness, 0.50), milliseconds_at(lateness, 0.99),
                    milliseconds_at(lateness, 1.0)));
    row("messages echoed intact", fmt::format("{} of {}  ({:.1f} MB)", seen.messages_intact, seen.messages_sent,
                                              static_cast<double>(seen.bytes_echoed) / 1e6));
    row("CPU of the server", cpu.count() < 0 ? "not measured"
                                             : fmt::format("{:.2f} s  ({:.1f} % of one core)", cpu.count(),
                                                           100 * cpu.count() / elapsed.count()));
    return text;
}

std::string broken_promises(const options& wanted, const results& seen) {
    std::string text;
    const auto broken = [&text](const std::string& what) { text += fmt::format("broken promise: {}\n", what); };

    if (seen.connected != wanted.connections)
        broken(fmt::format("{} of {} connections could not be opened ({})", wanted.connections - seen.connected,
                           wanted.connections, seen.first_connect_error));
    if (seen.kicked_while_chatting != 0)
        broken(fmt::format("{} connections were closed while they were chatting", seen.kicked_while_chatting));
    if (seen.kicked_before_silent != 0)
        broken(fmt::format("{} connections were closed before they fell silent", seen.kicked_before_silent));
    if (seen.never_kicked != 0)
        broken(fmt::format("{} silent connections were still open at the end", seen.never_kicked));
    if (seen.resets != 0)
        broken(fmt::format("{} silent connections were reset instead of closed in order", seen.resets));
    if (!seen.kicks.empty() && earliest_kick(seen) < wanted.idle)
        broken(fmt::format("a connection was closed {} after its last byte, before its idle limit of {:.3f} s",
                           truncated_seconds(earliest_kick(seen)), seconds(wanted.idle)));
    if (seen.messages_intact != seen.messages_sent)
        broken(fmt::format("{} messages did not come back, or not as they were sent",
                           seen.messages_sent - seen.messages_intact));
    if (seen.failed != 0) broken(fmt::format("{} connections failed here, and show nothing", seen.failed));
    if (seen.stray_bytes != 0) broken(fmt::format("{} bytes arrived that nobody had sent", seen.stray_bytes));
    return text;
}

} // namespace load
