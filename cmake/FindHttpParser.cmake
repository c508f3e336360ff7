# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# Finds Node's parser of HTTP, with which cogwheeld reads requests: llhttp 9 or later (the ones before take requests that are not
# strictly right), or its predecessor http_parser. Debian's packages have no CMake files, or only for one kind of library.
# Target: HttpParser::HttpParser

find_path(Llhttp_INCLUDE_DIR llhttp.h)
find_library(Llhttp_LIBRARY llhttp)
find_path(HttpParser_INCLUDE_DIR http_parser.h)
find_library(HttpParser_LIBRARY http_parser)
mark_as_advanced(Llhttp_INCLUDE_DIR Llhttp_LIBRARY HttpParser_INCLUDE_DIR HttpParser_LIBRARY)

set(HttpParser_NAME http_parser)
set(HttpParser_PREFIX HttpParser)
if(Llhttp_INCLUDE_DIR AND Llhttp_LIBRARY)
  file(STRINGS "${Llhttp_INCLUDE_DIR}/llhttp.h" HttpParser_LINE REGEX "define LLHTTP_VERSION_MAJOR ")
  if(HttpParser_LINE MATCHES "MAJOR ([0-9]+)" AND CMAKE_MATCH_1 GREATER_EQUAL 9)
    set(HttpParser_NAME llhttp)
    set(HttpParser_PREFIX Llhttp)
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(HttpParser REQUIRED_VARS ${HttpParser_PREFIX}_LIBRARY ${HttpParser_PREFIX}_INCLUDE_DIR)

if(HttpParser_FOUND AND NOT TARGET HttpParser::HttpParser)
  add_library(HttpParser::HttpParser UNKNOWN IMPORTED)
  set_target_properties(HttpParser::HttpParser PROPERTIES
    IMPORTED_LOCATION "${${HttpParser_PREFIX}_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${${HttpParser_PREFIX}_INCLUDE_DIR}")
  if(HttpParser_NAME STREQUAL "llhttp")
    target_compile_definitions(HttpParser::HttpParser INTERFACE COGWHEELD_LLHTTP)
  endif()
endif()
