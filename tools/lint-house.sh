#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# lint-house.sh: checks the project's own rules, which no general tool knows. Prints `file:line: what is wrong, and why that matters`.
set -euo pipefail
# shellcheck source=tools/files.sh
source "$(dirname "${BASH_SOURCE[0]}")/files.sh"

readonly max_lines=500 library='^(include/cogwheel|src)/.*\.(hpp|cpp)$'
# A file, because functions behind a pipe run in subshells.
findings=$(mktemp)
trap 'rm -f "$findings"' EXIT

finding() { printf '%s\n' "$1" | tee -a "$findings"; }

files() { project_files | grep -E "$1" || true; }
code() { files '\.(hpp|cpp)$'; }
text() { files '\.(hpp|cpp|cmake|in|sh|md)$|(^|/)CMakeLists\.txt$|^dev$|^\.ci/run$'; }

# each_line FILES REGEX WHY [EXCEPT]: a finding for each line of those files that matches REGEX, without its comment. EXCEPT: not in
# these files.
each_line() {
    local file line code
    files "$1" | { grep -vE "${4:-^$}" || true; } | { xargs -r -d '\n' grep -nHE "$2" || true; } |
        while IFS=: read -r file line code; do
            [[ $file == *.py || $file == *.md ]] || code=${code%%//*}
            [[ ! $code =~ $2 ]] || finding "$file:$line: $3"
        done
}

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
    calendar) printf 'detail|calendar' ;;
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
            finding "$file:1: add a row for $folder to may_include() in tools/lint-house.sh"
            continue
        fi
        { grep -nE '^ *# *include *[<"]cogwheel/' "$file" || true; } | while IFS= read -r line; do
            line=${line%%//*}
            if ! [[ $line =~ [\<\"]cogwheel/($allowed)/ ]]; then
                finding "$file:${line%%:*}: $folder may include ${allowed//|/, } only: so rooms form layers, and each builds without those above it"
            elif [[ $line =~ cogwheel/([a-z_0-9]+)/detail/ && ${BASH_REMATCH[1]} != "$folder" && ! $line =~ $seam ]]; then
                finding "$file:${line%%:*}: $folder may include of another room what is public, and $seam: detail/ may change with its room alone"
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

# may_include_in_service FOLDER: prints the folders of service/ from which it may include.
may_include_in_service() {
    case $1 in
    http) printf 'http' ;;
    work) printf 'http|work' ;;
    api) printf 'http|work|api' ;;
    *) return 1 ;;
    esac
}

check_service() {
    local file folder allowed line
    files '^service/[a-z]+/.*\.(hpp|cpp)$' | while IFS= read -r file; do
        folder=${file#service/}
        folder=${folder%%/*}
        if ! allowed=$(may_include_in_service "$folder"); then
            finding "$file:1: add a row for $folder to may_include_in_service() in tools/lint-house.sh"
            continue
        fi
        { grep -nE '^ *# *include *"(http|api|work)/' "$file" | grep -vE "\"($allowed)/" || true; } | while IFS= read -r line; do
            finding "$file:${line%%:*}: service/$folder may include ${allowed//|/, } only: a layer is tested without those above it"
        done
    done
}

# The core receives the time as an argument. Its callers see to threads and locks.
check_core() {
    each_line '^(include/cogwheel|src)/wheel/' \
        '#include *(COGWHEEL_ASIO_HEADER|<(asio|mutex|shared_mutex|thread|stop_token|atomic|condition_variable|iostream)\b)|_clock\b' \
        'the core knows no clock, thread, lock or I/O: pass the time in, as its tests do in virtual time'
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
    each_line "$library" \
        '#include *<(boost/)?asio[/.]|\b(BOOST_)?ASIO_[A-Z]|\bCOGWHEEL_BOOST\b|\bboost::|\bstd::(error_code|error_condition|error_category|system_error|is_error_code_enum|generic_category|system_category|make_error_code|errc::[a-z])' \
        'write it as detail/which_asio.hpp names it: the same source serves Boost.Asio' '/which_asio\.hpp$'
}

# Only platform.hpp asks which system and which processor it is. Its macros are 0 where it is not included.
check_platform() {
    local file line
    each_line "$library" \
        '^ *# *(if|ifdef|ifndef|elif)\b.*(\b__(linux|unix|APPLE|x86_64|i386|aarch64|arm|riscv|s390x?|FreeBSD)__\b|\b_(WIN32|MSC_VER|_MINGW32__)\b|\bCOGWHEEL_(NO_TICK_COUNTER|STD_MUTEX)\b)' \
        'ask a macro of detail/platform.hpp: who ports Cogwheel finds every question there' '/platform\.hpp$'
    each_line "$library" '\b__builtin_([a-hj-z]|i[^a])' \
        'not every compiler has this built-in function: take detail/platform.hpp, detail/overflow.hpp' '/(platform|overflow)\.hpp$'
    files '^(include/cogwheel|src|tests)/.*\.(hpp|cpp)$' | grep -v '/platform\.hpp$' |
        { xargs -d '\n' grep -lE '^ *# *(if|elif).*\bCOGWHEEL_(GNU|LINUX|WINDOWS|MINGW|X86_64|I386|AARCH64|TICK_COUNTER|FUTEX)\b' || true; } |
        { xargs -r -d '\n' grep -L '^#include <cogwheel/detail/platform.hpp>' || true; } | while IFS= read -r file; do
        finding "$file:1: include detail/platform.hpp: without it, its macros are 0"
    done
}

# Guarantee 10: no global state. A task scheduler keeps the state of its threads in a table of its own.
check_global_state() {
    each_line '^(include/cogwheel|src|service)/.*\.(hpp|cpp)$' '\bthread_local\b' \
        'state of a thread is global state: a library and its plugins may each have their own; keep it in an object'
}

# Some projects compile without exceptions. The compiler then refuses these keywords.
check_exceptions() {
    local at
    files '^include/cogwheel/' | grep -v '/exceptions\.hpp$' | xargs -d '\n' awk 'FNR == 1 { allowed = 0 }
        /^#ifdef __cpp_exceptions/ { allowed = 1 } /^#e/ { allowed = 0 }
        { sub(/\/\/.*/, "") } !allowed && /(^|[^_a-z])(try|catch|throw)([^_a-z]|$)/ { print FILENAME ":" FNR }' | while IFS= read -r at; do
        finding "$at: programs built with -fno-exceptions include this header: write COGWHEEL_TRY, COGWHEEL_CATCH, COGWHEEL_RETHROW (detail/exceptions.hpp) or asio::detail::throw_exception"
    done
}

# A class stands in one place: these are each one class, which is best read at once.
readonly long_files=' include/cogwheel/asio/detail/engine/wheel_engine.hpp include/cogwheel/asio/detail/engine/wheel_impl.hpp src/wheel/entry_wheel.cpp '

check_length() {
    local file lines
    text | xargs -d '\n' wc -l | grep -v ' total$' | while read -r lines file; do
        ((lines <= max_lines)) || [[ $long_files == *" $file "* ]] ||
            finding "$file:$lines: longer than $max_lines lines: divide it by what it does, or list it here if it is one class"
    done
}

check_licence() {
    local file
    text | grep -v '\.md$' | xargs -d '\n' awk 'FNR == 1 { spdx = 0 }
        FNR <= 2 && /^(\/\/|#) SPDX-License-Identifier: BSL-1\.0$/ { spdx = FNR }
        spdx && FNR == spdx + 1 && /^(\/\/|#) Copyright \(c\) [0-9][0-9][0-9][0-9] The Cogwheel authors$/ { licensed[FILENAME] = 1 }
        END { for (i = 1; i < ARGC; ++i) if (!(ARGV[i] in licensed)) print ARGV[i] }' | while IFS= read -r file; do
        finding "$file:1: the two licence lines are missing: files are copied alone"
    done
}

# Tests advance time themselves. Tests in real time have `smoke` in their names.
check_sleeps() {
    each_line '^tests/.*\.(hpp|cpp|py)$' '\b(sleep_for|sleep_until|sleep|usleep|nanosleep)\b' 'a test that sleeps is slow or flaky' smoke
}

# The formatter does not wrap comments.
check_comment_width() {
    local at
    code | { xargs -d '\n' grep -nHE '^.{121}' || true; } | { grep -F '//' || true; } | cut -d : -f 1,2 | while IFS= read -r at; do
        finding "$at: a comment beyond 120 columns: two files do not fit side by side"
    done
}

# Milliseconds of Clang 19 beside the 390 of the core's headers. <iostream> and <sstream> come with them, or add nothing.
readonly -A heavy=([algorithm]=40 [functional]=50 [map]=15 [ranges]=140 [regex]=150 [unordered_map]=70)

# In the rooms that every program includes.
check_light_headers() {
    local name
    for name in "${!heavy[@]}"; do
        each_line '^include/cogwheel/(detail|wheel|counts|asio)/.*\.hpp$' "^ *# *include *<$name>" \
            "<$name> costs ${heavy[$name]} ms in each file that includes this header; use it in src/"
    done
}

# What a document tells the reader to run can be run.
check_commands() {
    local file command
    files '\.md$' | while IFS= read -r file; do
        { grep -oE '^(bench|tools|tests|service)/[A-Za-z_/]+(\.(py|sh))? ' "$file" || true; } | while IFS= read -r command; do
            [[ -x ${command% } ]] || finding "$file: tells to run ${command% }, which is not executable: a reader would get an error"
        done
    done
}

check_spaces() {
    local at
    text | { xargs -d '\n' grep -nHE $'\t|[ \r]+$' || true; } | cut -d : -f 1,2 | while IFS= read -r at; do
        finding "$at: tab, trailing space or carriage return: noise in the next diff"
    done
}

check_dependencies
check_service
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
