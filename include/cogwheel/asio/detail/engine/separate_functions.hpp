// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The functions of the usual wheels that do not depend on the type of a handler. With COGWHEEL_SEPARATE_COMPILATION,
// only the file that includes <cogwheel/src.hpp> compiles them; else each file compiles those that it uses. Wheels of
// other types are always compiled where they are used.
#pragma once

#include <cogwheel/asio/timer_wheel.hpp>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

template <class Locking, class Core>
using usual_impl = wheel_impl<std::chrono::steady_clock, Locking, Core>;

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

// NOLINTBEGIN(bugprone-macro-parentheses): types cannot have any
// One by one: with the whole class, a program would contain functions that it never calls. Functions that only these
// call are compiled with them. `how` is extern, or empty to compile them. `...` is the engine's type.
#define COGWHEEL_SEPARATE_ENGINE(how, ...)                                                                             \
    how template void __VA_ARGS__::close(__VA_ARGS__::lock_type&) noexcept;                                            \
    how template void __VA_ARGS__::shutdown(__VA_ARGS__::lock_type&);                                                  \
    how template void __VA_ARGS__::recycle_unless_used(__VA_ARGS__::lock_type&) noexcept;                              \
    how template void __VA_ARGS__::request_turn();                                                                     \
    how template void __VA_ARGS__::let_run_return() noexcept;                                                          \
    how template void __VA_ARGS__::wake_earlier_by(due_tick);                                                          \
    how template void __VA_ARGS__::cancel_wait() noexcept;

#define COGWHEEL_SEPARATE_FUNCTIONS(how, wheel)                                                                        \
    COGWHEEL_SEPARATE_ENGINE(how, wheel_engine<std::chrono::steady_clock, multi_threaded, wheel>)                      \
    COGWHEEL_SEPARATE_ENGINE(how, wheel_engine<std::chrono::steady_clock, single_threaded, wheel>)                     \
    how template usual_impl<multi_threaded, wheel>& open_wheel<usual_impl<multi_threaded, wheel>>(                     \
        asio::execution_context&, const asio::any_io_executor&, const wheel_options&);                                 \
    how template usual_impl<single_threaded, wheel>& open_wheel<usual_impl<single_threaded, wheel>>(                   \
        asio::execution_context&, const asio::any_io_executor&, const wheel_options&);

// NOLINTEND(bugprone-macro-parentheses)

#ifdef COGWHEEL_SEPARATE_COMPILATION
namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
COGWHEEL_SEPARATE_FUNCTIONS(extern, hashed_wheel)
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
#endif
