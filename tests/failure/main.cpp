// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// No memory at each allocation of each operation, Asio's own among them: one failure, two and three in a row, and for
// good until the operation is over. Nothing may be lost: what is neither complete, nor pending, nor reported by an
// exception of the call that started it. While memory is out, calls and run() may throw; once it is back, all that is
// pending completes.
//
//     failure_injection [--case NAME] [--point N --window N] [--list]
//
// Each case has a process of its own, so that one that ends by std::terminate is a finding like others. Exit: 0 nothing
// lost.
#include "failure/trial.hpp"

#include <cstdlib>
#include <cstring>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace failure;

struct tally {
    std::size_t points = 0, lost = 0, told = 0, faults = 0;
};

const char* present_case = "";
std::size_t present_point = 0, present_window = 0;

[[noreturn]] void say_where() {
    heap::recover();
    std::printf("%s: std::terminate at allocation %zu, window %zu\n", present_case, present_point,
                present_window == for_ever ? 0 : present_window);
    std::fflush(stdout);
    std::abort();
}

// False: the window lies behind the last allocation.
bool try_point(const test_case& c, std::size_t first, std::size_t count, tally& t) {
    present_case = c.name.data();
    present_point = first;
    present_window = count;
    std::size_t failures = 0;
    const char* wrong = nullptr;
    std::size_t lost = 0;
    {
        trial one;
        one.plan(first, count);
        c.body(one);
        failures = heap::failures();
        one.settle();
        wrong = one.verdict();
        lost = one.lost();
        t.told += one.told_by_run();
    }
    if (wrong != nullptr) {
        ++t.faults;
        t.lost += lost;
        std::printf("%s: allocation %zu, window %zu: %s\n", c.name.data(), first, count == for_ever ? 0 : count, wrong);
    }
    if (failures == 0) return false;
    ++t.points;
    return true;
}

tally try_case(const test_case& c) {
    tally t;
    for (const std::size_t window : {std::size_t{1}, std::size_t{2}, std::size_t{3}, for_ever})
        for (std::size_t first = 0; try_point(c, first, window, t); ++first) {
        }
    return t;
}

// In a process of its own, which tells by a pipe. False: it died, or leaked.
bool try_apart(const test_case& c, tally& sum) {
    int ends[2];
    if (::pipe(ends) != 0) return false;
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child < 0) return false;
    if (child == 0) {
        ::close(ends[0]);
        const tally t = try_case(c);
        const bool told = ::write(ends[1], &t, sizeof t) == static_cast<ssize_t>(sizeof t);
        std::exit(told && t.faults == 0 ? 0 : 1); // and looks for leaks
    }
    ::close(ends[1]);
    tally t;
    const bool told = ::read(ends[0], &t, sizeof t) == static_cast<ssize_t>(sizeof t);
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    sum.points += t.points;
    sum.lost += t.lost;
    sum.told += t.told;
    const bool fine = told && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!fine && t.faults == 0) ++t.faults;
    sum.faults += t.faults;
    std::printf("%-44s %6zu points %4zu lost%s\n", c.name.data(), t.points, t.lost,
                !told   ? "  DIED"
                : !fine ? "  WRONG"
                        : "");
    return fine;
}

std::size_t number(const char* text) { return static_cast<std::size_t>(std::strtoull(text, nullptr, 10)); }

} // namespace

int main(int argc, char** argv) {
    std::string_view only;
    std::size_t point = for_ever, window = 1;
    bool list = false;
    for (int i = 1; i < argc; ++i) {
        const bool more = i + 1 < argc;
        if (more && std::strcmp(argv[i], "--case") == 0) {
            only = argv[++i];
        } else if (more && std::strcmp(argv[i], "--point") == 0) {
            point = number(argv[++i]);
        } else if (more && std::strcmp(argv[i], "--window") == 0) {
            window = number(argv[++i]);
        } else if (std::strcmp(argv[i], "--list") == 0) {
            list = true;
        } else {
            std::fprintf(stderr, "failure_injection [--case NAME] [--point N --window N] [--list]; "
                                 "window 0: for good\n");
            return 2;
        }
    }
    std::set_terminate(&say_where);
    tally sum;
    bool fine = true, found = false;
    for (const auto& group : {wheel_cases(), limit_cases(), net_cases(), schedule_cases()}) {
        for (const test_case& c : group) {
            if (list) std::printf("%s\n", c.name.data());
            if (list || (!only.empty() && only != c.name)) continue;
            found = true;
            if (point != for_ever) {
                try_point(c, point, window == 0 ? for_ever : window, sum);
                fine = sum.faults == 0;
            } else {
                fine = try_apart(c, sum) && fine;
            }
        }
    }
    if (list) return 0;
    std::printf("%zu points tried, %zu completions lost, %zu faults; %zu handlers that their own executor had no "
                "memory for, as run() told\n",
                sum.points, sum.lost, sum.faults, sum.told);
    return fine && found ? 0 : 1;
}
