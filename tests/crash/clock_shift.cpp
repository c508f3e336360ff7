// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A shared object for LD_PRELOAD: the wall clock of the process is wrong by CLOCK_SHIFT_MS milliseconds, or by the
// 64-bit number in the file CLOCK_SHIFT_FILE, which may change. The steady clock stays right. So one machine shows what
// machines with wrong clocks do.
#include <atomic>
#include <cstdlib>
#include <ctime>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

namespace {

// NOLINTBEGIN(concurrency-mt-unsafe): nothing sets the environment
const std::atomic<long long>* shared_ms() {
    const char* const name = std::getenv("CLOCK_SHIFT_FILE");
    const int file = name != nullptr ? ::open(name, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return nullptr;
    void* const at = ::mmap(nullptr, sizeof(long long), PROT_READ, MAP_SHARED, file, 0);
    ::close(file);
    return at != MAP_FAILED ? static_cast<const std::atomic<long long>*>(at) : nullptr;
}

long long shift_ns() {
    static const std::atomic<long long>* const shared = shared_ms();
    static const long long fixed = [] {
        const char* const text = std::getenv("CLOCK_SHIFT_MS");
        return text != nullptr ? std::atoll(text) : 0;
    }();
    return (shared != nullptr ? shared->load(std::memory_order_relaxed) : fixed) * 1'000'000;
}
// NOLINTEND(concurrency-mt-unsafe)

bool is_wall(clockid_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

} // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* to) noexcept {
    using function = int (*)(clockid_t, timespec*);
    static const auto real = reinterpret_cast<function>(::dlsym(RTLD_NEXT, "clock_gettime"));
    const int result = real(clock, to);
    if (result != 0 || !is_wall(clock)) return result;
    constexpr long long second = 1'000'000'000;
    const long long ns = static_cast<long long>(to->tv_sec) * second + to->tv_nsec + shift_ns();
    to->tv_sec = static_cast<time_t>(ns / second);
    to->tv_nsec = static_cast<long>(ns % second);
    return 0;
}

int gettimeofday(timeval* to, void*) noexcept {
    timespec now{};
    const int result = clock_gettime(CLOCK_REALTIME, &now);
    to->tv_sec = now.tv_sec;
    to->tv_usec = now.tv_nsec / 1'000;
    return result;
}

time_t time(time_t* to) noexcept {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    if (to != nullptr) *to = now.tv_sec;
    return now.tv_sec;
}

} // extern "C"
