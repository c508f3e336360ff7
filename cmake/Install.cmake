# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors

include(CMakePackageConfigHelpers)

set(COGWHEEL_CMAKEDIR "${CMAKE_INSTALL_LIBDIR}/cmake/cogwheel")

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/cogwheel" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# One export set per component, so that find_package(cogwheel COMPONENTS wheel) needs no Asio.
install(TARGETS cogwheel_wheel EXPORT cogwheelWheelTargets)
install(TARGETS cogwheel EXPORT cogwheelTargets)
set(sets cogwheelWheelTargets cogwheelTargets)
if(TARGET cogwheel::calendar)
  install(TARGETS cogwheel_calendar EXPORT cogwheelCalendarTargets)
  list(APPEND sets cogwheelCalendarTargets)
endif()
if(TARGET cogwheel::tasks)
  install(TARGETS cogwheel_tasks EXPORT cogwheelTasksTargets)
  list(APPEND sets cogwheelTasksTargets)
endif()
if(TARGET cogwheel::observe)
  install(TARGETS cogwheel_observe EXPORT cogwheelObserveTargets)
  list(APPEND sets cogwheelObserveTargets)
endif()
if(TARGET cogwheel::durable)
  install(TARGETS cogwheel_durable EXPORT cogwheelDurableTargets)
  list(APPEND sets cogwheelDurableTargets)
endif()
foreach(set IN LISTS sets)
  install(EXPORT ${set} NAMESPACE cogwheel:: DESTINATION "${COGWHEEL_CMAKEDIR}")
endforeach()

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/cogwheelConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/cogwheelConfig.cmake" INSTALL_DESTINATION "${COGWHEEL_CMAKEDIR}")
# Below 1.0 a minor release may break its users.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cogwheelConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/cogwheelConfig.cmake"
  "${PROJECT_BINARY_DIR}/cogwheelConfigVersion.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/FindStandaloneAsio.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/FindHiredis.cmake"
  DESTINATION "${COGWHEEL_CMAKEDIR}")
