# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors

# Toolchain for another architecture: Debian's cross compiler of COGWHEEL_TRIPLET, and COGWHEEL_EMULATOR, which runs the tests.
# The packages below COGWHEEL_UNPACKED are headers, which belong to no architecture.

set(COGWHEEL_TRIPLET "" CACHE STRING "As in s390x-linux-gnu")
set(COGWHEEL_EMULATOR "" CACHE STRING "Command that runs a program, as in qemu-s390x;-L;/usr/s390x-linux-gnu")
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES COGWHEEL_TRIPLET COGWHEEL_EMULATOR)

string(REGEX MATCH "^[^-]+" CMAKE_SYSTEM_PROCESSOR "${COGWHEEL_TRIPLET}")
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${COGWHEEL_TRIPLET}-gcc)
set(CMAKE_CXX_COMPILER ${COGWHEEL_TRIPLET}-g++)

set(CMAKE_FIND_ROOT_PATH /usr/${COGWHEEL_TRIPLET})
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

set(CMAKE_CROSSCOMPILING_EMULATOR ${COGWHEEL_EMULATOR})
