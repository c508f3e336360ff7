#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# compat.sh [--full]: builds and runs the tests with several compilers and with the Asio, fmt and doctest of several
# Debian releases. Each compiler and each release has its leg; with --full, each pair of them.
#
# Another release's packages come from the machine's own mirror and are unpacked to build/compat/packages, never
# installed. They stay there: remove the directory to get what a release has today.
set -euo pipefail

readonly work="$PWD/build/compat"
readonly compilers=(g++ clang++-16 clang++-19) suites=(bookworm trixie sid) packages=(libasio-dev libfmt-dev doctest-dev)
# g++ with bookworm is what `./dev test` runs.
legs=('clang++-16 bookworm' 'clang++-19 trixie' 'g++ sid')

usage() {
    printf 'usage: ./dev compat [--full]\n' >&2
    exit 2
}

skip() { printf 'skip: %s\n' "$1"; }

# From 1:10.1.1+ds1-4 to 10.1.1, a line each.
upstream() { sed -E 's/^[0-9]+://; s/[-+~].*//'; }

# ---- packages -----------------------------------------------------------------------------------------------------

# What belongs to a release: where its headers are installed or unpacked, and "ASIO FMT DOCTEST".
declare -A prefix versions

mirror() {
    # shellcheck disable=SC2016 # apt-get expands it.
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' 'Component: main' |
        sed -n 1p
}

# download SUITE DIRECTORY: apt-get checks signature and sums, with a state of its own that knows nothing but SUITE.
download() {
    local suite=$1 state=$2 uri
    uri=$(mirror)
    if [[ -z $uri ]]; then
        printf 'E: apt knows no Debian mirror\n'
        return 1
    fi
    mkdir -p "$state"/{lists,archives}/partial
    : >"$state/status"
    printf 'deb [target=Packages signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' "$uri" "$suite" \
        >"$state/sources.list"
    cat >"$state/apt.conf" <<TEXT
Dir::State "$state";
Dir::State::status "$state/status";
Dir::Cache "$state";
Dir::Etc::sourcelist "$state/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
APT::Sandbox::User "root";
#clear APT::Update;
TEXT
    apt-get -c "$state/apt.conf" update -qq --error-on=any &&
        (cd "$state" && apt-get -c apt.conf download -qq "${packages[@]}")
}

# unpack DIRECTORY TREE
unpack() {
    local package
    for package in "${packages[@]}"; do dpkg-deb -x "$1/${package}"_*.deb "$2" || return; done
    for package in "${packages[@]}"; do dpkg-deb -f "$1/${package}"_*.deb Version || return; done >"$2/versions"
    # A newer package may still be older than what was built from the last one.
    find "$2" -type f -exec touch {} +
}

# The versions of the machine's own packages, if it is of release SUITE.
installed() {
    local package
    # shellcheck source=/dev/null
    [[ $(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}") == "$1" ]] || return
    for package in "${packages[@]}"; do dpkg-query -W -f '${Version}\n' "$package" || return; done
}

# provide SUITE: sets its prefix and versions, or says why it cannot.
provide() {
    local suite=$1 tree="$work/packages/$1" new="$work/packages/new" log="$work/packages/log" found
    if found=$(installed "$suite" 2>/dev/null); then
        prefix[$suite]=/usr
    else
        if [[ ! -d $tree ]]; then
            rm -rf "$new"
            mkdir -p "$new/state" "$new/tree"
            if ! { download "$suite" "$new/state" && unpack "$new/state" "$new/tree"; } >"$log" 2>&1 </dev/null; then
                skip "no packages of $suite: $(grep -m 1 '^E:' "$log" || tail -n 1 "$log")"
                return
            fi
            mv "$new/tree" "$tree"
            rm -rf "$new"
        fi
        prefix[$suite]=$tree/usr
        found=$(<"$tree/versions")
    fi
    versions[$suite]=$(upstream <<<"$found" | paste -sd ' ')
}

# ---- legs ---------------------------------------------------------------------------------------------------------

# all_from PREFIX DIRECTORY: a leg that compiled the installed headers after all proves nothing.
all_from() { [[ $1 == /usr ]] || ! ninja -C "$2" -t deps | grep -E '^ +/usr/(local/)?include/(asio|fmt|doctest)\b'; }

# run COMPILER PREFIX DIRECTORY
run() {
    cmake --preset dev -B "$3" -DCMAKE_CXX_COMPILER="$1" -DCMAKE_CXX_FLAGS_DEBUG=-O1 -DCOGWHEEL_UNPACKED="$2" \
        -DCMAKE_PROJECT_cogwheel_INCLUDE="$PWD/src/cmake/UnpackedPackages.cmake" &&
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
for pair in "${legs[@]}"; do
    read -r compiler suite <<<"$pair"
    leg "$compiler" "$suite"
done

printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
((failed == 0))
