# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# A port for vcpkg, of the tree around this file: vcpkg install cogwheel --overlay-ports=packaging/vcpkg
# In a registry, vcpkg_from_github() with the hash of a release takes the place of the first command.
#
# Tried on Linux with vcpkg of August 2026 and its port of Asio 1.32, debug and release; programs were built with the result. All
# features but boost also by vcpkg's scripts alone, with Debian's Asio, curl and OpenSSL. No other platform
# was: so "supports" names Linux alone. docs/platforms.md says where the library itself runs.

cmake_path(SET SOURCE_PATH NORMALIZE "${CURRENT_PORT_DIR}/../../..")

vcpkg_check_features(OUT_FEATURE_OPTIONS options FEATURES
  calendar COGWHEEL_BUILD_CALENDAR
  tasks COGWHEEL_BUILD_TASKS
  observe COGWHEEL_BUILD_OBSERVE
  durable COGWHEEL_BUILD_DURABLE)

set(asios "")
foreach(asio IN ITEMS standalone boost)
  if(asio IN_LIST FEATURES)
    list(APPEND asios "${asio}")
  endif()
endforeach()
if(NOT asios)
  message(FATAL_ERROR "cogwheel needs the feature standalone, boost or both.")
endif()

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    ${options}
    "-DCOGWHEEL_ASIO=${asios}")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/cogwheel)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share"
  "${CURRENT_PACKAGES_DIR}/share/doc")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
