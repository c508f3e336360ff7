// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A program that is compiled with another Asio than cogwheel::tasks. The linker refuses it.
#include <asio/version.hpp>

#if ASIO_VERSION < 102600 // executors have another interface since
#undef ASIO_VERSION
#define ASIO_VERSION 102500
#else
#undef ASIO_VERSION
#define ASIO_VERSION 109900
#endif

#include <cogwheel/tasks/task_scheduler.hpp>

int main() {}
