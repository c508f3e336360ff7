#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# counts.sh PROGRAM LIBRARIES [--write]: compares the instructions per operation of each script of the program with
# bench/counts/baseline. Unlike times, counts are repeatable: a count above the baseline by more than the margin is a
# failure. --write makes the present counts the baseline. Then compares the size of the smallest program with its floor.
set -euo pipefail
readonly program=$1 libraries=$2 baseline=bench/counts/baseline margin=3 # percent
compiler=$(c++ -dumpfullversion) # the baseline's first line names its compiler

# instructions SCRIPT ROUNDS
instructions() {
    valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$program" "$1" "$2" 2>&1 |
        sed -n 's/,//g; s/^==.*I *refs: *//p'
}

measured=()
while read -r script operations; do
    one=$(instructions "$script" 1)
    two=$(instructions "$script" 2)
    measured+=("$script $(((two - one) * 10 / operations))")
done < <("$program")

if [[ ${3:-} == --write ]]; then
    { printf 'g++ %s\n' "$compiler" && printf '%s\n' "${measured[@]}"; } >"$baseline"
    cat "$baseline"
    exit 0
fi

if [[ $(head -n 1 "$baseline") != "g++ $compiler" ]]; then
    printf 'counts: the baseline is of %s, this is g++ %s: not compared\n' "$(head -n 1 "$baseline")" "$compiler"
    exit 0
fi

failed=0
printf '%-22s %10s %10s\n' 'instructions of' baseline now
for line in "${measured[@]}"; do
    read -r script now <<<"$line"
    was=$(sed -n "s/^$script //p" "$baseline")
    word=''
    if [[ -z $was ]]; then
        word='NEW: ./dev counts --write'
        failed=1
    elif ((now * 100 > was * (100 + margin))); then
        word="MORE by over $margin %"
        failed=1
    elif ((now * 100 < was * (100 - margin))); then
        word='less: ./dev counts --write keeps it so'
    fi
    printf '%-22s %8d.%d %8d.%d  %s\n' "$script" $((${was:-0} / 10)) $((${was:-0} % 10)) $((now / 10)) $((now % 10)) "$word"
done
printf '\nthe smallest program, stripped, with at most 1.15 times the size of the floor\n'
CXX=c++ bench/compile/compare.py 0 '' "$libraries" || failed=1
exit "$failed"
