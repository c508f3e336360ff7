# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors

# Asio, fmt and doctest from the headers below COGWHEEL_UNPACKED, where Debian packages are unpacked rather than installed.
# Their own CMake files will not do: doctest's names /usr, fmt's a library that another release's need not link with.
# Included through CMAKE_PROJECT_cogwheel_INCLUDE, before anything looks for them.

set(StandaloneAsio_ROOT "${COGWHEEL_UNPACKED}")
foreach(name IN ITEMS fmt doctest)
  add_library(${name}::${name} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${name}::${name} INTERFACE "${COGWHEEL_UNPACKED}/include")
endforeach()
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
