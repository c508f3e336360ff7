# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# Finds Node's http_parser, with which cogwheeld reads requests. Debian's package has no CMake files.
# Target: HttpParser::http_parser

find_path(HttpParser_INCLUDE_DIR http_parser.h)
find_library(HttpParser_LIBRARY http_parser)
mark_as_advanced(HttpParser_INCLUDE_DIR HttpParser_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(HttpParser REQUIRED_VARS HttpParser_LIBRARY HttpParser_INCLUDE_DIR)

if(HttpParser_FOUND AND NOT TARGET HttpParser::http_parser)
  add_library(HttpParser::http_parser UNKNOWN IMPORTED)
  set_target_properties(HttpParser::http_parser PROPERTIES
    IMPORTED_LOCATION "${HttpParser_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${HttpParser_INCLUDE_DIR}")
endif()
