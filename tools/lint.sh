#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# lint.sh: runs every check that needs no test run. Prints one line for each, and its findings below that line.
set -euo pipefail
# shellcheck source=tools/files.sh
source "$(dirname "${BASH_SOURCE[0]}")/files.sh"

readonly llvm=${LLVM:-14} formatter=${FORMATTER:-19}
mkdir -p build/lint
readonly log=build/lint/log
failures=0

# check TITLE COMMAND...
check() {
    local title=$1
    shift
    if "$@" >"$log" 2>&1 </dev/null; then
        printf '%-14s ok\n' "$title"
    else
        printf '%-14s FAILED\n' "$title"
        failures=$((failures + 1))
    fi
    # A check that passed may have warnings.
    cat "$log"
}

sources() { project_files | grep -E '\.(hpp|cpp)$'; }

format() { sources | xargs -r -d '\n' "clang-format-$formatter" --dry-run --Werror --style=file; }

# Headers are analysed through the sources that include them. Only sources that the build compiles can be analysed. Of the
# tests, only the core's are: those of the binding instantiate Asio again and again, for a quarter of an hour.
tidy() {
    local files
    cmake --preset lint -DCMAKE_CXX_COMPILER="clang++-$llvm" >build/lint/cmake.log 2>&1 || {
        cat build/lint/cmake.log
        return 1
    }
    files=$(sources | grep -E '^(src|service|examples|bench|tests/wheel)/.*\.cpp$')
    printf '%s\n' "$files" | while IFS= read -r file; do
        ! grep -qF "$PWD/$file\"" build/lint/compile_commands.json || printf '%s\n' "$file"
    done | xargs -r -d '\n' -n 1 -P "$(nproc)" "clang-tidy-$llvm" -p build/lint --quiet >build/lint/tidy 2>build/lint/tidy.err &&
        return 0
    # A finding in a header comes once for each source that includes it: prints it once.
    cat build/lint/tidy build/lint/tidy.err | grep -v '^[0-9]* warnings\? ' | awk '!seen[$0]++'
    return 1
}

scripts() {
    project_files | xargs -r -d '\n' grep -lE -m 1 '^#!/usr/bin/env bash|^# shellcheck shell=bash' | xargs -r -d '\n' shellcheck -x
}

check 'clang-format' format
check 'house rules' tools/lint-house.sh
check 'shellcheck' scripts
check 'clang-tidy' tidy
((failures == 0))
