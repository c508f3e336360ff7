// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A program that is compiled with another Asio than cogwheel::tasks, or, with WITHOUT_TASKS, not linked with it. The
// linker refuses it. It says itself what the headers of tasks say (asio_of_library_test), so that it compiles at once.
#include <asio/version.hpp>

#ifndef WITHOUT_TASKS
#undef ASIO_VERSION
#define ASIO_VERSION 109900
#endif

#include <cogwheel/detail/which_asio.hpp>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
COGWHEEL_NEEDS_ASIO_OF(tasks);
}

int main() {}
