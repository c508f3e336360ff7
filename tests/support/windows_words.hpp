// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// On Windows, included before each test: takes back words that its headers define as macros.
#pragma once

#include <winsock2.h>
// In this order.
#include <windows.h>

#undef near
#undef far
#undef small
#undef interface
