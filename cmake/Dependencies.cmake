# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors

# Finds the packages that this build needs, if they are installed: then no network is needed.

include(FetchContent)

# Macros, because find_package must define its targets for the whole project.

# Defines cogwheel::asio, cogwheel::boost_asio or both, as COGWHEEL_ASIO says, and fmt::fmt and doctest::doctest if something that is
# built needs them.
macro(cogwheel_find_packages)
  set(cogwheel_absent)
  foreach(name IN LISTS COGWHEEL_ASIO)
    if(name STREQUAL "standalone")
      find_package(StandaloneAsio 1.22.1 QUIET)
      if(NOT StandaloneAsio_FOUND)
        list(APPEND cogwheel_absent asio)
      endif()
    elseif(name STREQUAL "boost")
      find_package(BoostAsio 1.78 QUIET)
      if(NOT BoostAsio_FOUND)
        message(FATAL_ERROR "COGWHEEL_ASIO=boost needs Boost 1.78 or later (Debian 13: libboost-dev, Debian 12: libboost1.81-dev), "
          "found: ${BoostAsio_VERSION}. Boost_ROOT says where one is unpacked.")
      endif()
    else()
      message(FATAL_ERROR "COGWHEEL_ASIO is \"${COGWHEEL_ASIO}\": it is a list of standalone, boost or both.")
    endif()
  endforeach()
  if(COGWHEEL_BUILD_TESTS AND NOT COGWHEEL_FUZZ)
    if(NOT TARGET doctest::doctest)
      find_package(doctest 2.4.9 QUIET)
    endif()
    if(NOT TARGET doctest::doctest)
      list(APPEND cogwheel_absent doctest)
    endif()
  endif()
  if((COGWHEEL_BUILD_TESTS AND NOT COGWHEEL_FUZZ) OR COGWHEEL_BUILD_EXAMPLES OR COGWHEEL_BUILD_BENCH OR COGWHEEL_BUILD_SERVICE)
    if(NOT TARGET fmt::fmt)
      find_package(fmt 9.1 QUIET)
    endif()
    if(NOT TARGET fmt::fmt)
      list(APPEND cogwheel_absent fmt)
    endif()
  endif()
  if(cogwheel_absent AND NOT COGWHEEL_FETCH)
    list(JOIN cogwheel_absent ", " cogwheel_absent)
    message(FATAL_ERROR "Not installed: ${cogwheel_absent}. Cogwheel needs asio 1.22.1, fmt 9.1 and doctest 2.4.9, or later ones. "
      "CMAKE_PREFIX_PATH says where they are, or COGWHEEL_FETCH=ON (./dev --fetch) fetches them.")
  endif()
  foreach(name IN LISTS cogwheel_absent)
    message(STATUS "${name} is not installed, fetching it")
    cmake_language(CALL cogwheel_fetch_${name})
  endforeach()
endmacro()

# The pins are the oldest supported releases, so that a build with fetched sources tests these.

macro(cogwheel_fetch_asio)
  FetchContent_Declare(asio
    GIT_REPOSITORY https://github.com/chriskohlhoff/asio.git
    GIT_TAG bba12d10501418fd3789ce01c9f86a77d37df7ed) # asio-1-22-1
  FetchContent_MakeAvailable(asio)
  unset(StandaloneAsio_INCLUDE_DIR CACHE)
  set(StandaloneAsio_ROOT "${asio_SOURCE_DIR}")
  find_package(StandaloneAsio 1.22.1 REQUIRED)
endmacro()

macro(cogwheel_fetch_fmt)
  FetchContent_Declare(fmt
    GIT_REPOSITORY https://github.com/fmtlib/fmt.git
    GIT_TAG a33701196adfad74917046096bf5a2aa0ab0bb50 # 9.1.0
    SYSTEM)
  FetchContent_MakeAvailable(fmt)
endmacro()

macro(cogwheel_fetch_doctest)
  set(DOCTEST_NO_INSTALL ON)
  # CMake 4 does not accept the minimum version that doctest 2.4.9 states.
  set(CMAKE_POLICY_VERSION_MINIMUM 3.5)
  FetchContent_Declare(doctest
    GIT_REPOSITORY https://github.com/doctest/doctest.git
    GIT_TAG b7c21ec5ceeadb4951b00396fc1e4642dd347e5f # 2.4.9
    SYSTEM)
  FetchContent_MakeAvailable(doctest)
  unset(CMAKE_POLICY_VERSION_MINIMUM)
endmacro()

# Sets COGWHEEL_WITH_DURABLE. cogwheel::durable needs libcurl and OpenSSL, which are never fetched.
macro(cogwheel_find_durable)
  set(COGWHEEL_WITH_DURABLE OFF)
  if(COGWHEEL_BUILD_DURABLE OR (COGWHEEL_BUILD_DURABLE STREQUAL "" AND PROJECT_IS_TOP_LEVEL AND COGWHEEL_BUILD_TASKS))
    find_package(CURL 7.85 QUIET)
    find_package(OpenSSL 3.0 QUIET COMPONENTS SSL Crypto)
    if(CURL_FOUND AND OPENSSL_FOUND)
      set(COGWHEEL_WITH_DURABLE ON)
    else()
      cogwheel_missing(missing "CURL libcurl libcurl4-openssl-dev" "OPENSSL OpenSSL libssl-dev")
      if(COGWHEEL_BUILD_DURABLE)
        message(FATAL_ERROR "COGWHEEL_BUILD_DURABLE needs ${missing}.")
      endif()
      set(COGWHEEL_DURABLE_NEEDS "${missing}")
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
    set(STANDALONE OFF)
    if("standalone" IN_LIST COGWHEEL_ASIO)
      set(STANDALONE ON)
    endif()
    if(HttpParser_FOUND AND nlohmann_json_FOUND AND tomlplusplus_FOUND AND COGWHEEL_WITH_DURABLE AND COGWHEEL_BUILD_OBSERVE
        AND STANDALONE)
      set(COGWHEEL_WITH_SERVICE ON)
    else()
      cogwheel_missing(missing "HttpParser llhttp-9 libllhttp-dev" "nlohmann_json nlohmann-json nlohmann-json3-dev"
        "tomlplusplus toml++ libtomlplusplus-dev" "COGWHEEL_WITH_DURABLE cogwheel::durable -" "COGWHEEL_BUILD_OBSERVE cogwheel::observe -"
        "STANDALONE COGWHEEL_ASIO=standalone -")
      if(COGWHEEL_DURABLE_NEEDS)
        string(REPLACE "cogwheel::durable" "${COGWHEEL_DURABLE_NEEDS}" missing "${missing}")
      endif()
      if(COGWHEEL_BUILD_SERVICE)
        message(FATAL_ERROR "COGWHEEL_BUILD_SERVICE needs ${missing}.")
      endif()
      set(COGWHEEL_SERVICE_NEEDS "${missing}")
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
