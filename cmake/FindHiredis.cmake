# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# Finds hiredis, of which cogwheel::durable uses the reader and the formatter. The CMake files of Debian 12's package are broken.
# Target: Hiredis::hiredis

find_path(Hiredis_INCLUDE_DIR hiredis/read.h)
find_library(Hiredis_LIBRARY hiredis)
mark_as_advanced(Hiredis_INCLUDE_DIR Hiredis_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Hiredis REQUIRED_VARS Hiredis_LIBRARY Hiredis_INCLUDE_DIR)

if(Hiredis_FOUND AND NOT TARGET Hiredis::hiredis)
  add_library(Hiredis::hiredis UNKNOWN IMPORTED)
  set_target_properties(Hiredis::hiredis PROPERTIES
    IMPORTED_LOCATION "${Hiredis_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${Hiredis_INCLUDE_DIR}")
endif()
