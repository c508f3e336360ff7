// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "../detail/throwing.hpp"

#include <cogwheel/asio/detail/clock/tick_clock.hpp>
#include <cogwheel/detail/platform.hpp>

#if COGWHEEL_LINUX
#include <array>
#include <cstring>
#include <ctime>
#include <string_view>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/timex.h>
#include <unistd.h>
#endif

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

#if COGWHEEL_TICK_COUNTER

using counter = tick_counter<std::chrono::steady_clock>;

std::chrono::nanoseconds counter::unslewed() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC_RAW, &now); // fails for bad arguments only
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

[[gnu::cold]] bool counter::is_usable(bool wanted) {
    // A kernel that does not know PR_GET_TSC has no such trap. If a filter refuses the call (seccomp(2)), assumes that
    // the counter is readable, because the system's clock, which reads it too, was read before.
    int reading = 0;
    if (::prctl(PR_GET_TSC, &reading) == 0 && reading == PR_TSC_SIGSEGV)
        throw_invalid_argument("cogwheel: PR_SET_TSC is set: define COGWHEEL_NO_TICK_COUNTER");
    if (!wanted) return false;
    // With the signal of a precise clock (or a filter that hides it), the kernel may slew by half of the time.
    timex state{};
    if (::adjtimex(&state) == -1 || (state.status & STA_PPSTIME) != 0) return false;
    // The kernel has checked the source of its clocks: that it is invariant, and the same for all processors.
    const int file = ::open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    std::array<char, 64> name{};
    const ssize_t length = ::read(file, name.data(), name.size());
    ::close(file);
#if COGWHEEL_X86_64
    constexpr std::string_view trusted = "tsc\n";
#else
    constexpr std::string_view trusted = "arch_sys_counter\n";
#endif
    return length == std::ssize(trusted) && std::memcmp(name.data(), trusted.data(), trusted.size()) == 0;
}

#endif

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
