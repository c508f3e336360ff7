// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Names that moved between Asio's releases.
#pragma once

// clang-format off: Asio 1.22 chooses how it allocates by what libstdc++ has said before it: the same in all files
#include <new>
// clang-format on
#include <asio/version.hpp>

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

} // namespace cogwheel_tests
