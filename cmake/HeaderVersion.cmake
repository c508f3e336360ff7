# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors

# cogwheel_header_version(TO header macro): sets TO to the version that a macro of the header states, as Asio and Boost do:
# 102201 is 1.22.1.
function(cogwheel_header_version to header macro)
  if(EXISTS "${header}")
    file(STRINGS "${header}" line REGEX "#define ${macro} [0-9]")
    if(line MATCHES "${macro} ([0-9]+)")
      math(EXPR major "${CMAKE_MATCH_1} / 100000")
      math(EXPR minor "${CMAKE_MATCH_1} / 100 % 1000")
      math(EXPR patch "${CMAKE_MATCH_1} % 100")
      set(${to} "${major}.${minor}.${patch}" PARENT_SCOPE)
    endif()
  endif()
endfunction()
