# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors

include(CMakePackageConfigHelpers)
include(PkgConfig)

set(COGWHEEL_CMAKEDIR "${CMAKE_INSTALL_LIBDIR}/cmake/cogwheel")

# A header without its library would be found, and fail at the linker.
set(absent "")
foreach(room IN ITEMS observe durable)
  if(NOT TARGET cogwheel::${room} AND NOT TARGET cogwheel::boost_${room})
    list(APPEND absent REGEX "/include/cogwheel/${room}$" EXCLUDE)
  endif()
endforeach()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/cogwheel" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" ${absent})
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# One export set per component, so that find_package(cogwheel COMPONENTS wheel) needs no Asio.
get_property(components GLOBAL PROPERTY COGWHEEL_COMPONENTS)
foreach(component IN LISTS components)
  cogwheel_target(${component} target)
  install(TARGETS ${target} EXPORT ${component}Targets)
  install(EXPORT ${component}Targets NAMESPACE cogwheel:: FILE cogwheel-${component}.cmake DESTINATION "${COGWHEEL_CMAKEDIR}")
  get_target_property(about ${target} COGWHEEL_ABOUT)
  cogwheel_pkg_config(${component} "Cogwheel: ${about}")
endforeach()

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/cogwheelConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/cogwheelConfig.cmake" INSTALL_DESTINATION "${COGWHEEL_CMAKEDIR}")
# Below 1.0 a minor release may break its users.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cogwheelConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/cogwheelConfig.cmake"
  "${PROJECT_BINARY_DIR}/cogwheelConfigVersion.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/HeaderVersion.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/FindStandaloneAsio.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/FindBoostAsio.cmake"
  DESTINATION "${COGWHEEL_CMAKEDIR}")
