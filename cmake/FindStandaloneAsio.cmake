# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors

# Finds a header-only Asio without Boost and defines cogwheel::asio. Distributions ship the headers without a CMake package.
# Point StandaloneAsio_ROOT at an unpacked Asio to choose it; its headers lie in asio/include, from 1.38 on in include.

find_path(StandaloneAsio_INCLUDE_DIR asio.hpp PATH_SUFFIXES include asio/include)
mark_as_advanced(StandaloneAsio_INCLUDE_DIR)

include("${CMAKE_CURRENT_LIST_DIR}/HeaderVersion.cmake")
cogwheel_header_version(StandaloneAsio_VERSION "${StandaloneAsio_INCLUDE_DIR}/asio/version.hpp" ASIO_VERSION)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(StandaloneAsio
  REQUIRED_VARS StandaloneAsio_INCLUDE_DIR
  VERSION_VAR StandaloneAsio_VERSION)

if(StandaloneAsio_FOUND AND NOT TARGET cogwheel::asio)
  add_library(cogwheel::asio INTERFACE IMPORTED GLOBAL)
  if(WIN32)
    target_link_libraries(cogwheel::asio INTERFACE ws2_32 mswsock)
  endif()
  if(MINGW)
    target_compile_definitions(cogwheel::asio INTERFACE ASIO_HAS_PTHREADS) # which_asio.hpp says why
  endif()
  target_include_directories(cogwheel::asio INTERFACE "${StandaloneAsio_INCLUDE_DIR}")
  target_compile_definitions(cogwheel::asio INTERFACE ASIO_STANDALONE)
  # With Clang, Asio before 1.26 looks only for the coroutines of the TS. Clang and libstdc++ have the standard's.
  if(StandaloneAsio_VERSION VERSION_LESS 1.26)
    target_compile_definitions(cogwheel::asio INTERFACE
      "$<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>:ASIO_HAS_CO_AWAIT=1;ASIO_HAS_STD_COROUTINE=1>")
  endif()
endif()
