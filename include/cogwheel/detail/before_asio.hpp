// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Headers that include no other Cogwheel header first include this one before Asio. It includes a header of the
// standard library, by which Asio (seen with 1.22.1) detects that library. Otherwise Asio allocates with operator new
// in place of aligned_alloc. One inline function would then differ between the files of a program: one file would
// allocate memory that another file frees in another way.
#pragma once

#include <cstddef>
