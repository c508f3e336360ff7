#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# compat.sh [COMPILER SUITE | --full | --platforms [PLATFORM]... | --boost [--quick | SUITE]]: builds and runs the tests with several compilers
# and with the Asio, fmt and doctest of several Debian releases. Each compiler and each release is in one leg; with --full,
# each pair of them is a leg. Or it is that one pair, as in `g++ sid`.
# With --platforms, each leg is another platform: an architecture, by a cross compiler and an emulator that runs the tests;
# Windows, by mingw-w64 and wine; libc++; io_uring as Asio's backend.
# With --names, prints the names of the platforms.
# With --boost, the tests, examples and README's programs run with Boost.Asio instead, of several releases of Boost, or of that
# in SUITE; with --quick, some of them, with the oldest.
set -euo pipefail
# shellcheck source=tools/packages.sh
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"

readonly work="$PWD/build/compat"
compilers=(g++ clang++-16 clang++-19) suites=(bookworm trixie sid)
# Of 32 and 64 bits, with char signed and unsigned; s390x has the other byte order.
declare -rA platforms=([i386]='i686-linux-gnu-g++ emulated' [armhf]='arm-linux-gnueabihf-g++ emulated'
    [aarch64]='aarch64-linux-gnu-g++ emulated' [riscv64]='riscv64-linux-gnu-g++ emulated' [s390x]='s390x-linux-gnu-g++ emulated'
    [windows]='x86_64-w64-mingw32-g++-posix on_windows' [libc++]='clang++-16 with_libcxx' [io_uring]='g++ on_io_uring')
readonly in_order=(i386 armhf aarch64 riscv64 s390x windows libc++ io_uring)
# clang++-19 with bookworm is what `./dev test` runs.
legs=('g++ bookworm' 'clang++-16 trixie' 'g++ sid')

usage() {
    printf 'usage: ./dev compat [COMPILER SUITE | --full | --platforms [PLATFORM]... | --boost [--quick | bookworm | sid]]; compilers: %s; suites: %s; platforms: %s\n' \
        "${compilers[*]}" "${suites[*]}" "${in_order[*]}" >&2
    exit 2
}

# ---- legs ---------------------------------------------------------------------------------------------------------

# all_from PREFIX DIRECTORY: fails if a build for an unpacked release has read installed headers: it proves nothing.
all_from() { [[ $1 == /usr ]] || ! ninja -C "$2" -t deps | grep -E '^ +/usr/(local/)?include/(asio|fmt|doctest)\b'; }

# run PREFIX DIRECTORY CMAKE_OPTION...
run() {
    local from=$1 directory=$2
    shift 2
    cmake --preset dev -B "$directory" -DCOGWHEEL_UNPACKED="$from" \
        -DCMAKE_PROJECT_cogwheel_INCLUDE="$PWD/cmake/UnpackedPackages.cmake" "$@" &&
        cmake --build "$directory" -- --quiet &&
        all_from "$from" "$directory" &&
        ctest --test-dir "$directory" -j "$((4 * $(nproc)))" --no-tests=error --no-label-summary --output-on-failure "${tests[@]}"
}

# Runs the tests as the compiler of this machine builds them. As all functions below: PREFIX DIRECTORY COMPILER.
as_usual() { run "$1" "$2" -DCMAKE_CXX_COMPILER="$3"; }

# The journal that it writes is read here too, and the other way round.
emulated() {
    local from=$1 directory=$2 triplet=${3%-g++}
    local emulator=("qemu-${triplet%%-*}" -L "/usr/$triplet") flags=-O0 linker=
    case $triplet in
    arm-*) emulator[0]=qemu-arm ;;
    i686-*)
        # The processor runs it. qemu-i386 7.2 hangs as soon as there is a second thread.
        emulator=("/usr/$triplet/lib/ld-linux.so.2" --library-path "/usr/$triplet/lib")
        # In the registers of the 8087, a product of doubles may be a nanosecond longer than where it is a double.
        flags+=' -msse2 -mfpmath=sse'
        ;;
    riscv64-*) linker=-Wl,--no-relax ;; # relaxation takes minutes for each program
    esac
    # Tests in Python start programs themselves, without an emulator.
    run "$from" "$directory" --toolchain cmake/Emulated.cmake -DCOGWHEEL_TRIPLET="$triplet" \
        -DCOGWHEEL_EMULATOR="$(IFS=';' && printf '%s' "${emulator[*]}")" \
        -DCMAKE_DISABLE_FIND_PACKAGE_Python3=ON -DCMAKE_CXX_FLAGS_DEBUG="$flags" -DCMAKE_EXE_LINKER_FLAGS="$linker" \
        -DCOGWHEEL_BUILD_DURABLE=OFF -DCOGWHEEL_BUILD_EXAMPLES=OFF &&
        cmake --preset dev && cmake --build build/dev --target task_worker &&
        python3 tests/crash/kill_task_worker.py build/dev/tests/task_worker 20 1 "${emulator[@]}" "$directory/tests/task_worker"
}

# With the library of Windows that wine brings. Its settings are the build's, not the user's.
on_windows() {
    WINEPREFIX="$2/wine" WINEDEBUG=-all run "$1" "$2" --toolchain cmake/Windows.cmake -DCOGWHEEL_BUILD_DURABLE=OFF \
        -DCOGWHEEL_BUILD_EXAMPLES=OFF -DCMAKE_DISABLE_FIND_PACKAGE_Python3=ON
}

# Tasks need <stop_token>, which libc++ 16 does not have. Programs that use the package are built without these flags.
with_libcxx() {
    run "$1" "$2" -DCMAKE_CXX_COMPILER="$3" -DCMAKE_CXX_FLAGS='-stdlib=libc++ -D_LIBCPP_ENABLE_ASSERTIONS=1' \
        -DCOGWHEEL_BUILD_TASKS=OFF -DCOGWHEEL_BUILD_DURABLE=OFF -DCOGWHEEL_BUILD_EXAMPLES=OFF -DCOGWHEEL_INSTALL=OFF
}

# For all of Asio: sockets, descriptors and its steady_timer. That loses wake-ups, so that programs in real time may hang:
# https://github.com/chriskohlhoff/asio/issues/1530, seen with Asio 1.30.2. What runs in virtual time cannot.
on_io_uring() {
    local tests=(-LE 'smoke|readme' --repeat until-pass:3)
    run "$1" "$2" -DCMAKE_CXX_COMPILER="$3" -DCMAKE_CXX_FLAGS='-DASIO_HAS_IO_URING -DASIO_DISABLE_EPOLL' \
        -DCMAKE_CXX_STANDARD_LIBRARIES=-luring -DCOGWHEEL_INSTALL=OFF -DCOGWHEEL_BUILD_DURABLE=OFF -DCOGWHEEL_BUILD_EXAMPLES=OFF
}

# with_boost PREFIX DIRECTORY: in a copy of the project that is written for Boost.Asio.
with_boost() {
    local from=$1 directory=$2
    tools/for_boost.sh "$directory/source" &&
        cmake --preset dev -S "$directory/source" -B "$directory/build" \
            '-DCOGWHEEL_ASIO=standalone;boost' -DBoost_ROOT="$from" -DCOGWHEEL_BUILD_DURABLE=OFF &&
        cmake --build "$directory/build" --target "${targets[@]}" -- --quiet &&
        ctest --test-dir "$directory/build" -R "$selected" -j "$((4 * $(nproc)))" --no-tests=error --no-label-summary --output-on-failure
}

# with_cobalt PREFIX DIRECTORY: sid's library needs sid's libstdc++, which needs its libc.
with_cobalt() {
    local from=$1 built=$2/build/src tree=$unpacked/cobalt-sid libraries
    libraries=$(dirname "$(find "$tree" -name libboost_cobalt.so)")
    g++ -std=c++20 -O1 -DCOGWHEEL_BOOST -Iinclude -isystem "$from/include" -isystem "$tree/usr/include" tests/cobalt/use_op.cpp \
        "$built/libcogwheel_boost.a" "$built/libcogwheel_wheel.a" "$libraries/libboost_cobalt.so" \
        -Wl,--allow-shlib-undefined -o "$2/use_op" &&
        "$(find "$tree" -name 'ld-linux*.so.*' | sed -n 1p)" --library-path "$libraries" "$2/use_op"
}

passed=0 failed=0 skipped=0
tests=() # arguments for ctest

# report NAME LOG COMMAND...: runs a leg, and counts it.
report() {
    local name=$1 log=$2 tests
    shift 2
    if "$@" >"$log" 2>&1 </dev/null; then
        tests=$(sed -n 's/^100% tests passed, .* out of //p' "$log")
        printf 'ok %s: %s tests passed\n' "$name" "${tests:-1}"
        passed=$((passed + 1))
    else
        printf 'FAILED %s\n' "$name"
        cat "$log"
        failed=$((failed + 1))
    fi
}

# can COMPILER HOW: fails, and says why, if something else than the compiler is not installed.
can() {
    local missing=
    case $2 in
    emulated) command -v qemu-s390x >/dev/null || missing=qemu-user ;;
    on_windows) command -v wine >/dev/null || missing=wine ;;
    with_libcxx) "$1" -stdlib=libc++ -fsyntax-only -x c++ - <<<'#include <version>' 2>/dev/null || missing=libc++ ;;
    on_io_uring) "$1" -fsyntax-only -x c++ - <<<'#include <liburing.h>' 2>/dev/null || missing=liburing ;;
    esac
    [[ -z $missing ]] || ! skip "$missing is not installed"
}

# leg COMPILER SUITE HOW [PLATFORM]
leg() {
    local compiler=$1 suite=$2 how=$3 platform=${4:-} asio fmt doctest directory
    if [[ -z ${prefix[$suite]:-} ]] || ! command -v "$compiler" >/dev/null || ! can "$compiler" "$how"; then
        skipped=$((skipped + 1))
        return
    fi
    read -r asio fmt doctest <<<"${versions[$suite]}"
    directory="$work/${platform:-$compiler}-$asio"
    report "${platform:+$platform: }$compiler, Asio $asio, fmt $fmt, doctest $doctest" "$directory.log" \
        "$how" "${prefix[$suite]}" "$directory" "$compiler"
}

# boost_leg SUITE
boost_leg() {
    local from version directory
    provide_boost "$1"
    from=${prefix[boost-$1]:-}
    if [[ -z $from ]]; then
        skipped=$((skipped + 1))
        return
    fi
    version=$(sed -nE 's/^#define BOOST_LIB_VERSION "(.*)"/\1/p' "$from/include/boost/version.hpp")
    directory=$work/boost-$version
    mkdir -p "$directory"
    report "g++, Boost ${version//_/.}" "$directory.log" with_boost "$from" "$directory"
    if [[ $1 == sid ]] && fetch cobalt-sid fetch_cobalt sid "${version//_/.}"; then
        report "g++, Boost.Cobalt ${version//_/.}" "$directory-cobalt.log" with_cobalt "$from" "$directory"
    fi
}

boosts=() targets=(all) selected=.
case "$*" in
'') ;;
--names)
    printf '%s\n' "${in_order[@]}"
    exit
    ;;
--full)
    legs=()
    for compiler in "${compilers[@]}"; do
        for suite in "${suites[@]}"; do legs+=("$compiler $suite"); done
    done
    ;;
--platforms | '--platforms '*)
    suites=(trixie) compilers=() legs=()
    for platform in "${@:2}"; do [[ -n ${platforms[$platform]:-} ]] || usage; done
    for platform in "${in_order[@]}"; do
        (($# == 1)) || [[ " ${*:2} " == *" $platform "* ]] || continue
        read -r compiler how <<<"${platforms[$platform]}"
        compilers+=("$compiler")
        legs+=("$compiler trixie $how $platform")
    done
    ;;
--boost | '--boost bookworm' | '--boost sid')
    boosts=(bookworm sid) compilers=() suites=() legs=()
    if (($# == 2)); then boosts=("$2"); fi
    ;;
'--boost --quick')
    boosts=(bookworm) compilers=() suites=() legs=()
    targets=(both_tests conformance_tests beast_server) selected='^(both|conformance)_tests$|beast'
    ;;
*)
    if (($# != 2)) || [[ " ${compilers[*]} " != *" $1 "* || " ${suites[*]} " != *" $2 "* ]]; then usage; fi
    compilers=("$1") suites=("$2") legs=("$1 $2")
    ;;
esac

for compiler in "${compilers[@]}"; do
    command -v "$compiler" >/dev/null || skip "$compiler is not installed"
done
for suite in "${suites[@]}"; do provide "$suite"; done
mkdir -p "$work"
for suite in "${boosts[@]}"; do boost_leg "$suite"; done
for pair in "${legs[@]}"; do
    read -r compiler suite how platform <<<"$pair"
    leg "$compiler" "$suite" "${how:-as_usual}" "$platform"
done

printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
((failed == 0))
