#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# compat.sh [--full]: builds and runs the tests with several compilers and with the Asio, fmt and doctest of several
# Debian releases. Each compiler and each release is in one leg; with --full, each pair of them is a leg.
set -euo pipefail
# shellcheck source=tools/packages.sh
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"

readonly work="$PWD/build/compat"
readonly compilers=(g++ clang++-16 clang++-19) suites=(bookworm trixie sid)
# g++ with bookworm is what `./dev test` runs.
legs=('clang++-16 bookworm' 'clang++-19 trixie' 'g++ sid')

usage() {
    printf 'usage: ./dev compat [--full]\n' >&2
    exit 2
}

# ---- legs ---------------------------------------------------------------------------------------------------------

# all_from PREFIX DIRECTORY: fails if a build for an unpacked release has read installed headers: it proves nothing.
all_from() { [[ $1 == /usr ]] || ! ninja -C "$2" -t deps | grep -E '^ +/usr/(local/)?include/(asio|fmt|doctest)\b'; }

# run COMPILER PREFIX DIRECTORY
run() {
    cmake --preset dev -B "$3" -DCMAKE_CXX_COMPILER="$1" -DCMAKE_CXX_FLAGS_DEBUG=-O1 -DCOGWHEEL_UNPACKED="$2" \
        -DCMAKE_PROJECT_cogwheel_INCLUDE="$PWD/cmake/UnpackedPackages.cmake" &&
        cmake --build "$3" -- --quiet &&
        all_from "$2" "$3" &&
        ctest --test-dir "$3" -j "$(nproc)" --no-tests=error --no-label-summary --output-on-failure
}

passed=0 failed=0 skipped=0

# leg COMPILER SUITE
leg() {
    local compiler=$1 suite=$2 asio fmt doctest name directory log tests
    if [[ -z ${prefix[$suite]:-} ]] || ! command -v "$compiler" >/dev/null; then
        skipped=$((skipped + 1))
        return
    fi
    read -r asio fmt doctest <<<"${versions[$suite]}"
    name="$compiler, Asio $asio, fmt $fmt, doctest $doctest"
    directory="$work/$compiler-$asio"
    log="$directory.log"
    if run "$compiler" "${prefix[$suite]}" "$directory" >"$log" 2>&1 </dev/null; then
        tests=$(sed -n 's/^100% tests passed, .* out of //p' "$log")
        printf 'ok %s: %s tests passed\n' "$name" "$tests"
        passed=$((passed + 1))
    else
        printf 'FAILED %s\n' "$name"
        cat "$log"
        failed=$((failed + 1))
    fi
}

case $# in
0) ;;
1)
    [[ $1 == --full ]] || usage
    legs=()
    for compiler in "${compilers[@]}"; do
        for suite in "${suites[@]}"; do legs+=("$compiler $suite"); done
    done
    ;;
*) usage ;;
esac

for compiler in "${compilers[@]}"; do
    command -v "$compiler" >/dev/null || skip "$compiler is not installed"
done
for suite in "${suites[@]}"; do provide "$suite"; done
mkdir -p "$work"
for pair in "${legs[@]}"; do
    read -r compiler suite <<<"$pair"
    leg "$compiler" "$suite"
done

printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
((failed == 0))
