#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# mutate.sh [--sample N] [NAME...]: plants the bugs of tests/bugs (all, the named ones, or N that the commit's hash
# chooses) in copies of the project, one per processor, and expects the tests to fail. A bug that survives breaks a promise
# that no test checks.
#
# A patch's first line names the test file that must catch it: `tests: wheel/order_test`. Only this file is built.
set -euo pipefail
# shellcheck source=tools/files.sh
source "$(dirname "${BASH_SOURCE[0]}")/files.sh"

readonly work="$PWD/build/mutate"
# Seconds. A bug that hangs its test is caught.
readonly limit=120

fail() {
    printf 'mutate: %s\n' "$1" >&2
    exit 1
}

# ---- a lane: a copy of the project, in which one bug at a time is planted ----

# use_lane NUMBER: sets the lane in which the functions below work.
use_lane() {
    lane="$work/$1" tree="$work/$1/tree" out="$work/$1/out" log="$work/$1/log"
}

copy_tree() {
    mkdir -p "$tree"
    project_files | tar -cf - -T - | tar -xf - -C "$tree"
}

configure() {
    cmake --preset dev -S "$tree" -B "$out" -DCMAKE_CXX_FLAGS_DEBUG=-O1 -DCOGWHEEL_WERROR=OFF \
        -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DCOGWHEEL_BUILD_EXAMPLES=OFF >"$log" 2>&1 </dev/null
}

# Each lane uses one processor. By ccache, lanes share what they have compiled.
compile() {
    CCACHE_BASEDIR="$lane" CCACHE_NOHASHDIR=1 cmake --build "$out" --target "$1" --parallel 1 >"$log" 2>&1 </dev/null
}

# run TESTS: stops at the first failure, which is enough. The subshell sends the shell's report of an abort to the log too.
run() { (timeout "$limit" "$out/tests/$1" --abort-after=1 --no-colors=true || exit) >"$log" 2>&1 </dev/null; }

tests_of() {
    local first
    read -r first <"$1"
    [[ $first =~ ^tests:\ ([a-z_]+)/([a-z_]+)$ ]] || fail "$1: its first line does not read 'tests: GROUP/FILE'"
    printf '%s_%s\n' "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
}

# catcher TESTS STATUS: prints the first failed test case that doctest names, or how the run ended.
catcher() {
    local tests=$1 status=$2 name
    name=$(grep -B 4 "ERROR:" "$log" | sed -n "s/^TEST CASE: *//p" | head -n 1) || true
    if ((status == 124)); then
        name="hang${name:+, $name}"
    elif [[ -z $name ]]; then
        name="exit $status"
    fi
    printf '%s: %s\n' "$tests" "$name"
}

# If tests fail without a bug, their failures prove nothing.
check_without() {
    compile "$1" || { tail -n 40 "$log" >&2; fail "$1 does not build"; }
    run "$1" || { tail -n 40 "$log" >&2; fail "$1 fails without any bug"; }
}

plant() {
    local patch=$1 tests=$2 name status=0
    name=$(basename "$patch" .patch)
    if ! patch -d "$tree" -p1 --forward --fuzz=0 --dry-run <"$patch" >"$log" 2>&1; then
        printf 'DOES NOT APPLY %s\n' "$name"
        return
    fi
    patch -d "$tree" -p1 --forward --fuzz=0 --no-backup-if-mismatch <"$patch" >"$log"
    if ! compile "$tests"; then
        printf 'DOES NOT COMPILE %s\n' "$name"
        grep -m 5 'error' "$log" || true
    else
        run "$tests" || status=$?
        if ((status)); then
            printf 'caught %s (by %s)\n' "$name" "$(catcher "$tests" "$status")"
        else
            printf 'SURVIVED %s\n' "$name"
        fi
    fi
    # Reversed, not restored: because of the new time stamp, the next build compiles the file.
    patch -d "$tree" -p1 --reverse --no-backup-if-mismatch <"$patch" >/dev/null
}

# run_lane NUMBER PATCH...
run_lane() {
    local checked=' ' patch tests
    use_lane "$1"
    shift
    copy_tree
    configure || { cat "$log" >&2; fail 'the project does not configure'; }
    for patch in "$@"; do
        tests=$(tests_of "$patch")
        if [[ -z $sample && $checked != *" $tests "* ]]; then
            check_without "$tests"
            checked+="$tests "
        fi
        plant "$patch" "$tests"
    done
}

# ---- the choice of bugs ----

sample=
if [[ ${1:-} == --sample ]]; then
    sample=${2:-}
    [[ $sample =~ ^[0-9]+$ ]] || fail '--sample takes a number'
    shift 2
fi

shopt -s nullglob
patches=(tests/bugs/*.patch)
if (($#)); then
    patches=()
    for name in "$@"; do
        [[ $name != -* ]] || fail "no such option: $name; ./dev help tells which there are"
        patches+=("tests/bugs/$(basename "$name" .patch).patch")
    done
elif [[ -n $sample ]]; then
    # Each commit has its own sample, so that over time all bugs are tried. The same commit has the same sample again.
    commit=$(git rev-parse HEAD 2>/dev/null) || commit=none
    mapfile -t patches < <(for patch in "${patches[@]}"; do
        printf '%s %s\n' "$(printf '%s %s' "$commit" "$patch" | sha256sum)" "$patch"
    done | sort | head -n "$sample" | sed 's/.* //')
fi
((${#patches[@]})) || fail 'no patch in tests/bugs'
for patch in "${patches[@]}"; do
    [[ -f $patch ]] || fail "no such patch: $patch"
    tests_of "$patch" >/dev/null
done

# Puts the bugs of one test file next to each other, so that a lane builds it without a bug only once.
mapfile -t patches < <(for patch in "${patches[@]}"; do printf '%s %s\n' "$(tests_of "$patch")" "$patch"; done | sort | sed 's/.* //')

# From scratch, because a tree left behind by an interrupted run may be newer than what was built from it.
rm -rf "$work"
mkdir -p "$work"
lanes=$(nproc)
((lanes <= ${#patches[@]})) || lanes=${#patches[@]}
pids=()
for ((i = 0; i < lanes; ++i)); do
    from=$((${#patches[@]} * i / lanes))
    run_lane "$i" "${patches[@]:from:${#patches[@]} * (i + 1) / lanes - from}" | tee -a "$work/results" &
    pids+=($!)
done
broken=0
for pid in "${pids[@]}"; do wait "$pid" || broken=1; done

passed=$(grep -c '^caught ' "$work/results") || true
printf '%d passed, %d failed\n' "$passed" "$((${#patches[@]} - passed))"
((broken == 0 && passed == ${#patches[@]}))
