// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// See system_calls.hpp. Linux 5.3.
#include "system_calls.hpp"

#include <array>
#include <csignal>
#include <cstdint>
#include <limits>

#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {

namespace {

constexpr std::uint64_t refused = 0, ready = 1;

bool tell(int fd, std::uint64_t word) { return write(fd, &word, sizeof word) == sizeof word; }
bool hear(int fd, std::uint64_t& word) { return read(fd, &word, sizeof word) == sizeof word; }

bool is_write_to(const __ptrace_syscall_info& call, int fd) {
    return call.entry.nr == SYS_write && call.entry.args[0] == static_cast<std::uint64_t>(fd);
}

// The calls that `traced`, which is about to stop, begins between a write to `mark` and the next.
std::uint64_t count_between_writes(pid_t traced, int mark) {
    std::uint64_t calls = 0;
    int marks = 0;
    for (int status = 0; marks < 2 && waitpid(traced, &status, __WALL) == traced && WIFSTOPPED(status);) {
        __ptrace_syscall_info call{};
        const bool at_call = WSTOPSIG(status) == (SIGTRAP | 0x80);
        if (at_call) ptrace(PTRACE_GET_SYSCALL_INFO, traced, sizeof call, &call);
        if (call.op == PTRACE_SYSCALL_INFO_ENTRY) {
            if (is_write_to(call, mark))
                ++marks;
            else if (marks != 0)
                ++calls;
        }
        const bool is_signal = !at_call && status >> 16 == 0; // for the program: passed on
        if (marks < 2) ptrace(PTRACE_SYSCALL, traced, nullptr, is_signal ? WSTOPSIG(status) : 0);
    }
    return calls;
}

[[noreturn]] void be_tracer(pid_t traced, int commands, int mark, int answers) {
    std::uint64_t word = 0;
    hear(commands, word); // we may begin
    const bool may = ptrace(PTRACE_SEIZE, traced, nullptr, PTRACE_O_TRACESYSGOOD) == 0 &&
                     ptrace(PTRACE_INTERRUPT, traced, nullptr, nullptr) == 0;
    tell(answers, may ? ready : refused);
    if (may) {
        const std::uint64_t calls = count_between_writes(traced, mark);
        ptrace(PTRACE_DETACH, traced, nullptr, nullptr);
        tell(answers, calls);
    }
    _exit(0);
}

} // namespace

double system_calls_of(const std::function<void()>& f) {
    double calls = std::numeric_limits<double>::quiet_NaN();
    std::array<int, 2> commands{}, answers{};
    if (pipe(commands.data()) != 0) return calls;
    if (pipe(answers.data()) == 0) {
        const pid_t self = getpid();
        const pid_t tracer = fork();
        if (tracer == 0) be_tracer(self, commands[0], commands[1], answers[1]);
        if (tracer > 0) {
            prctl(PR_SET_PTRACER, tracer); // where only ancestors may
            tell(commands[1], ready);
            std::uint64_t word = refused;
            if (hear(answers[0], word) && word == ready) {
                tell(commands[1], 0);
                f();
                tell(commands[1], 0);
                if (hear(answers[0], word)) calls = static_cast<double>(word);
            }
            waitpid(tracer, nullptr, 0);
        }
        for (const int fd : answers) close(fd);
    }
    for (const int fd : commands) close(fd);
    return calls;
}

} // namespace bench
