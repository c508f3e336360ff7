#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# pkg_config.sh COMPILER PREFIX DIRECTORY [HEADERS]: moves a copy of the installation at PREFIX to DIRECTORY. Then it builds and
# runs a program for each library, with no other flags than those of pkg-config. Asio and Boost have no such files: their
# headers may be in HEADERS, directories between colons.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
readonly compiler=$1 directory=$3
declare -rA sources=([cogwheel]=../main.cpp [cogwheel-wheel]=../single_header/main.cpp [cogwheel-observe]=observe.cpp
    [cogwheel-boost]=../boost/main.cpp [cogwheel-durable]=../durable/main.cpp)

rm -rf "$directory"
cp -R "$2" "$directory"
path=$(dirname "$(find "$directory" -name cogwheel-wheel.pc)")
export PKG_CONFIG_PATH=$path LD_LIBRARY_PATH=${path%/*}
for file in "$path"/*.pc; do
    name=$(basename "$file" .pc)
    pkg-config --validate "$name"
    read -ra flags <<<"$(pkg-config --cflags --libs "$name")"
    # Of the others, cogwheel-durable needs the tasks and the calendar.
    if [[ -n ${sources[$name]:-} ]]; then
        CPLUS_INCLUDE_PATH=${4:-} "$compiler" -std=c++20 "${sources[$name]}" -o "$directory/$name" "${flags[@]}"
        "$directory/$name"
    fi
    printf 'ok %s: %s\n' "$name" "${flags[*]}"
done
