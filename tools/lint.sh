#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# lint.sh [--all | --fix]: runs the checks that need no test run. Prints one line for each, and its findings below that line.
# With --fix, formats the code and writes docs/api.txt, then runs all checks but clang-tidy: a matter of seconds.
# With --all, clang-tidy also analyses the examples and the benchmarks, and each file of the library is compiled alone.
set -euo pipefail
# shellcheck source=tools/files.sh
source "$(dirname "${BASH_SOURCE[0]}")/files.sh"

readonly llvm=${LLVM:?is the release that ./dev lint gives}
fix=
analysed='(src|service)/CMakeFiles/[^/]*|tests/CMakeFiles/wheel_(model_)?tests\.dir'
case "$*" in
'') ;;
--all) analysed+='|examples/CMakeFiles/[^/]*' ;;
--fix) fix=1 ;;
*)
    printf 'usage: ./dev lint [--all | --fix]\n' >&2
    exit 2
    ;;
esac
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

format() { sources | xargs -r -d '\n' "clang-format-$llvm" --dry-run --Werror --style=file; }

# analyse DIRECTORY FILES CHECKS [CMAKE OPTION]...: analyses the sources whose paths match FILES, as a build in DIRECTORY
# compiles them, for the CHECKS, or those of .clang-tidy. Headers are analysed through the sources that include them.
analyse() {
    local directory=$1 files=$2 checks=$3
    shift 3
    cmake --preset lint -B "$directory" -DCMAKE_CXX_COMPILER="clang++-$llvm" "$@" >"$directory.log" 2>&1 || {
        cat "$directory.log"
        return 1
    }
    sed -n "s|^  \"file\": \"$PWD/\(.*\)\".*|\1|p" "$directory/compile_commands.json" | grep -E "$files" | sort -u |
        xargs -r -d '\n' -n 1 -P "$(nproc)" "clang-tidy-$llvm" -p "$directory" --quiet ${checks:+"--checks=$checks"} \
            >"$directory.tidy" 2>"$directory.err" && return 0
    # A finding in a header comes once for each source that includes it: prints it once.
    cat "$directory.tidy" "$directory.err" | grep -v '^[0-9]* warnings\? ' | awk '!seen[$0]++'
    return 1
}

# Most sources are compiled many at once, because Asio's headers take most of the time. Of the tests, only the core's are
# analysed: those of the binding instantiate Asio again and again, for a quarter of an hour.
tidy() { analyse build/lint/units "^(build/lint/units/($analysed)/Unity${1:+|bench})/" ''; }

# Users compile each of these alone, and it must include what it needs. A header is included twice: cmake/SelfContainedHeaders.cmake.
alone() { analyse build/lint/alone '^(src|service)/' '-*,clang-diagnostic-*,readability-duplicate-include' -DCOGWHEEL_UNITY=OFF -DCOGWHEEL_BUILD_TESTS=ON; }
headers() { analyse build/lint/alone '/headers_self_contained/' '-*,clang-diagnostic-*,misc-definitions-in-headers' -DCOGWHEEL_UNITY=OFF; }

scripts() {
    project_files | xargs -r -d '\n' grep -lE -m 1 '^#!/usr/bin/env bash|^# shellcheck shell=bash' | xargs -r -d '\n' shellcheck -x
}

if [[ -n $fix ]]; then
    sources | xargs -r -d '\n' "clang-format-$llvm" -i --style=file
    tools/api.py --write
fi
check 'clang-format' format
check 'house rules' tools/lint-house.sh
check 'public names' tools/api.py --check
check 'shellcheck' scripts
[[ -n $fix ]] || check 'clang-tidy' tidy "$@"
if [[ ${1:-} == --all ]]; then
    check 'sources alone' alone
    check 'headers alone' headers
fi
((failures == 0))
