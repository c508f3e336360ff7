# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# Turns the Lua scripts of a folder into a C++ source with one function that returns each script by its name. Runs at
# build time: cmake -DSCRIPTS=FOLDER -DOUTPUT=FILE -P EmbedScripts.cmake

file(GLOB scripts "${SCRIPTS}/*.lua")
list(SORT scripts)
set(rows)
foreach(script IN LISTS scripts)
  cmake_path(GET script STEM name)
  file(READ "${script}" text)
  # The comments on top are for readers: the server receives the shebang line and the code.
  string(REGEX REPLACE "(^|\n)--[^\n]*" "\\1" text "${text}")
  string(APPEND rows "    {\"${name}\", R\"lua(${text})lua\"},\n")
endforeach()
file(WRITE "${OUTPUT}.new" "// Made from src/durable/scripts by cmake/EmbedScripts.cmake.
#include \"script_texts.hpp\"

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {
constexpr script_text texts[] = {
${rows}};
} // namespace

std::span<const script_text> script_texts() noexcept { return texts; }

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
")
file(COPY_FILE "${OUTPUT}.new" "${OUTPUT}" ONLY_IF_DIFFERENT)
file(REMOVE "${OUTPUT}.new")
