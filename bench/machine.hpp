// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The machine's side: clocks, the heap's account, pinning, and what all of it is called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace bench {

/// Runs from its construction on.
class stopwatch {
public:
    stopwatch();
    double cpu_ns() const; ///< of this process, user and system
    double wall_ns() const;
    std::uint64_t mallocs() const;

private:
    double cpu_;
    double wall_;
    std::uint64_t mallocs_;
};

/// Bytes that the allocator has handed out, its own overhead included (glibc: mallinfo2, uordblks + hblkhd).
std::size_t heap_in_use();

/// How often anything asked the heap for memory since the program began.
std::uint64_t mallocs();

/// Keeps freed memory in the process, so that a repetition does not pay again for page faults that an earlier one had.
void keep_freed_memory();

/// Undoes that: freed memory goes back to the system as it would in any program.
void return_freed_memory();

/// Bytes of this process that are in memory.
std::size_t resident();

/// Times that this process has gone to sleep of its own accord.
std::size_t sleeps();

/// How often the system has taken the processor from this thread, or the thread has given it up.
std::size_t context_switches();

/// For how long this thread has run, user and system.
double thread_cpu_ns();

/// Binds this process to one processor: `cpu`, or the last one allowed when negative. Returns which.
int pin(int cpu);
void unpin();

std::string cpu_name();
std::string compiler_name();
std::string asio_version();

} // namespace bench
