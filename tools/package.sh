#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# package.sh COMPILER...: installs Cogwheel to a scratch prefix with each compiler, as static and as shared libraries. Then
# it builds and runs with this package every program of README, by README's lines of CMake and no others; a recipe for each
# component, by the lines of docs/install.md; and projects of tests/consumer.
set -euo pipefail

work="$PWD/build/package"
readonly work

# programs DIRECTORY: writes programs to DIRECTORY/N/server.cpp, each beside a CMakeLists.txt: all of README that end by
# themselves, and of docs/recipes.md the first one that includes each component of docs/install.md. The CMakeLists.txt is
# README's; the lines that docs/install.md has for the component replace those with the same command. Fails if a line
# replaces none, or if there is no program.
programs() {
    # shellcheck disable=SC2016 # The dollars are awk's.
    awk -v directory="$1" '
        function command(line) { return substr(line, 1, index(line, "(")) }
        function component(code) {
            for (name in lines_of)
                if (code ~ "<cogwheel/" name "/") return name == "tasks" && code ~ "<cogwheel/durable/" ? "durable" : name
            return ""
        }
        /^```cmake$/ { kind = "cmake"; block = ""; next }
        /^```cpp$/ { kind = "cpp"; text = ""; next }
        /^```/ {
            if (kind == "cmake" && FILENAME == "README.md") height = split(block, project, "\n") - 1
            if (kind == "cmake" && match(block, /COMPONENTS [a-z]+/))
                lines_of[substr(block, RSTART + 11, RLENGTH - 11)] = block
            if (kind == "cpp" && text ~ /int main/ && text !~ /\/\/ for ever/) {
                part = component(text)
                if (FILENAME == "README.md" || (part != "" && !seen[part]++)) { sources[++count] = text; parts[count] = part }
            }
            kind = ""
            next
        }
        kind == "cpp" { text = text $0 "\n" }
        kind == "cmake" { block = block $0 "\n" }
        END {
            for (n = 1; n <= count; ++n) {
                path = directory "/" n
                system("mkdir -p \"" path "\"")
                printf "%s", sources[n] >(path "/server.cpp")
                delete own
                unused = split(lines_of[parts[n]], changed, "\n") - 1
                if (unused < 0) unused = 0
                for (i = 1; i <= unused; ++i) own[command(changed[i])] = changed[i]
                printf "" >(path "/CMakeLists.txt")
                for (i = 1; i <= height; ++i) {
                    key = command(project[i])
                    if (key in own) --unused
                    print (key in own ? own[key] : project[i]) >(path "/CMakeLists.txt")
                }
                failed += unused
            }
            for (name in lines_of) failed += name != "" && !seen[name]
            exit !count || !height || failed
        }' README.md docs/install.md docs/recipes.md
}

# logged LOG COMMAND...: shows the command's output only if it fails.
logged() {
    local log=$1
    shift
    "$@" >"$log" 2>&1 </dev/null && return
    { printf 'failed: %s\n' "$*" && cat "$log"; } >&2
    return 1
}

# use SOURCE BUILD PROGRAM: builds a project with the package and runs its program.
use() {
    mkdir -p "$2"
    logged "$2/log" cmake -S "$1" -B "$2" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$prefix" &&
        logged "$2/log" cmake --build "$2" &&
        logged "$2/log" timeout 60 "$2/$3"
}

# install_package DIRECTORY static|shared
install_package() {
    logged "$1.log" cmake -S . -B "$1" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" \
        -DCOGWHEEL_BUILD_DURABLE=ON -DBUILD_SHARED_LIBS="$([[ $2 == shared ]] && printf ON || printf OFF)"
    logged "$1.log" cmake --build "$1"
    # Keeps the headers: programs compiled with them need only be linked again.
    rm -rf "${prefix:?}"/lib*
    logged "$1.log" cmake --install "$1" --prefix "$prefix"
    if grep -rlF "$PWD" "$prefix"/lib*/cmake --include='*.cmake'; then
        printf 'these installed files name the source tree, and so work on this machine alone\n' >&2
        return 1
    fi
    if [[ $2 == shared ]]; then
        local library
        for library in "$prefix"/lib*/libcogwheel*.so; do
            readelf -d "$library" | grep -q 'SONAME.*\.so\.[0-9]' && continue
            printf '%s has no version in its soname\n' "$library" >&2
            return 1
        done
    fi
}

# subprojects DIRECTORY: compiles the projects that contain Cogwheel. `./dev test` also links and runs them, with g++.
subprojects() {
    local name
    for name in add_subdirectory fetch_content; do
        logged "$1.log" cmake -S "tests/consumer/$name" -B "$1/$name" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" \
            -DCOGWHEEL_SOURCE_DIR="$PWD" -DFETCHCONTENT_SOURCE_DIR_COGWHEEL="$PWD"
        logged "$1.log" cmake --build "$1/$name" --target "$PWD/tests/consumer/main.cpp^"
    done
}

# links_its_rooms BUILD PROGRAM: fails if a program that uses only a timer_wheel links functions of other rooms. Every wheel
# keeps its longest turns.
links_its_rooms() {
    local foreign
    foreign=$(comm -12 \
        <(find "$1"/src/CMakeFiles/cogwheel*.dir/{net,resilience,schedule,counts,calendar} \
            "$1"/src/CMakeFiles/cogwheel*_{tasks,durable}.dir -name '*.o' ! -name 'longest_turns.*' \
            -exec nm --defined-only --extern-only {} + |
            awk '$2 == "T" { print $3 }' | sort -u) \
        <(nm --defined-only "$2" | awk '{ print $3 }' | sort -u) | c++filt)
    [[ -z $foreign ]] && return
    printf '%s links what it does not use:\n%s\n' "$2" "$foreign" >&2
    return 1
}

# package COMPILER static|shared
package() {
    compiler=$1
    local directory="$work/$1" linkage=$2 readme consumers=(plugin durable)
    prefix="$directory/prefix"
    export compiler prefix
    printf 'package: %s, %s: install\n' "$compiler" "$linkage"
    install_package "$directory/build" "$linkage"
    readme=("$directory"/readme/*)
    # `./dev test` does these with g++.
    if [[ $compiler != g++ && $linkage == static ]]; then
        consumers+=(bare)
        subprojects "$directory/subprojects"
    fi
    printf 'package: %s, %s: %d programs of README and recipes, tests/consumer\n' "$compiler" "$linkage" "${#readme[@]}"
    {
        for source in "${readme[@]}"; do printf '%s\n' "$source" "$source/build" server; done
        for source in "${consumers[@]}"; do printf '%s\n' "tests/consumer/$source" "$directory/$source" consumer; done
    } | xargs -d '\n' -n 3 -P "$(nproc)" bash -c 'use "$@"' use
    logged "$directory/pkg_config.log" tests/consumer/pkg_config/pkg_config.sh "$compiler" "$prefix" "$directory/pkg_config"
    # README's first program uses only a timer_wheel.
    if [[ $linkage == static ]]; then links_its_rooms "$directory/build" "$directory/readme/1/build/server"; fi
}

export -f logged use
for compiler in "$@"; do
    rm -rf "${work:?}/$compiler/prefix"
    mkdir -p "$work/$compiler"
    rm -rf "$work/$compiler/readme"
    programs "$work/$compiler/readme"
    for linkage in static shared; do package "$compiler" "$linkage"; done
done
printf 'package: ok\n'
