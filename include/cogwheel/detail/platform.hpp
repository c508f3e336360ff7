// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The features of the platform, as macros that are 0 or 1, and extensions of the compiler. Only this file asks.
#pragma once

// The inline namespace of this version, as in `namespace cogwheel::COGWHEEL_ABI {`: libraries that were built with
// different versions do not mix. It is a macro because tools for navigation understand this form, and not `::inline`.
#define COGWHEEL_ABI inline v0_2

// The language extensions of g++ and Clang.
#ifdef __GNUC__
#define COGWHEEL_GNU 1
#else
#define COGWHEEL_GNU 0
#ifndef COGWHEEL_UNTESTED_COMPILER
#error                                                                                                                 \
    "cogwheel does not support this compiler: take g++ 12 or Clang 16, or later. For a trial: COGWHEEL_UNTESTED_COMPILER"
#endif
#endif

#ifdef __linux__
#define COGWHEEL_LINUX 1
#else
#define COGWHEEL_LINUX 0
#endif

#ifdef _WIN32
#define COGWHEEL_WINDOWS 1
#else
#define COGWHEEL_WINDOWS 0
#endif

#ifdef __MINGW32__
#define COGWHEEL_MINGW 1
#else
#define COGWHEEL_MINGW 0
#endif

#ifdef __x86_64__
#define COGWHEEL_X86_64 1
#else
#define COGWHEEL_X86_64 0
#endif

#ifdef __i386__
#define COGWHEEL_I386 1
#else
#define COGWHEEL_I386 0
#endif

#ifdef __aarch64__
#define COGWHEEL_AARCH64 1
#else
#define COGWHEEL_AARCH64 0
#endif

// A counter of the processor that the kernel may use for its clocks. The user can turn it off.
#if COGWHEEL_LINUX && (COGWHEEL_X86_64 || COGWHEEL_AARCH64) && !defined(COGWHEEL_NO_TICK_COUNTER)
#define COGWHEEL_TICK_COUNTER 1
#else
#define COGWHEEL_TICK_COUNTER 0
#endif

// futex(2) and membarrier(2), for biased_mutex. The user can choose std::mutex instead.
#if COGWHEEL_LINUX && !defined(COGWHEEL_STD_MUTEX)
#define COGWHEEL_FUTEX 1
#else
#define COGWHEEL_FUTEX 0
#endif

// For the functions of a wheel's short paths. Without optimisation, it would make each caller larger, cost a sixth of
// the compile time, and hide the functions from debuggers.
#ifdef __OPTIMIZE__
#define COGWHEEL_ALWAYS_INLINE [[gnu::always_inline]]
#else
#define COGWHEEL_ALWAYS_INLINE
#endif

#if COGWHEEL_GNU
#define COGWHEEL_PREFETCH(...) __builtin_prefetch(__VA_ARGS__)
#define COGWHEEL_UNREACHABLE() __builtin_unreachable()
#else
#define COGWHEEL_PREFETCH(...) static_cast<void>(0)
#define COGWHEEL_UNREACHABLE() static_cast<void>(0)
#endif

// Replaces std::is_trivially_destructible_v, for which the compiler reads ten templates of the standard library.
#if defined(__clang__) || !COGWHEEL_GNU
#define COGWHEEL_TRIVIALLY_DESTRUCTIBLE(...) __is_trivially_destructible(__VA_ARGS__)
#else
#define COGWHEEL_TRIVIALLY_DESTRUCTIBLE(...) __has_trivial_destructor(__VA_ARGS__)
#endif

// The user sets these macros for all code of a program, as the options of CMake do. Each one changes the names that
// depend on it (COGWHEEL_ASIO): a file that was compiled without it does not link with one that has it.
#ifdef COGWHEEL_STD_MUTEX
#define COGWHEEL_TAG_MUTEX _std_mutex
#else
#define COGWHEEL_TAG_MUTEX
#endif
#ifdef COGWHEEL_NO_TICK_COUNTER
#define COGWHEEL_TAG_COUNTER _no_tick_counter
#else
#define COGWHEEL_TAG_COUNTER
#endif
#ifdef COGWHEEL_PROBES
#define COGWHEEL_TAG_PROBES _probes
#else
#define COGWHEEL_TAG_PROBES
#endif
