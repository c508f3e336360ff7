// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// The headers of Windows define words that the tests use, as near and far. Each file is compiled with this one first,
// which includes them and takes the words back. The library's own headers do without these words.
#pragma once

// In the order that Asio needs.
#include <mswsock.h>
#include <windows.h>
#include <winsock2.h>
#include <ws2tcpip.h>

#undef far
#undef interface
#undef near
#undef small
