#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# nightly.sh [LEG]...: runs what takes too long for each change, all legs or those named, and notes in docs/nightly.txt when each
# of them ran last and what it said. A leg is a command of ./dev, as in 'compat --boost sid'. Takes hours.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

all=('lint --all' 'asan --all trixie' 'tsan --all sid' 'compat --boost bookworm' 'compat --boost sid' 'package' 'package site' 'mutate' 'mutate --random 100')
all+=('compat '{bookworm,trixie,sid})
mapfile -t platforms < <(tools/compat.sh --names)
all+=("${platforms[@]/#/compat --platforms }")
readonly results=docs/nightly.txt log=build/nightly.log
legs=("$@")
if ((!${#legs[@]})); then legs=("${all[@]}"); fi
for leg in "${legs[@]}"; do
    if [[ ! " ${all[*]/%/,} " == *" $leg, "* ]]; then
        printf "nightly: unknown leg '%s'; there are: %s\n" "$leg" "$(printf "'%s' " "${all[@]}")" >&2
        exit 2
    fi
done

# note LEG EXIT_CODE: replaces the leg's lines.
note() {
    local leg=$1 new=$results.new
    { grep -vF "  $leg  " "$results" 2>/dev/null || true; } >"$new"
    {
        grep -E '^ok .* tests passed$|^(FAILED|skip:|[0-9]+ passed)|^[a-z: -]+ (ok|FAILED)$|^site: .* pages|^[0-9]+% tests passed' "$log" || true
        printf 'exit code %d, commit %s, %d s\n' "$2" "$(git rev-parse --short HEAD)" "$SECONDS"
    } | sed "s/^/$(date +%F)  $leg  /" >>"$new"
    mv "$new" "$results"
}

mkdir -p build
failed=0
for leg in "${legs[@]}"; do
    printf -- '--- ./dev %s\n' "$leg"
    SECONDS=0 code=0
    # shellcheck disable=SC2086 # a command and its options
    ./dev $leg </dev/null 2>&1 | tee "$log" || code=$?
    note "$leg" "$code"
    ((code == 0)) || failed=1
done
exit "$failed"
