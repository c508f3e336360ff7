#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# dist.sh SOURCE DIRECTORY: makes the release archive of the last commit twice, which must give the same bytes, and unpacks it to
# DIRECTORY/unpacked. DIRECTORY/without_git has a git that fails, for who builds it.
set -euo pipefail
cd "$1"
readonly directory=$2

rm -rf "$directory"
for run in first second; do tools/dist.sh "$directory/$run"; done
diff -r "$directory/first" "$directory/second"

mkdir "$directory/unpacked" "$directory/without_git"
tar -xzf "$directory"/first/cogwheel-*.tar.gz -C "$directory/unpacked" --strip-components=1
printf '#!/bin/sh\necho "this builds without git" >&2\nexit 1\n' >"$directory/without_git/git"
chmod +x "$directory/without_git/git"
