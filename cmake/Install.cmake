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

set(about_wheel "the core, timing wheels without Asio")
set(about_cogwheel "timers, timeouts and retries for standalone Asio")
set(about_boost "timers, timeouts and retries for Boost.Asio")
set(about_calendar "time zones, and cron schedules in them")
set(about_tasks "named tasks with retries and a journal")
set(about_observe "counts and turns as metrics and as a page")
set(about_durable "tasks on Redis that outlive the machine")

# One export set per component, so that find_package(cogwheel COMPONENTS wheel) needs no Asio.
foreach(component IN ITEMS wheel cogwheel calendar tasks observe durable
    boost boost_calendar boost_tasks boost_observe boost_durable)
  if(TARGET cogwheel::${component})
    cogwheel_target(${component} target)
    install(TARGETS ${target} EXPORT ${component}Targets)
    install(EXPORT ${component}Targets NAMESPACE cogwheel:: FILE cogwheel-${component}.cmake DESTINATION "${COGWHEEL_CMAKEDIR}")
    string(REGEX REPLACE "^boost_" "" about "${component}")
    cogwheel_pkg_config(${component} "Cogwheel: ${about_${about}}")
  endif()
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
