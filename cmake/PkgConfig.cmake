# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors

# Installs a file for pkg-config for each library: cogwheel.pc, cogwheel-tasks.pc and so on.

set(COGWHEEL_PKGCONFIGDIR "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# An installed tree may be moved.
if(IS_ABSOLUTE "${COGWHEEL_PKGCONFIGDIR}")
  set(prefix "${CMAKE_INSTALL_PREFIX}")
  set(libdir "${CMAKE_INSTALL_LIBDIR}")
else()
  file(RELATIVE_PATH up "/${COGWHEEL_PKGCONFIGDIR}" "/")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(prefix "\${pcfiledir}/${up}")
  set(libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
set(includedir "${CMAKE_INSTALL_INCLUDEDIR}")
if(NOT IS_ABSOLUTE "${includedir}")
  string(PREPEND includedir "\${prefix}/")
endif()

# cogwheel_pkg_config_name(COMPONENT TO)
function(cogwheel_pkg_config_name component to)
  string(REPLACE "_" "-" name "cogwheel-${component}")
  string(REPLACE "cogwheel-cogwheel" "cogwheel" name "${name}")
  set(${to} "${name}" PARENT_SCOPE)
endfunction()

# cogwheel_definitions(TARGET TO): as flags. What a target defines only for Clang does no harm with other compilers.
function(cogwheel_definitions target to)
  get_target_property(definitions ${target} INTERFACE_COMPILE_DEFINITIONS)
  if(NOT definitions)
    set(definitions)
  endif()
  string(REGEX REPLACE "\\$<\\$<[^>]*>:([^>]*)>" "\\1" definitions "${definitions}")
  list(TRANSFORM definitions PREPEND "-D")
  set(${to} ${definitions} PARENT_SCOPE)
endfunction()

# cogwheel_pkg_config(COMPONENT DESCRIPTION): what the file says is what the target says.
function(cogwheel_pkg_config component description)
  cogwheel_target(${component} target)
  cogwheel_pkg_config_name(${component} name)
  cogwheel_definitions(${target} cflags)
  get_target_property(type ${target} TYPE)
  get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
  set(packages_Hiredis::hiredis hiredis)
  set(packages_CURL::libcurl libcurl)
  set(packages_OpenSSL::SSL libssl)
  set(packages_OpenSSL::Crypto libcrypto)
  set(requires)
  set(requires_private)
  set(libs)
  if(NOT links)
    set(links)
  endif()
  foreach(link IN LISTS links)
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" library "${link}")
    if(link MATCHES "^cogwheel::(boost_)?asio$")
      cogwheel_definitions(${link} own)
      list(APPEND cflags ${own})
    elseif(link MATCHES "^cogwheel::(.*)$")
      cogwheel_pkg_config_name(${CMAKE_MATCH_1} other)
      list(APPEND requires "${other} = ${PROJECT_VERSION}")
    elseif(link STREQUAL "Threads::Threads")
      list(APPEND cflags -pthread)
      list(APPEND libs -pthread)
    elseif(DEFINED packages_${library})
      list(APPEND requires_private ${packages_${library}})
    elseif(link MATCHES "^[a-z0-9_]+$")
      list(APPEND libs "-l${link}")
    elseif(NOT link MATCHES "cogwheel_own")
      message(FATAL_ERROR "PkgConfig.cmake does not know what ${link} is to pkg-config")
    endif()
  endforeach()
  # An archive needs them at each link, also of a program that asks without --static.
  if(type STREQUAL "STATIC_LIBRARY")
    list(APPEND requires ${requires_private})
    set(requires_private)
  endif()
  list(JOIN requires ", " requires)
  list(JOIN requires_private ", " requires_private)
  list(JOIN cflags " " cflags)
  list(JOIN libs " " libs)
  set(content "prefix=${prefix}
libdir=${libdir}
includedir=${includedir}

Name: ${name}
Description: ${description}
Version: ${PROJECT_VERSION}
Requires: ${requires}
Requires.private: ${requires_private}
Cflags: -I\${includedir} ${cflags}
Libs: -L\${libdir} -l${target} ${libs}
")
  string(REGEX REPLACE " +\n" "\n" content "${content}")
  string(REGEX REPLACE "\nRequires(.private)?:\n" "\n" content "${content}")
  string(REGEX REPLACE "\nRequires(.private)?:\n" "\n" content "${content}")
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/pkgconfig/${name}.pc" CONTENT "${content}" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/pkgconfig/${name}.pc" DESTINATION "${COGWHEEL_PKGCONFIGDIR}")
endfunction()
