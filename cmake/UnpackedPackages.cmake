# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors

# Takes Asio, fmt and doctest from the headers below COGWHEEL_UNPACKED, where Debian packages are unpacked, not installed.
# Their own CMake files do not work here: doctest's names /usr, and fmt's a library that may not link on this release.
# Included through CMAKE_PROJECT_cogwheel_INCLUDE, before the project looks for these packages.

set(StandaloneAsio_ROOT "${COGWHEEL_UNPACKED}")
foreach(name IN ITEMS fmt doctest)
  add_library(${name}::${name} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${name}::${name} INTERFACE "${COGWHEEL_UNPACKED}/include")
endforeach()
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
