#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# mutate.sh [NAME...]: plants each bug of tests/bugs (all, or the named ones) in a copy of the project and expects the
# tests to fail. A bug that survives shows a promise that no test keeps.
#
# A patch's first line names the file under tests/ that has to catch it: `tests: wheel/order_test`. Only that is built.
set -euo pipefail
# shellcheck source=src/cmake/files.sh
source "$(dirname "${BASH_SOURCE[0]}")/files.sh"

readonly work="$PWD/build/mutate"
readonly tree="$work/tree" out="$work/out" log="$work/log"
# A bug may hang a test: that is a catch.
readonly limit=120

fail() {
    printf 'mutate: %s\n' "$1" >&2
    exit 1
}

copy_tree() {
    # From scratch, because a tree left behind by an interrupted run may be newer than what was built from it.
    rm -rf "$work"
    mkdir -p "$tree"
    project_files | tar -cf - -T - | tar -xf - -C "$tree"
}

configure() {
    cmake --preset dev -S "$tree" -B "$out" -DCMAKE_CXX_FLAGS_DEBUG=-O1 -DCOGWHEEL_WERROR=OFF \
        -DCOGWHEEL_BUILD_EXAMPLES=OFF >"$log" 2>&1 </dev/null
}

compile() { cmake --build "$out" --target "$1" >"$log" 2>&1 </dev/null; }

# run TESTS: stops at the first failure, for one is enough. In a subshell, whose word of an abort goes to the log, too.
run() { (timeout "$limit" "$out/tests/$1" --abort-after=1 --no-colors=true || exit) >"$log" 2>&1 </dev/null; }

tests_of() {
    local first
    read -r first <"$1"
    [[ $first =~ ^tests:\ ([a-z_]+)/([a-z_]+)$ ]] || fail "$1: its first line does not read 'tests: GROUP/FILE'"
    printf '%s_%s\n' "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
}

# What caught it: the first test case that doctest names, or the way the run ended.
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

patches=()
if (($#)); then
    for name in "$@"; do patches+=("tests/bugs/$(basename "$name" .patch).patch"); done
else
    shopt -s nullglob
    patches=(tests/bugs/*.patch)
fi
((${#patches[@]})) || fail 'no patch in tests/bugs'

copy_tree
configure || { cat "$log" >&2; fail 'the project does not configure'; }

# Unless the tests pass without the bugs, their failures say nothing.
checked=' '
for patch in "${patches[@]}"; do
    [[ -f $patch ]] || fail "no such patch: $patch"
    tests=$(tests_of "$patch")
    [[ $checked != *" $tests "* ]] || continue
    checked+="$tests "
    compile "$tests" || { tail -n 40 "$log" >&2; fail "$tests does not build"; }
    run "$tests" || { tail -n 40 "$log" >&2; fail "$tests fails without any bug"; }
done

passed=0 failed=0
for patch in "${patches[@]}"; do
    name=$(basename "$patch" .patch)
    tests=$(tests_of "$patch")
    status=0
    if ! patch -d "$tree" -p1 --forward --fuzz=0 --dry-run <"$patch" >"$log" 2>&1; then
        printf 'DOES NOT APPLY %s\n' "$name"
        failed=$((failed + 1))
        continue
    fi
    patch -d "$tree" -p1 --forward --fuzz=0 --no-backup-if-mismatch <"$patch" >"$log"
    if ! compile "$tests"; then
        printf 'DOES NOT COMPILE %s\n' "$name"
        grep -m 5 'error' "$log" || true
        failed=$((failed + 1))
    else
        run "$tests" || status=$?
        if ((status)); then
            printf 'caught %s (by %s)\n' "$name" "$(catcher "$tests" "$status")"
            passed=$((passed + 1))
        else
            printf 'SURVIVED %s\n' "$name"
            failed=$((failed + 1))
        fi
    fi
    # Reversed, not restored: the new time stamp is what makes the next build see it.
    patch -d "$tree" -p1 --reverse --no-backup-if-mismatch <"$patch" >/dev/null
done

printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
