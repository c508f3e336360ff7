// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// To compile less in each file, define COGWHEEL_SEPARATE_COMPILATION for the whole program, and include this header in
// one of its files, which needs nothing else. Asio has the same: ASIO_SEPARATE_COMPILATION and <asio/impl/src.hpp>.
//
//     target_compile_definitions(server PRIVATE COGWHEEL_SEPARATE_COMPILATION)
//     // wheels.cpp:
//     #include <cogwheel/src.hpp>
//
// If no file includes it, the linker misses functions of wheel_engine, and open_wheel. The file compiles the usual
// wheels, whether they are used or not; -ffunction-sections and the linker's --gc-sections remove those that are not.
#pragma once

#include <cogwheel/asio/hierarchical_timer_wheel.hpp>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
COGWHEEL_SEPARATE_FUNCTIONS(, hashed_wheel)
COGWHEEL_SEPARATE_FUNCTIONS(, hierarchical_wheel)
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
