// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// See machine.hpp. Linux and glibc.
#include "machine.hpp"

#include <asio/version.hpp>
#include <fmt/format.h>

#include <cstring>
#include <ctime>
#include <fstream>
#include <limits>
#include <stdexcept>

#include <malloc.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

namespace bench {

namespace {

double read_clock(clockid_t id) {
    timespec t{};
    clock_gettime(id, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

} // namespace

stopwatch::stopwatch()
    : cpu_(read_clock(CLOCK_PROCESS_CPUTIME_ID)), wall_(read_clock(CLOCK_MONOTONIC)), mallocs_(bench::mallocs()) {}
double stopwatch::cpu_ns() const { return read_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu_; }
double stopwatch::wall_ns() const { return read_clock(CLOCK_MONOTONIC) - wall_; }
std::uint64_t stopwatch::mallocs() const { return bench::mallocs() - mallocs_; }

std::size_t heap_in_use() {
    const auto info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

void keep_freed_memory() {
    mallopt(M_MMAP_THRESHOLD, std::numeric_limits<int>::max());
    mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

void return_freed_memory() {
    constexpr int usual = 128 * 1024;
    mallopt(M_MMAP_THRESHOLD, usual);
    mallopt(M_TRIM_THRESHOLD, usual);
}

std::size_t resident() {
    std::ifstream file("/proc/self/statm");
    std::size_t size = 0, pages = 0;
    file >> size >> pages;
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::size_t sleeps() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::size_t>(usage.ru_nvcsw);
}

std::size_t context_switches() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return static_cast<std::size_t>(usage.ru_nvcsw + usage.ru_nivcsw);
}

double thread_cpu_ns() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

int pin(int cpu) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) throw std::runtime_error("cannot read the CPU affinity");
    if (cpu < 0)
        for (int i = 0; i < CPU_SETSIZE; ++i)
            if (CPU_ISSET(static_cast<unsigned>(i), &allowed)) cpu = i;
    cpu_set_t one;
    CPU_ZERO(&one);
    if (cpu < CPU_SETSIZE) CPU_SET(static_cast<unsigned>(cpu), &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        throw std::runtime_error(fmt::format("cannot run on CPU {}: it does not exist, or is not allowed", cpu));
    return cpu;
}

void unpin() {
    cpu_set_t all;
    std::memset(&all, 0xff, sizeof all);
    sched_setaffinity(0, sizeof all, &all);
}

std::string cpu_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name"))
            if (const auto colon = line.find(": "); colon != line.npos) return line.substr(colon + 2);
    return "unknown CPU";
}

std::string compiler_name() {
#if defined(__clang__)
    return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
    return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::string asio_version() {
    return fmt::format("{}.{}.{}", ASIO_VERSION / 100000, ASIO_VERSION / 100 % 1000, ASIO_VERSION % 100);
}

} // namespace bench
