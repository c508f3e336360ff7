// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// See leg.hpp. A command is the number of a repetition, an answer its sample. The command `leave` ends the child, as
// does the end of the pipe.
#include "leg.hpp"

#include "machine.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <type_traits>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {

namespace {

static_assert(std::is_trivially_copyable_v<sample>);

constexpr std::uint64_t leave = ~std::uint64_t{0};

template <class T>
bool read_all(int fd, T& object) {
    auto* at = reinterpret_cast<char*>(&object);
    for (std::size_t left = sizeof object; left != 0;) {
        const ssize_t n = ::read(fd, at, left);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        left -= static_cast<std::size_t>(n);
    }
    return true;
}

template <class T>
bool write_all(int fd, const T& object) {
    return ::write(fd, &object, sizeof object) == static_cast<ssize_t>(sizeof object); // less than a pipe's buffer
}

void set_error(sample& s, std::string_view text) {
    const std::size_t n = std::min(text.size(), sizeof s.error - 1);
    std::copy_n(text.data(), n, s.error);
    s.error[n] = '\0';
}

std::array<int, 2> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
    return ends;
}

} // namespace

void serve(const std::function<std::unique_ptr<leg>()>& make) {
    keep_freed_memory();
    std::unique_ptr<leg> body;
    for (std::uint64_t repetition = 0; read_all(STDIN_FILENO, repetition) && repetition != leave;) {
        sample s;
        try {
            if (!body) body = make();
            s = body->repeat(repetition);
        } catch (const std::exception& e) {
            set_error(s, e.what());
        }
        if (!write_all(STDOUT_FILENO, s)) break;
    }
}

leg_process::leg_process(const std::string& program, std::string_view workload, std::string_view contender,
                         std::size_t timers, bool huge_heap) {
    std::fflush(nullptr); // or the child prints it again
    const auto commands = make_pipe();
    const auto answers = make_pipe();
    std::array<std::string, 5> words{program, "--leg", std::string(workload), std::string(contender),
                                     std::to_string(timers)};
    child_ = ::fork();
    if (child_ < 0) throw std::runtime_error("cannot start a process");
    if (child_ == 0) {
        ::dup2(commands[0], STDIN_FILENO);
        ::dup2(answers[1], STDOUT_FILENO);
        if (huge_heap) ::setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", 1);
        ::execl(words[0].c_str(), words[0].c_str(), words[1].c_str(), words[2].c_str(), words[3].c_str(),
                words[4].c_str(), nullptr);
        ::_exit(127);
    }
    ::close(commands[0]);
    ::close(answers[1]);
    commands_ = commands[1];
    answers_ = answers[0];
}

leg_process::~leg_process() {
    write_all(commands_, leave);
    ::close(commands_);
    ::close(answers_);
    int status = 0;
    ::waitpid(child_, &status, 0);
}

sample leg_process::repeat(std::uint64_t repetition) {
    sample s;
    if (!write_all(commands_, repetition) || !read_all(answers_, s)) set_error(s, "the process died");
    return s;
}

} // namespace bench
