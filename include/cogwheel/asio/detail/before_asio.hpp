// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Included before Asio by headers that include nothing of ours first. Until some header of the standard library is there, Asio
// (seen with 1.22.1) cannot tell which library it is, and takes its memory with operator new instead of aligned_alloc: the files
// of a program would differ in an inline function, one taking what another gives back by other means.
#pragma once

#include <cstddef>
