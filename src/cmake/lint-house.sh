#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# lint-house.sh: the rules of the house that no general tool knows. Prints `file:line: what is wrong`.
set -euo pipefail
# shellcheck source=src/cmake/files.sh
source "$(dirname "${BASH_SOURCE[0]}")/files.sh"

readonly max_lines=500 wanted_lines=250
# Shared with the functions that run behind a pipe.
findings=$(mktemp)
trap 'rm -f "$findings"' EXIT

finding() { printf '%s\n' "$1" | tee -a "$findings"; }

files() { project_files | grep -E "$1" || true; }
code() { files '\.(hpp|cpp)$'; }
text() { files '\.(hpp|cpp|cmake|in|sh|md)$|(^|/)CMakeLists\.txt$|^dev$|^\.ci/run$'; }

# Which folders of include/cogwheel a folder may include. The arrows run one way: wheel <- asio <- net <- schedule.
may_include() {
    case $1 in
    wheel) printf 'wheel' ;;
    observe) printf 'wheel|observe' ;;
    asio) printf 'wheel|observe|asio' ;;
    net) printf 'wheel|observe|asio|net' ;;
    schedule) printf 'wheel|observe|asio|net|schedule' ;;
    testing) printf 'wheel|asio|testing' ;;
    durable) printf 'wheel|observe|asio|durable' ;;
    *) return 1 ;;
    esac
}

check_dependencies() {
    local file folder allowed line
    files '^(include/cogwheel|src)/[a-z]+/.*\.(hpp|cpp)$' | while IFS= read -r file; do
        folder=${file#include/cogwheel/}
        folder=${folder#src/}
        folder=${folder%%/*}
        if ! allowed=$(may_include "$folder"); then
            finding "$file:1: no rule says what the folder $folder may include"
            continue
        fi
        { grep -nE '^ *# *include *[<"]cogwheel/' "$file" || true; } | while IFS= read -r line; do
            if ! [[ $line =~ [\<\"]cogwheel/($allowed)/ ]]; then
                finding "$file:${line%%:*}: $folder may include $allowed only"
            fi
        done
        { grep -nE '^ *# *include *"' "$file" | grep -v '"cogwheel/' || true; } | while IFS= read -r line; do
            finding "$file:${line%%:*}: write the path from cogwheel/ on"
        done
    done
}

# The core is told the time, and who calls it from where is not its business.
check_core() {
    local banned='#include *<(asio|mutex|shared_mutex|thread|stop_token|atomic|condition_variable|iostream)\b|_clock\b'
    local file line
    files '^(include/cogwheel|src)/wheel/' | while IFS= read -r file; do
        { sed 's|//.*||' "$file" | grep -nE "$banned" || true; } | while IFS= read -r line; do
            finding "$file:${line%%:*}: the core knows no clock, thread, lock or I/O"
        done
    done
}

# Guarantee 10. A scheduler knows what its threads are about by a table of its own.
check_global_state() {
    local file line
    files '^(include/cogwheel|src)/.*\.(hpp|cpp)$' | while IFS= read -r file; do
        { sed 's|//.*||' "$file" | grep -nE '\bthread_local\b' || true; } | while IFS= read -r line; do
            finding "$file:${line%%:*}: state of a thread is state of the process: keep it where it belongs"
        done
    done
}

# Some projects compile without exceptions, and their compilers refuse the words.
check_exceptions() {
    local file line
    files '^include/cogwheel/' | grep -v '/exceptions\.hpp$' | while IFS= read -r file; do
        awk '/^#ifdef __cpp_exceptions/ { allowed = 1 } /^#e/ { allowed = 0 }
            { sub(/\/\/.*/, "") } !allowed && /(^|[^_a-z])(try|catch|throw)([^_a-z]|$)/ { print NR }' "$file" | while IFS= read -r line; do
            finding "$file:$line: COGWHEEL_TRY, COGWHEEL_CATCH, COGWHEEL_RETHROW or asio::detail::throw_exception"
        done
    done
}

check_length() {
    local file lines
    text | while IFS= read -r file; do
        lines=$(wc -l <"$file")
        if ((lines > max_lines)); then
            finding "$file:$lines: longer than $max_lines lines"
        elif ((lines > wanted_lines)); then
            printf '%s:%d: warning: longer than %d lines\n' "$file" "$lines" "$wanted_lines"
        fi
    done
}

check_licence() {
    local file
    text | grep -v '\.md$' | while IFS= read -r file; do
        if ! head -n 3 "$file" | grep -A 1 -E '^(//|#) SPDX-License-Identifier: BSL-1\.0$' |
            grep -qE '^(//|#) Copyright \(c\) [0-9]{4} The Cogwheel authors$'; then
            finding "$file:1: the two licence lines are missing"
        fi
    done
}

# Tests advance time themselves. The one that shows that real time works too says so in its name.
check_sleeps() {
    local file line
    files '^tests/.*\.(hpp|cpp|py)$' | grep -v 'smoke' | while IFS= read -r file; do
        { grep -nE '\b(sleep_for|sleep_until|sleep|usleep|nanosleep)\b' "$file" || true; } | while IFS= read -r line; do
            finding "$file:${line%%:*}: a test that sleeps is slow or flaky"
        done
    done || true
}

check_spaces() {
    local file line
    text | while IFS= read -r file; do
        { grep -nE $'\t|[ \r]+$' "$file" || true; } | while IFS= read -r line; do
            finding "$file:${line%%:*}: tab, trailing space or carriage return"
        done
    done
}

check_dependencies
check_core
check_global_state
check_exceptions
check_length
check_licence
check_sleeps
check_spaces
[[ ! -s $findings ]]
