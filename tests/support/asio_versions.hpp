// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// What differs between Asio's releases.
#pragma once

// clang-format off: Asio 1.22 chooses how it allocates by what libstdc++ has said before it: the same in all files
#include <new>
// clang-format on
#include <asio/version.hpp>

#include <functional>

#if ASIO_VERSION >= 102300
#include <asio/as_tuple.hpp>
#include <asio/deferred.hpp>
#else
#include <asio/experimental/as_tuple.hpp>
#include <asio/experimental/deferred.hpp>
#endif

namespace cogwheel_tests {

#if ASIO_VERSION >= 102300
using asio::as_tuple;
using asio::deferred;
#else
using asio::experimental::as_tuple;
using asio::experimental::deferred;
#endif

/// Is std::ref(handler). Asio 1.26 does not compile the search for the slot of a reference_wrapper: two get() fit.
template <class Handler>
auto by_reference(Handler& handler) {
#if ASIO_VERSION / 100 == 1026
    return [&handler](auto... results) { handler(results...); };
#else
    return std::ref(handler);
#endif
}

} // namespace cogwheel_tests
