// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Loads the plugins, and fails at the first promise that does not hold.
#include <cogwheel/asio/error.hpp>
#include <cogwheel/asio/timer_wheel_of.hpp>
#include <cogwheel/calendar/cron.hpp>
#include <cogwheel/testing/manual_clock.hpp>

#include <asio/io_context.hpp>

#include <cstdio>
#include <cstdlib>
#include <new>

#include <dlfcn.h>

namespace {

void expect(bool holds, const char* what) {
    if (holds) return;
    const char* why = dlerror();
    std::fprintf(stderr, "%s %s\n", what, why != nullptr ? why : "");
    std::exit(1);
}

template <class Function>
Function* function(void* plugin, const char* name) {
    void* found = dlsym(plugin, name);
    expect(found != nullptr, name);
    return reinterpret_cast<Function*>(found);
}

// The program and the plugins find the same wheel, so a context has one driver. The next context lies in the same
// place: none of the three may take it for the old one.
void share_a_wheel(void* plugin, void* other) {
    alignas(asio::io_context) static std::byte place[sizeof(asio::io_context)];
    using counts = const cogwheel::timer_wheel*(asio::io_context&, int&);
    for (int round = 0; round < 3; ++round) {
        asio::io_context& io = *::new (static_cast<void*>(place)) asio::io_context;
        int fired = 0;
        const cogwheel::timer_wheel* first = function<counts>(round == 1 ? other : plugin, "plugin_counts")(io, fired);
        const cogwheel::timer_wheel* second = function<counts>(round == 1 ? plugin : other, "plugin_counts")(io, fired);
        const cogwheel::timer_wheel& ours = cogwheel::timer_wheel_of(io);
        ours.schedule(std::chrono::milliseconds(1), [&] { ++fired; });
        expect(first == &ours && second == &ours, "a plugin found another wheel");
        expect(ours.stats().scheduled == 3, "the wheel has other timers than ours");
        io.run();
        expect(fired == 3, "a timer did not fire");
        io.~io_context();
    }
}

#ifdef SHARED
// One library in the process: one clock, one error category, one type of an exception.
void share(void* plugin) {
    using cogwheel::testing::manual_clock;
    asio::io_context io;
    cogwheel::testing::manual_timer_wheel wheel{io};
    bool fired = false;
    function<void(cogwheel::testing::manual_timer_wheel&, bool&)>(plugin, "plugin_schedules")(wheel, fired);
    expect(wheel.pending() == 1, "the plugin's timer is not on our wheel");
    manual_clock::advance(std::chrono::hours(1));
    io.poll();
    expect(fired, "the plugin's timer did not fire");

    expect(function<std::error_code()>(plugin, "plugin_error")() == cogwheel::errc::stopped,
           "the plugin's error is another");

    bool caught = false;
    try {
        function<void()>(plugin, "plugin_throws")();
    } catch (const cogwheel::cron_error& error) {
        caught = error.column() > 0;
    }
    expect(caught, "the plugin's exception was not caught");
}
#endif

} // namespace

int main() {
    void* plugin = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
    void* other = dlopen(OTHER, RTLD_NOW | RTLD_LOCAL);
    expect(plugin != nullptr && other != nullptr, "dlopen");
    share_a_wheel(plugin, other);
    expect(function<bool()>(plugin, "plugin_fires")(), "the plugin's own timer did not fire");
#ifdef SHARED
    share(plugin);
#endif
}
