# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors

# Finds the headers of Boost and defines cogwheel::boost_asio. Of Boost's libraries none is needed.
# Point Boost_ROOT at an unpacked Boost to choose it.

find_path(BoostAsio_INCLUDE_DIR boost/asio.hpp HINTS "${Boost_ROOT}" ENV Boost_ROOT PATH_SUFFIXES include)
mark_as_advanced(BoostAsio_INCLUDE_DIR)

include("${CMAKE_CURRENT_LIST_DIR}/HeaderVersion.cmake")
cogwheel_header_version(BoostAsio_VERSION "${BoostAsio_INCLUDE_DIR}/boost/version.hpp" BOOST_VERSION)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(BoostAsio
  REQUIRED_VARS BoostAsio_INCLUDE_DIR
  VERSION_VAR BoostAsio_VERSION)

if(BoostAsio_FOUND AND NOT TARGET cogwheel::boost_asio)
  add_library(cogwheel::boost_asio INTERFACE IMPORTED GLOBAL)
  if(WIN32)
    target_link_libraries(cogwheel::boost_asio INTERFACE ws2_32 mswsock)
  endif()
  if(MINGW)
    target_compile_definitions(cogwheel::boost_asio INTERFACE BOOST_ASIO_HAS_PTHREADS) # which_asio.hpp says why
  endif()
  target_include_directories(cogwheel::boost_asio INTERFACE "${BoostAsio_INCLUDE_DIR}")
  target_compile_definitions(cogwheel::boost_asio INTERFACE COGWHEEL_BOOST
    # Since 1.38.1, Boost's Asio and the standalone one give these C functions the same names. In a program that has both, one of
    # them would run threads and handle signals that are the other's. Older releases of Boost have these names.
    asio_detail_posix_thread_function=boost_asio_detail_posix_thread_function
    asio_signal_handler=boost_asio_signal_handler)
  # As FindStandaloneAsio.cmake says; Boost 1.81 has Asio 1.26.
  if(BoostAsio_VERSION VERSION_LESS 1.81)
    target_compile_definitions(cogwheel::boost_asio INTERFACE
      "$<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>:BOOST_ASIO_HAS_CO_AWAIT=1;BOOST_ASIO_HAS_STD_COROUTINE=1>")
  endif()
endif()
