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
  set(shared ${PROJECT_NAME}_precompiled_${room})
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
  endif()
  target_precompile_headers(${target} REUSE_FROM ${shared})
endfunction()
