# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors

# cogwheel_add_snippets(pages): compiles the programs of all pages that the file `pages` lists, and registers each as a test
# with the label `readme`. So each program that the README and the guides show works.
#
# A program is a ```cpp block that holds `int main`. It is compiled and not run if it needs a Redis (`redis_options`), or if
# its comment says that it runs `// for ever`. Programs that use a component that is not built, or OpenSSL if it is missing,
# are left out.

function(cogwheel_add_snippets pages)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${pages}")
  file(STRINGS "${pages}" lines REGEX "\\.md$")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^([^ ]+) +(.+)$" "\\1;\\2" page "${line}")
    list(POP_FRONT page name file)
    cogwheel_add_snippets_of("${PROJECT_SOURCE_DIR}/${file}" page_${name})
  endforeach()
endfunction()

function(cogwheel_add_snippets_of file prefix)
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
      if("${code}" MATCHES "asio/ssl" AND NOT TARGET OpenSSL::SSL)
        set(missing TRUE)
      endif()
      if(NOT missing)
        cogwheel_add_snippet(${prefix}_${number} "${code}")
        if(NOT "${code}" MATCHES "redis_options|// for ever")
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
  if("${code}" MATCHES "asio/ssl")
    target_link_libraries(${name} PRIVATE OpenSSL::SSL)
  endif()
  cogwheel_precompiled(${name} tests/support/precompiled_snippets.hpp cogwheel::cogwheel)
endfunction()
