// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Which Asio: the standalone one, or Boost's if COGWHEEL_BOOST is defined, as by cogwheel::boost. No other file knows.
// What depends on the choice lies in an inline namespace of that choice, so that a program may contain both.
#pragma once

#include <cogwheel/detail/platform.hpp>

// A header of the standard library before Asio's, by which Asio (seen with 1.22.1) detects that library. Otherwise Asio
// allocates with operator new in place of aligned_alloc. One inline function would then differ between the files of a
// program: one file would allocate memory that another file frees in another way.
#include <cstddef>

#define COGWHEEL_JOINED(asio, mutex, counter, probes) asio##mutex##counter##probes
#define COGWHEEL_TAGGED(asio, mutex, counter, probes) COGWHEEL_JOINED(asio, mutex, counter, probes)

#ifdef COGWHEEL_BOOST

#include <boost/asio/detail/config.hpp>
#include <boost/system/system_error.hpp>
#include <boost/version.hpp>

#if BOOST_VERSION < 107800
#error "Cogwheel needs Boost 1.78 or later: the Asio of earlier releases has no cancellation slots."
#endif

#define COGWHEEL_ASIO inline COGWHEEL_TAGGED(with_boost, COGWHEEL_TAG_MUTEX, COGWHEEL_TAG_COUNTER, COGWHEEL_TAG_PROBES)
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define COGWHEEL_ASIO_HEADER(name) <boost/asio/name>
#define COGWHEEL_ASIO_MACRO(name) BOOST_ASIO_##name
#define COGWHEEL_LINK(name) link_cogwheel_boost_##name##_built_with_asio
#ifdef BOOST_ASIO_HAS_CO_AWAIT // not by Clang with an Asio before 1.26, unless the program defines it
#define COGWHEEL_COROUTINES 1
#else
#define COGWHEEL_COROUTINES 0
#endif

#if COGWHEEL_MINGW && !defined(BOOST_ASIO_HAS_PTHREADS)
#error "With MinGW, define BOOST_ASIO_HAS_PTHREADS for the whole program, as cogwheel::boost does: see which_asio.hpp"
#endif

namespace boost::asio::detail {
template <typename, typename>
class promise_executor; // of use_future
}

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {
namespace asio = boost::asio;
using error_code = boost::system::error_code;
} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
namespace sys = boost::system;
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

#else

#include <asio/detail/config.hpp>

#include <system_error>

#define COGWHEEL_ASIO inline COGWHEEL_TAGGED(with_asio, COGWHEEL_TAG_MUTEX, COGWHEEL_TAG_COUNTER, COGWHEEL_TAG_PROBES)
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define COGWHEEL_ASIO_HEADER(name) <asio/name>
#define COGWHEEL_ASIO_MACRO(name) ASIO_##name
#define COGWHEEL_LINK(name) link_cogwheel_##name##_built_with_asio
#ifdef ASIO_HAS_CO_AWAIT // not by Clang with an Asio before 1.26, unless the program defines it
#define COGWHEEL_COROUTINES 1
#else
#define COGWHEEL_COROUTINES 0
#endif

// MinGW has two kinds of threads. Asio takes POSIX's if a header has named them before, else those of Windows. Then a
// context has another layout in one file of a program than in another, and its threads outlive it.
#if COGWHEEL_MINGW && !defined(ASIO_HAS_PTHREADS)
#error "With MinGW, define ASIO_HAS_PTHREADS for the whole program, as cogwheel::cogwheel does: see which_asio.hpp"
#endif

namespace asio::detail {
template <typename, typename>
class promise_executor; // of use_future
}

namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO {
namespace asio = ::asio;
using error_code = std::error_code;
} // namespace cogwheel::COGWHEEL_ABI::COGWHEEL_ASIO

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {
namespace sys = std;
} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO

#endif

#include COGWHEEL_ASIO_HEADER(version.hpp)

// For a library that contains parts of Asio: the linker refuses a program without it, or with another release of Asio,
// whose objects have other layouts under the same names. What it then misses says what to link:
// link_cogwheel_tasks_built_with_asio<1022>. One header of the library has the first line, one source the second.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define COGWHEEL_NEEDS_ASIO_OF(name)                                                                                   \
    template <int AsioVersion>                                                                                         \
    void COGWHEEL_LINK(name)() noexcept;                                                                               \
    template <>                                                                                                        \
    void COGWHEEL_LINK(name)<COGWHEEL_ASIO_MACRO(VERSION) / 100>() noexcept;                                           \
    [[gnu::used]] inline void (*const asio_of_##name)() noexcept =                                                     \
        &COGWHEEL_LINK(name)<COGWHEEL_ASIO_MACRO(VERSION) / 100>
#define COGWHEEL_BUILT_WITH_ASIO(name)                                                                                 \
    template <>                                                                                                        \
    void COGWHEEL_LINK(name)<COGWHEEL_ASIO_MACRO(VERSION) / 100>() noexcept {}
// NOLINTEND(bugprone-macro-parentheses)
