// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Chooses the standalone Asio, or Boost's if COGWHEEL_BOOST is defined (by cogwheel::boost). No other file asks for it.
// Names that depend on the choice lie in an inline namespace, so that a program may contain both.
#pragma once

#include <cogwheel/detail/platform.hpp>

// Before Asio's headers, so that Asio (seen with 1.22.1) detects the standard library. Otherwise it uses operator new
// in place of aligned_alloc: one file of a program could allocate memory that another file frees in another way.
#include <cstddef>

#define COGWHEEL_JOINED(asio, mutex, counter, probes) asio##mutex##counter##probes
#define COGWHEEL_TAGGED(asio, mutex, counter, probes) COGWHEEL_JOINED(asio, mutex, counter, probes)

#ifdef COGWHEEL_BOOST

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

#include <system_error>

#define COGWHEEL_ASIO inline COGWHEEL_TAGGED(with_asio, COGWHEEL_TAG_MUTEX, COGWHEEL_TAG_COUNTER, COGWHEEL_TAG_PROBES)
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define COGWHEEL_ASIO_HEADER(name) <asio/name>
#define COGWHEEL_ASIO_MACRO(name) ASIO_##name
#define COGWHEEL_LINK(name) link_cogwheel_##name##_built_with_asio

// MinGW has two kinds of threads. Asio takes POSIX threads if an earlier header has named them, else those of Windows.
// If the files of a program differ in this, a context has two layouts, and its threads outlive it.
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

// For a library that contains parts of Asio: the linker rejects a program without this library, or with another release
// of Asio, whose objects have other layouts under the same names. The missing symbol says what to link:
// link_cogwheel_tasks_built_with_asio<1022>. A header of the library uses the first macro, a source the second.
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
