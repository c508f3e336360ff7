# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors

# cogwheel_check_headers(target directory [but]): compiles every header on its own, twice in a row, into the object library
# `target`. This fails for a header that needs an earlier include, that has no include guard, or that includes Asio before
# Asio can recognise the standard library (include/cogwheel/detail/which_asio.hpp). Leaves headers out that match `but`.

function(cogwheel_check_headers target directory)
  string(CONCAT asio_check
    "#if defined(ASIO_DETAIL_CONFIG_HPP) && defined(__GLIBCXX__) && !defined(ASIO_HAS_STD_ALIGNED_ALLOC)\n"
    "#error Asio was configured without the standard library: include which_asio.hpp first\n"
    "#endif\n")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${directory}" "${directory}/*.hpp")
  if(ARGC GREATER 2)
    list(FILTER headers EXCLUDE REGEX "${ARGV2}")
  endif()
  set(sources "")
  foreach(header IN LISTS headers)
    string(MAKE_C_IDENTIFIER "${header}" stem)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/${target}/${stem}.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "#include <@header@>\n#include <@header@>\n@asio_check@" @ONLY)
    list(APPEND sources "${source}")
  endforeach()
  add_library(${target} OBJECT ${sources})
  # These objects are never run.
  target_compile_options(${target} PRIVATE -O0 -g0)
endfunction()
