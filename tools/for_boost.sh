#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# for_boost.sh DIRECTORY: copies the project there. Tests, examples and guides use Boost.Asio and cogwheel::boost in the copy, by
# the same changes that a program for standalone Asio needs. The library is the same. Files that do not change keep their time.
set -euo pipefail
# shellcheck source=tools/files.sh
source "$(dirname "${BASH_SOURCE[0]}")/files.sh"
readonly to=$1

# An errc without a name is what from_chars returns.
readonly programs='
s|<asio([/.])|<boost/asio\1|
s/\bstd::(error_code|error_condition|error_category|system_error|is_error_code_enum|generic_category|system_category)\b/boost::system::\1/g
s/\bstd::errc::/boost::system::errc::/g
s/\bstd::make_error_code\b/make_error_code/g
s/(^|[^:A-Za-z0-9_])(::)?asio::/\1\2boost::asio::/g
s/-DASIO_STANDALONE/-DCOGWHEEL_BOOST/
s/^namespace asio /namespace boost::asio /
s/\bASIO_/BOOST_ASIO_/g'

readonly system='s|^#include <system_error>|#include <boost/system/system_error.hpp>\n&|'

# shellcheck disable=SC2016 # CMake expands it.
readonly builds='
s/\bcogwheel::cogwheel\b/cogwheel::boost/g
s/\bcogwheel::(asio|observe|calendar|tasks|durable)\b/cogwheel::boost_\1/g
s/\bcogwheel::\$\{/cogwheel::boost_${/g
s/\bcogwheel_(calendar|tasks)\b/cogwheel_boost_\1/g
s/(ITEMS|library) cogwheel /\1 cogwheel_boost /
s/\bASIO_/BOOST_ASIO_/g'

mkdir -p "$to"
new=$(mktemp)
trap 'rm -f "$new"' EXIT
project_files | while IFS= read -r file; do
    case $file in
    tests/both/* | tests/consumer/* | examples/beast_server/* | examples/poll_loop.cpp) cp "$file" "$new" ;;
    tests/*.[ch]pp | tests/mistakes/*.py | examples/*.[ch]pp | support/*.hpp | README.md | docs/*.md)
        # What knows neither Asio nor Cogwheel has the errors of the standard library.
        if grep -qE 'asio|cogwheel' "$file"; then sed -E "$programs" "$file" >"$new"; else cp "$file" "$new"; fi
        # For the files that have included <system_error> for it.
        if grep -q 'boost::system' "$new"; then sed -i "$system" "$new"; fi
        ;;
    tests/*CMakeLists.txt | examples/CMakeLists.txt | cmake/*Snippets.cmake | cmake/*Headers.cmake)
        sed -E "$builds" "$file" >"$new"
        ;;
    *) cp "$file" "$new" ;;
    esac
    if ! cmp -s "$new" "$to/$file"; then
        mkdir -p "$to/$(dirname "$file")"
        cat "$new" >"$to/$file"
        if [[ -x $file ]]; then chmod +x "$to/$file"; fi
    fi
done
# What the project has no more.
comm -23 <(cd "$to" && find . -type f | sort) <(project_files | sed 's|^|./|' | sort) | sed "s|^|$to/|" | xargs -d '\n' -r rm
