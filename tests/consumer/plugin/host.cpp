// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Loads the plugin, and fails at the first promise that does not hold.
#include <cstdio>
#include <cstdlib>

#include <dlfcn.h>

#ifdef SHARED
#include <cogwheel/asio/error.hpp>
#include <cogwheel/schedule/cron.hpp>
#include <cogwheel/testing/manual_clock.hpp>

#include <asio/io_context.hpp>
#endif

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
    expect(plugin != nullptr, "dlopen");
    expect(function<bool()>(plugin, "plugin_fires")(), "the plugin's own timer did not fire");
#ifdef SHARED
    share(plugin);
#endif
}
