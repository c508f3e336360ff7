// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What hardly a snippet would do without, read once for all of them. Any other header they include for themselves, as a
// user's program has to. Nothing calls this function: what it uses is compiled with the header.
#pragma once

#include <cogwheel/asio/timer_wheel.hpp>

namespace precompiled {

inline void everything(asio::io_context& io) {
    cogwheel::timer_wheel wheel{io};
    cogwheel::timer_token token = wheel.schedule(std::chrono::seconds(5), [] {});
    token.reschedule(std::chrono::seconds(5));
    token.cancel();
    wheel.async_wait(std::chrono::seconds(5), [](std::error_code) {});
    io.run();
}

} // namespace precompiled
