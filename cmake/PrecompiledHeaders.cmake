# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors

# cogwheel_precompiled(TARGET HEADER LIBRARY...): with COGWHEEL_UNITY, the target includes HEADER, a file of the project, which the
# compiler reads once for all targets that name it. The header needs the libraries. All its targets have the same Asio and the same
# options. Not on Windows: there GCC loads such a header at one address only, which may be taken. Nor with ccache, which knows no
# such headers by default.
function(cogwheel_precompiled target header)
  if(NOT COGWHEEL_UNITY OR NOT PROJECT_IS_TOP_LEVEL OR WIN32 OR CMAKE_CXX_COMPILER_LAUNCHER)
    return()
  endif()
  get_target_property(independent ${target} POSITION_INDEPENDENT_CODE)
  string(REGEX REPLACE "/.*" "" room "${header}")
  cmake_path(GET header STEM name)
  set(shared ${PROJECT_NAME}_${room}_${name})
  if(independent)
    string(APPEND shared "_pic")
  endif()
  if(NOT TARGET ${shared})
    set(empty "${PROJECT_BINARY_DIR}/${shared}.cpp") # without a source, CMake compiles nothing
    file(CONFIGURE OUTPUT "${empty}" CONTENT "")
    add_library(${shared} OBJECT "${empty}")
    set_target_properties(${shared} PROPERTIES POSITION_INDEPENDENT_CODE "${independent}")
    target_include_directories(${shared} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/${room}")
    target_link_libraries(${shared} PRIVATE ${ARGN} cogwheel_own)
    target_precompile_headers(${shared} PRIVATE "${PROJECT_SOURCE_DIR}/${header}")
    cogwheel_compile_what_is_precompiled(${shared} ${ARGN})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${shared})
  if(TARGET ${shared}_code)
    target_link_libraries(${target} PRIVATE ${shared}_code)
  endif()
endfunction()

# The same with what programs have in common: examples, the service, and programs that tests start.
function(cogwheel_precompiled_as_programs target)
  set(libraries cogwheel::observe $<TARGET_NAME_IF_EXISTS:cogwheel::tasks> fmt::fmt)
  cogwheel_precompiled(${target} support/precompiled.hpp ${libraries})
  # A compiler accepts the header only with the same definitions.
  target_link_libraries(${target} PRIVATE ${libraries})
endfunction()

# The functions of the header, and the templates that it instantiates, are compiled once, and not in each file that uses them: an
# example takes a third less, a unit of tests a tenth. With Clang, for programs without sanitizers. An installed library cannot need
# the result.
function(cogwheel_compile_what_is_precompiled shared)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS 16 OR COGWHEEL_SANITIZE
      OR CMAKE_CONFIGURATION_TYPES OR shared MATCHES "_include")
    return()
  endif()
  set(header "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${shared}.dir/cmake_pch.hxx.pch")
  set(code "${CMAKE_CURRENT_BINARY_DIR}/${shared}_code.o")
  string(TOUPPER "CMAKE_CXX_FLAGS_${CMAKE_BUILD_TYPE}" flags_of_type)
  separate_arguments(flags NATIVE_COMMAND "${CMAKE_CXX_FLAGS} ${${flags_of_type}}")
  target_compile_options(${shared} PRIVATE "SHELL:-Xclang -fmodules-codegen")
  add_custom_command(OUTPUT "${code}" COMMAND "${CMAKE_CXX_COMPILER}" ${flags} -c "${header}" -o "${code}"
    DEPENDS ${shared} $<TARGET_OBJECTS:${shared}> VERBATIM)
  add_library(${shared}_code STATIC "${code}")
  set_target_properties(${shared}_code PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${shared}_code PUBLIC ${ARGN})
endfunction()
