#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# lint-house.sh: checks the project's own rules, which no general tool knows. Prints `file:line: what is wrong`.
set -euo pipefail
# shellcheck source=tools/files.sh
source "$(dirname "${BASH_SOURCE[0]}")/files.sh"

readonly max_lines=500 wanted_lines=250
# A file, because functions behind a pipe run in subshells.
findings=$(mktemp)
trap 'rm -f "$findings"' EXIT

finding() { printf '%s\n' "$1" | tee -a "$findings"; }

files() { project_files | grep -E "$1" || true; }
code() { files '\.(hpp|cpp)$'; }
text() { files '\.(hpp|cpp|cmake|in|sh|md)$|(^|/)CMakeLists\.txt$|^dev$|^\.ci/run$'; }

# may_include ROOM: prints the rooms from which it may include public headers, and cogwheel/detail/ (see CONTRIBUTING.md).
may_include() {
    case $1 in
    detail) printf 'detail' ;;
    wheel) printf 'detail|wheel' ;;
    counts) printf 'detail|counts' ;;
    asio) printf 'detail|wheel|counts|asio' ;;
    testing) printf 'detail|wheel|asio|testing' ;;
    src.hpp) printf 'asio' ;;
    resilience) printf 'detail|wheel|asio|resilience' ;;
    net) printf 'detail|wheel|asio|resilience|net' ;;
    schedule) printf 'detail|wheel|asio|resilience|schedule' ;;
    calendar) printf 'detail|schedule|calendar' ;;
    tasks) printf 'detail|wheel|counts|asio|resilience|schedule|calendar|tasks' ;;
    durable) printf 'detail|wheel|counts|asio|resilience|schedule|calendar|tasks|durable' ;;
    observe) printf 'detail|wheel|counts|asio|resilience|net|tasks|observe' ;;
    *) return 1 ;;
    esac
}

# The headers in a room's detail/ that other rooms may include: by the first they put timers on a wheel; the others are what the
# binding uses of the core and no user names.
readonly seam='cogwheel/(asio/detail/on_wheel|wheel/detail/(coalescing|level_census|node_list|node_queue|trim_position))\.hpp'

check_dependencies() {
    local file folder allowed line
    files '^(include/cogwheel|src)/.*\.(h|hpp|cpp)$' | while IFS= read -r file; do
        folder=${file#include/cogwheel/}
        folder=${folder#src/}
        folder=${folder%%/*}
        if ! allowed=$(may_include "$folder"); then
            finding "$file:1: no rule says what the folder $folder may include"
            continue
        fi
        { grep -nE '^ *# *include *[<"]cogwheel/' "$file" || true; } | while IFS= read -r line; do
            line=${line%%//*}
            if ! [[ $line =~ [\<\"]cogwheel/($allowed)/ ]]; then
                finding "$file:${line%%:*}: $folder may include $allowed only"
            elif [[ $line =~ cogwheel/([a-z_0-9]+)/detail/ && ${BASH_REMATCH[1]} != "$folder" && ! $line =~ $seam ]]; then
                finding "$file:${line%%:*}: $folder may include of another room what is public, and $seam"
            fi
        done
        # Headers that are not installed lie in src/, beside the sources that include them or in src/detail/.
        { grep -nE '^ *# *include *"' "$file" || true; } | while IFS= read -r line; do
            if [[ $file != src/* || ! $line =~ \"(\.\./detail/)?[a-z_0-9]+\.hpp\" ]]; then
                finding "$file:${line%%:*}: write the path from cogwheel/ on; in src/, \"name.hpp\" or \"../detail/name.hpp\""
            fi
        done
    done
}

# The core receives the time as an argument. Its callers see to threads and locks.
check_core() {
    local banned='#include *(COGWHEEL_ASIO_HEADER|<(asio|mutex|shared_mutex|thread|stop_token|atomic|condition_variable|iostream)\b)|_clock\b'
    local file line
    files '^(include/cogwheel|src)/wheel/' | while IFS= read -r file; do
        { sed 's|//.*||' "$file" | grep -nE "$banned" || true; } | while IFS= read -r line; do
            finding "$file:${line%%:*}: the core knows no clock, thread, lock or I/O"
        done
    done
}

# Libraries of one process share the wheel of a context. The inline namespace keeps those of another layout apart, and those
# of another Asio. The rooms that know no Asio are compiled once for both.
check_namespace() {
    local file line wanted version
    version=$(sed -nE 's/^project\(cogwheel VERSION ([0-9]+)\.([0-9]+)\..*/v\1_\2/p' CMakeLists.txt)
    grep -qx "#define COGWHEEL_ABI inline $version" include/cogwheel/detail/platform.hpp ||
        finding "include/cogwheel/detail/platform.hpp:1: COGWHEEL_ABI is not $version, which is the version in CMakeLists.txt"
    files '^(include/cogwheel|src)/.*\.(hpp|cpp)$' | while IFS= read -r file; do
        wanted='^namespace cogwheel::COGWHEEL_ABI(::(detail|testing))?::COGWHEEL_ASIO \{$'
        case $file in
        */detail/which_asio.hpp | */detail/errc_category.hpp) ;;
        include/cogwheel/wheel/* | include/cogwheel/counts/* | include/cogwheel/detail/* | src/wheel/* | src/counts/* | src/detail/*)
            wanted='^namespace cogwheel::COGWHEEL_ABI(::detail)? \{$'
            ;;
        esac
        { grep -nE '^namespace cogwheel\b' "$file" | grep -vE "^[0-9]+:${wanted#^}" || true; } | while IFS= read -r line; do
            finding "$file:${line%%:*}: write ${wanted//[\\^$]/}, or the types of two versions or Asios are one"
        done
    done
}

# Only which_asio.hpp knows which Asio it is.
check_which_asio() {
    local banned='#include *<(boost/)?asio[/.]|\b(BOOST_)?ASIO_[A-Z]|\bCOGWHEEL_BOOST\b|\bboost::|\bstd::(error_code|error_condition|error_category|system_error|is_error_code_enum|generic_category|system_category|make_error_code|errc::[a-z])'
    local file line
    files '^(include/cogwheel|src)/.*\.(hpp|cpp)$' | grep -v '/which_asio\.hpp$' | while IFS= read -r file; do
        { sed 's|//.*||' "$file" | grep -nE "$banned" || true; } | while IFS= read -r line; do
            finding "$file:${line%%:*}: write it as detail/which_asio.hpp names it"
        done
    done
}

# Only platform.hpp asks which system and which processor it is. Its macros are 0 where it is not included.
check_platform() {
    local banned='^ *# *(if|ifdef|ifndef|elif)\b.*(\b__(linux|unix|APPLE|x86_64|i386|aarch64|arm|riscv|s390x?|FreeBSD)__\b|\b_(WIN32|MSC_VER|_MINGW32__)\b|\bCOGWHEEL_(NO_TICK_COUNTER|STD_MUTEX)\b)'
    local file line
    files '^(include/cogwheel|src)/.*\.(hpp|cpp)$' | grep -v '/platform\.hpp$' | while IFS= read -r file; do
        { grep -nE "$banned" "$file" || true; } | while IFS= read -r line; do
            finding "$file:${line%%:*}: ask a macro of detail/platform.hpp"
        done
    done
    files '^(include/cogwheel|src)/.*\.(hpp|cpp)$' | grep -vE '/(platform|overflow)\.hpp$' | while IFS= read -r file; do
        { grep -nE '\b__builtin_([a-hj-z]|i[^a])' "$file" || true; } | while IFS= read -r line; do
            finding "$file:${line%%:*}: a built-in function of one compiler: take detail/platform.hpp, detail/overflow.hpp"
        done
    done
    files '^(include/cogwheel|src|tests)/.*\.(hpp|cpp)$' | grep -v '/platform\.hpp$' | while IFS= read -r file; do
        { grep -nE '^ *# *(if|elif).*\bCOGWHEEL_(GNU|LINUX|WINDOWS|MINGW|X86_64|I386|AARCH64|TICK_COUNTER|FUTEX)\b' "$file" || true; } |
            sed -n 1p | while IFS= read -r line; do
            grep -q '^#include <cogwheel/detail/platform.hpp>' "$file" || finding "$file:${line%%:*}: include detail/platform.hpp"
        done
    done
}

# Guarantee 10: no global state. A task scheduler keeps the state of its threads in a table of its own.
check_global_state() {
    local file line
    files '^(include/cogwheel|src)/.*\.(hpp|cpp)$' | while IFS= read -r file; do
        { sed 's|//.*||' "$file" | grep -nE '\bthread_local\b' || true; } | while IFS= read -r line; do
            finding "$file:${line%%:*}: state of a thread is state of the process: keep it where it belongs"
        done
    done
}

# Some projects compile without exceptions. The compiler then refuses these keywords.
check_exceptions() {
    local file line
    files '^include/cogwheel/' | grep -v '/exceptions\.hpp$' | while IFS= read -r file; do
        awk '/^#ifdef __cpp_exceptions/ { allowed = 1 } /^#e/ { allowed = 0 }
            { sub(/\/\/.*/, "") } !allowed && /(^|[^_a-z])(try|catch|throw)([^_a-z]|$)/ { print NR }' "$file" | while IFS= read -r line; do
            finding "$file:$line: COGWHEEL_TRY, COGWHEEL_CATCH, COGWHEEL_RETHROW or asio::detail::throw_exception"
        done
    done
}

# A class stands in one place: these are each one class, which is best read at once.
readonly long_files=' include/cogwheel/asio/detail/engine/wheel_engine.hpp include/cogwheel/asio/detail/engine/wheel_impl.hpp src/wheel/entry_wheel.cpp '

check_length() {
    local file lines
    text | while IFS= read -r file; do
        lines=$(wc -l <"$file")
        if ((lines > max_lines)) && [[ $long_files != *" $file "* ]]; then
            finding "$file:$lines: longer than $max_lines lines: divide it by what it does, or list it here if it is one class"
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

# Tests advance time themselves. Tests in real time have `smoke` in their names.
check_sleeps() {
    local file line
    files '^tests/.*\.(hpp|cpp|py)$' | grep -v 'smoke' | while IFS= read -r file; do
        { grep -nE '\b(sleep_for|sleep_until|sleep|usleep|nanosleep)\b' "$file" || true; } | while IFS= read -r line; do
            finding "$file:${line%%:*}: a test that sleeps is slow or flaky"
        done
    done || true
}

# The formatter does not wrap comments.
check_comment_width() {
    local file line
    code | while IFS= read -r file; do
        { grep -nE '^.{121}' "$file" | grep -F '//' || true; } | while IFS= read -r line; do
            finding "$file:${line%%:*}: a comment beyond 120 columns"
        done
    done
}

# Headers that double the parse time of a small program, in the rooms that every program includes.
check_light_headers() {
    local file line
    files '^include/cogwheel/(detail|wheel|counts|asio)/.*\.hpp$' | while IFS= read -r file; do
        { grep -nE '^ *# *include *<(algorithm|functional|iostream|map|ranges|regex|sstream|unordered_map)>' "$file" || true; } |
            while IFS= read -r line; do finding "$file:${line%%:*}: a heavy header; use it in src/"; done
    done
}

# What a document tells the reader to run can be run.
check_commands() {
    local file command
    files '\.md$' | while IFS= read -r file; do
        { grep -oE '^(bench|tools|tests|service)/[A-Za-z_/]+(\.(py|sh))? ' "$file" || true; } | while IFS= read -r command; do
            [[ -x ${command% } ]] || finding "$file: tells to run ${command% }, which is not executable"
        done
    done
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
check_namespace
check_which_asio
check_platform
check_global_state
check_exceptions
check_length
check_licence
check_sleeps
check_comment_width
check_light_headers
check_commands
check_spaces
[[ ! -s $findings ]]
