# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors

# How Cogwheel compiles its own code. Nothing here reaches a project that uses Cogwheel.

include(GNUInstallDirs)

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_CXX_STANDARD)
    set(CMAKE_CXX_STANDARD 20)
  endif()
  set(CMAKE_CXX_STANDARD_REQUIRED ON)
  set(CMAKE_CXX_EXTENSIONS OFF)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  endif()
  find_program(COGWHEEL_CCACHE ccache)
  mark_as_advanced(COGWHEEL_CCACHE)
  if(COGWHEEL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${COGWHEEL_CCACHE}")
  endif()
endif()

# cogwheel_flags(target flag...): adds the flags if the compiler knows them all.
include(CheckCXXCompilerFlag)
function(cogwheel_flags target)
  list(JOIN ARGN " " flags)
  string(MAKE_C_IDENTIFIER "COGWHEEL_HAS_${flags}" known)
  check_cxx_compiler_flag("${flags}" ${known})
  if(${known})
    target_compile_options(${target} INTERFACE ${ARGN})
  endif()
endfunction()

# For who changes Cogwheel. Who builds it, alone or in a project, may have another compiler, and has warnings of their own.
add_library(cogwheel_warnings INTERFACE)
if(COGWHEEL_WERROR)
  cogwheel_flags(cogwheel_warnings -Werror -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Asio's coroutine frames allocate through an inlined function and free through another. GCC 12 takes this for a mismatch.
  cogwheel_flags(cogwheel_warnings -Wno-mismatched-new-delete)
  # In a unit of many files, GCC takes all but the first for headers, and warns of types that depend on unnamed namespaces.
  if(COGWHEEL_UNITY STREQUAL "" OR COGWHEEL_UNITY)
    cogwheel_flags(cogwheel_warnings -Wno-subobject-linkage)
  endif()
endif()

# Doctest makes names by __COUNTER__, which Clang 22 and later take for an extension of C2y.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 22)
  cogwheel_flags(cogwheel_warnings -Wno-c2y-extensions)
endif()

# What the library, its tests, examples and benchmarks share.
add_library(cogwheel_own INTERFACE)
target_link_libraries(cogwheel_own INTERFACE cogwheel_warnings)
target_compile_definitions(cogwheel_own INTERFACE ASIO_NO_DEPRECATED BOOST_ASIO_NO_DEPRECATED)
# A journal may be larger than 2 GiB on 32-bit platforms, too.
if(CMAKE_SIZEOF_VOID_P EQUAL 4)
  target_compile_definitions(cogwheel_own INTERFACE _FILE_OFFSET_BITS=64)
endif()
# Without this flag, GCC does not inline functions of position independent code that another library might replace. That
# costs 2 % of a timer's instructions.
cogwheel_flags(cogwheel_own -fno-semantic-interposition)

# For the libraries: a program that is linked with --gc-sections leaves out the functions that it does not call.
add_library(cogwheel_sections INTERFACE)
cogwheel_flags(cogwheel_sections -ffunction-sections -fdata-sections)

# Asio and its templates take most of the compile time: files in one unit share them. For sixty files of tests, Clang takes 0.9 GB of
# memory; for thirty, with sanitizers, 3.5 GB, and GCC 2.6 GB.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 60)
if(COGWHEEL_SANITIZE)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 20)
endif()

# cogwheel_unity(TARGET DEFAULT): compiles the target's files in units or each alone, as COGWHEEL_UNITY says, or DEFAULT if that is
# empty: whatever an outer project says.
function(cogwheel_unity target default)
  set(unity "${COGWHEEL_UNITY}")
  if(unity STREQUAL "")
    set(unity "${default}")
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${unity})
endfunction()

if(COGWHEEL_SANITIZE)
  add_compile_options(-fsanitize=${COGWHEEL_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${COGWHEEL_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Instrumentation hides initialisations from GCC's flow analysis. GCC also warns of fences in Asio (-Wtsan), but they are
    # for handlers that Asio's mutexes order anyway.
    target_compile_options(cogwheel_warnings INTERFACE -Wno-maybe-uninitialized -Wno-tsan)
  endif()
endif()

if(COGWHEEL_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
