#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# dist.sh SOURCE DIRECTORY COMPILER: makes the release archive twice, which must give the same bytes. Then it unpacks it and
# builds the core there, without git.
set -euo pipefail
cd "$1"
readonly directory=$2 compiler=$3
if ! prefix=$(git rev-parse --show-prefix 2>/dev/null) || [[ -n $prefix ]]; then
    printf 'skipped: no git repository\n'
    exit
fi

rm -rf "$directory"
for run in first second; do tools/dist.sh "$directory/$run"; done
diff -r "$directory/first" "$directory/second"

mkdir "$directory/unpacked"
tar -xzf "$directory"/first/cogwheel-*.tar.gz -C "$directory/unpacked" --strip-components=1
printf '#!/bin/sh\necho "this builds without git" >&2\nexit 1\n' >"$directory/git"
chmod +x "$directory/git"
PATH="$directory:$PATH"
cd "$directory/unpacked"
cmake -S . -B build -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Debug
cmake --build build --target cogwheel_wheel
