# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# Turns a text file into a C++ source that defines NAMESPACE::NAME, which HEADER declares as a std::string_view. Runs at
# build time: cmake -DTEXT=FILE -DOUTPUT=FILE -DHEADER=FILE -DNAMESPACE=N -DNAME=N -P EmbedText.cmake

file(READ "${TEXT}" text)
cmake_path(GET TEXT FILENAME file)
# Compilers limit the length of one literal.
set(literals "")
string(LENGTH "${text}" rest)
set(at 0)
while(at LESS rest)
  string(SUBSTRING "${text}" ${at} 8000 part)
  string(APPEND literals "    R\"text(${part})text\"\n")
  math(EXPR at "${at} + 8000")
endwhile()
file(WRITE "${OUTPUT}.new" "// Made from ${file} by cmake/EmbedText.cmake.
#include \"${HEADER}\"

namespace ${NAMESPACE} {

const std::string_view ${NAME} =
${literals}    ;

} // namespace ${NAMESPACE}
")
file(COPY_FILE "${OUTPUT}.new" "${OUTPUT}" ONLY_IF_DIFFERENT)
file(REMOVE "${OUTPUT}.new")
