# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors

# cogwheel_add_snippets(file prefix [COMPILE_ONLY]): compiles every ```cpp block of a Markdown file that holds `int main`,
# and registers it as a test with the label `readme`. So each program that README shows works. COMPILE_ONLY: for programs
# that need a server. Programs that use a component that is not built are left out.

function(cogwheel_add_snippets file prefix)
  cmake_parse_arguments(PARSE_ARGV 2 arg "COMPILE_ONLY" "" "")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(READ "${file}" rest)
  set(fence "\n```cpp\n")
  string(LENGTH "${fence}" fence_length)
  set(number 0)
  # Searches by position: a CMake list would split the code at its semicolons and swallow its brackets.
  while(TRUE)
    string(FIND "${rest}" "${fence}" begin)
    if(begin EQUAL -1)
      break()
    endif()
    math(EXPR begin "${begin} + ${fence_length}")
    string(SUBSTRING "${rest}" ${begin} -1 rest)
    string(FIND "${rest}" "\n```" end)
    string(SUBSTRING "${rest}" 0 ${end} code)
    string(SUBSTRING "${rest}" ${end} -1 rest)
    string(FIND "${code}" "int main" main)
    if(NOT main EQUAL -1)
      math(EXPR number "${number} + 1")
      set(missing FALSE)
      foreach(component IN ITEMS calendar tasks observe durable)
        if("${code}" MATCHES "<cogwheel/${component}/" AND NOT TARGET cogwheel::${component})
          set(missing TRUE)
        endif()
      endforeach()
      if(NOT missing)
        cogwheel_add_snippet(${prefix}_${number} "${code}")
        if(NOT arg_COMPILE_ONLY)
          add_test(NAME ${prefix}_${number} COMMAND ${prefix}_${number})
          set_tests_properties(${prefix}_${number} PROPERTIES LABELS readme TIMEOUT 60)
        endif()
      endif()
    endif()
  endwhile()
endfunction()

function(cogwheel_add_snippet name code)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/snippets/${name}.cpp")
  set(old "")
  if(EXISTS "${source}")
    file(READ "${source}" old)
  endif()
  # An unchanged snippet keeps its time stamp and is not compiled again.
  if(NOT old STREQUAL "${code}\n")
    file(WRITE "${source}" "${code}\n")
  endif()
  add_executable(${name} "${source}")
  target_link_libraries(${name} PRIVATE cogwheel::cogwheel $<TARGET_NAME_IF_EXISTS:cogwheel::tasks>
    $<TARGET_NAME_IF_EXISTS:cogwheel::observe> $<TARGET_NAME_IF_EXISTS:cogwheel::durable> cogwheel_own)
  # Hardly a program would do without it. Any other header they include for themselves, as a user's program has to.
  cogwheel_precompiled(${name} include/cogwheel/asio/timer_wheel.hpp cogwheel::cogwheel)
endfunction()
