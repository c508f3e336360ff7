// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A shared object for LD_PRELOAD: the wall clock of the process is wrong by CLOCK_SHIFT_MS milliseconds. The steady
// clock stays right. So one machine shows what machines with wrong clocks do.
#include <cstdlib>
#include <ctime>

#include <dlfcn.h>
#include <sys/time.h>

namespace {

long long shift_ns() {
    static const long long shift = [] {
        const char* text = std::getenv("CLOCK_SHIFT_MS"); // NOLINT(concurrency-mt-unsafe): nothing sets it
        return text != nullptr ? std::atoll(text) * 1'000'000 : 0;
    }();
    return shift;
}

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
