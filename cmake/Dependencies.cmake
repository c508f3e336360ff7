# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors

# Uses installed packages, which need no network. Fetches pinned sources if a package is not installed.
# The pins are the oldest supported releases, so that a build with fetched sources tests these.

include(FetchContent)

# Macros, because find_package must define its targets for the whole project.

# Defines cogwheel::asio, cogwheel::boost_asio or both, as COGWHEEL_ASIO says. Boost is never fetched.
macro(cogwheel_need_asio)
  foreach(name IN LISTS COGWHEEL_ASIO)
    if(name STREQUAL "standalone")
      cogwheel_need_standalone_asio()
    elseif(name STREQUAL "boost")
      find_package(BoostAsio 1.78 QUIET)
      if(NOT BoostAsio_FOUND)
        message(FATAL_ERROR "COGWHEEL_ASIO=boost needs Boost 1.78 or later (Debian: libboost1.81-dev), found: "
          "${BoostAsio_VERSION}. Boost_ROOT says where one is unpacked.")
      endif()
    else()
      message(FATAL_ERROR "COGWHEEL_ASIO is \"${COGWHEEL_ASIO}\": it is a list of standalone, boost or both.")
    endif()
  endforeach()
endmacro()

macro(cogwheel_need_standalone_asio)
  find_package(StandaloneAsio 1.22.1 QUIET)
  if(NOT StandaloneAsio_FOUND)
    message(STATUS "Asio 1.22.1 or later not installed, fetching it")
    FetchContent_Declare(asio
      GIT_REPOSITORY https://github.com/chriskohlhoff/asio.git
      GIT_TAG bba12d10501418fd3789ce01c9f86a77d37df7ed) # asio-1-22-1
    FetchContent_MakeAvailable(asio)
    unset(StandaloneAsio_INCLUDE_DIR CACHE)
    set(StandaloneAsio_ROOT "${asio_SOURCE_DIR}")
    find_package(StandaloneAsio 1.22.1 REQUIRED)
  endif()
endmacro()

macro(cogwheel_need_fmt)
  if(NOT TARGET fmt::fmt)
    find_package(fmt 9.1 QUIET)
  endif()
  if(NOT TARGET fmt::fmt)
    message(STATUS "fmt 9.1 or later not installed, fetching it")
    FetchContent_Declare(fmt
      GIT_REPOSITORY https://github.com/fmtlib/fmt.git
      GIT_TAG a33701196adfad74917046096bf5a2aa0ab0bb50 # 9.1.0
      SYSTEM)
    FetchContent_MakeAvailable(fmt)
  endif()
endmacro()

macro(cogwheel_need_doctest)
  if(NOT TARGET doctest::doctest)
    find_package(doctest 2.4.9 QUIET)
  endif()
  if(NOT TARGET doctest::doctest)
    message(STATUS "doctest 2.4.9 or later not installed, fetching it")
    set(DOCTEST_NO_INSTALL ON)
    # CMake 4 does not accept the minimum version that doctest 2.4.9 states.
    set(CMAKE_POLICY_VERSION_MINIMUM 3.5)
    FetchContent_Declare(doctest
      GIT_REPOSITORY https://github.com/doctest/doctest.git
      GIT_TAG b7c21ec5ceeadb4951b00396fc1e4642dd347e5f # 2.4.9
      SYSTEM)
    FetchContent_MakeAvailable(doctest)
    unset(CMAKE_POLICY_VERSION_MINIMUM)
  endif()
endmacro()

# Sets COGWHEEL_WITH_DURABLE. cogwheel::durable needs hiredis, libcurl and OpenSSL, which are never fetched.
macro(cogwheel_find_durable)
  set(COGWHEEL_WITH_DURABLE OFF)
  if(COGWHEEL_BUILD_DURABLE OR (COGWHEEL_BUILD_DURABLE STREQUAL "" AND PROJECT_IS_TOP_LEVEL AND COGWHEEL_BUILD_TASKS))
    find_package(Hiredis MODULE QUIET)
    find_package(CURL 7.85 QUIET)
    find_package(OpenSSL 3.0 QUIET COMPONENTS SSL Crypto)
    if(Hiredis_FOUND AND CURL_FOUND AND OPENSSL_FOUND)
      set(COGWHEEL_WITH_DURABLE ON)
    else()
      cogwheel_missing(missing "Hiredis hiredis libhiredis-dev" "CURL libcurl libcurl4-openssl-dev" "OPENSSL OpenSSL libssl-dev")
      if(COGWHEEL_BUILD_DURABLE)
        message(FATAL_ERROR "COGWHEEL_BUILD_DURABLE needs ${missing}.")
      endif()
      message(STATUS "Without cogwheel::durable, which needs ${missing}")
    endif()
  endif()
endmacro()

# Sets COGWHEEL_WITH_SERVICE. The packages of cogwheeld are never fetched.
macro(cogwheel_find_service)
  set(COGWHEEL_WITH_SERVICE OFF)
  if(COGWHEEL_BUILD_SERVICE OR (COGWHEEL_BUILD_SERVICE STREQUAL "" AND COGWHEEL_BUILD_TESTS AND COGWHEEL_WITH_DURABLE
      AND COGWHEEL_BUILD_OBSERVE AND NOT COGWHEEL_FUZZ))
    find_package(HttpParser QUIET)
    find_package(nlohmann_json 3.11 QUIET)
    find_package(tomlplusplus 3.3 QUIET)
    if(HttpParser_FOUND AND nlohmann_json_FOUND AND tomlplusplus_FOUND AND COGWHEEL_WITH_DURABLE AND COGWHEEL_BUILD_OBSERVE)
      set(COGWHEEL_WITH_SERVICE ON)
    else()
      cogwheel_missing(missing "HttpParser http_parser libhttp-parser-dev" "nlohmann_json nlohmann-json nlohmann-json3-dev"
        "tomlplusplus toml++ libtomlplusplus-dev" "COGWHEEL_WITH_DURABLE cogwheel::durable -" "COGWHEEL_BUILD_OBSERVE cogwheel::observe -")
      if(COGWHEEL_BUILD_SERVICE)
        message(FATAL_ERROR "COGWHEEL_BUILD_SERVICE needs ${missing}.")
      endif()
      message(STATUS "Without cogwheeld, which needs ${missing}")
    endif()
  endif()
endmacro()

# cogwheel_missing(TO "FOUND NAME DEBIAN"...): sets TO to the names of those that are not found, each with its Debian
# package ("-": none).
function(cogwheel_missing to)
  set(missing)
  foreach(package IN LISTS ARGN)
    separate_arguments(package)
    list(POP_FRONT package found name debian)
    if(NOT ${found} AND NOT ${found}_FOUND)
      if(debian STREQUAL "-")
        list(APPEND missing "${name}")
      else()
        list(APPEND missing "${name} (Debian: ${debian})")
      endif()
    endif()
  endforeach()
  list(JOIN missing ", " missing)
  set(${to} "${missing}" PARENT_SCOPE)
endfunction()
