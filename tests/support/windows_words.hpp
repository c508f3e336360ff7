// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The headers of Windows define words that the tests use, as near and far. Each file is compiled with this one first,
// which includes them as Asio does, and takes the words back. The library's own headers do without these words.
#pragma once

#define WIN32_LEAN_AND_MEAN
#include <winsock2.h>

#undef far
#undef near
