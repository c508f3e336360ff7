#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# compat.sh [SUITE [COMPILER [STANDARD]] | --asio DIR | --boost [--quick | SUITE | DIR] | --platforms [PLATFORM]...]: builds
# and runs the tests elsewhere than `./dev test` does; each way is a leg.
# With a SUITE: on a bare Debian of that release, with its own packages and each of its compilers and their standards, or the given
# ones. Without arguments, on each of the suites. Needs root and debootstrap. What is built there is the last commit.
# With --asio: with the Asio in DIR. With --boost: the tests, examples and README's programs with Boost.Asio instead, of several
# releases of Boost, or of that in SUITE, or of that in DIR; with --quick, some of them, with the oldest.
# With --platforms, each leg is another platform: an architecture, by a cross compiler and an emulator that runs the tests;
# Windows, by mingw-w64 and wine; libc++; io_uring as Asio's backend. With --names, prints the names of the platforms.
set -euo pipefail
# shellcheck source=tools/packages.sh
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"

readonly work="$PWD/build/compat"
readonly suites=(bookworm trixie sid)
# Of 32 and 64 bits, with char signed and unsigned; s390x has the other byte order.
declare -rA platforms=([i386]='i686-linux-gnu-g++ emulated' [armhf]='arm-linux-gnueabihf-g++ emulated'
    [aarch64]='aarch64-linux-gnu-g++ emulated' [riscv64]='riscv64-linux-gnu-g++ emulated' [s390x]='s390x-linux-gnu-g++ emulated'
    [windows]='x86_64-w64-mingw32-g++-posix on_windows' [libc++]='clang++-16 with_libcxx' [io_uring]='g++ on_io_uring')
readonly in_order=(i386 armhf aarch64 riscv64 s390x windows libc++ io_uring)

usage() {
    printf 'usage: ./dev compat [SUITE [COMPILER [STANDARD]] | --asio DIR | --boost [--quick | SUITE | DIR] | --platforms [PLATFORM]...]; suites: %s; platforms: %s\n' \
        "${suites[*]}" "${in_order[*]}" >&2
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

# bare SUITE: provides that Debian as debootstrap makes it, or says why it cannot.
bare() {
    if ((EUID != 0)); then
        skip "a bare Debian needs root"
        return 1
    fi
    if ! command -v debootstrap >/dev/null; then
        skip 'debootstrap is not installed'
        return 1
    fi
    fetch "debian-$1" make_bare "$1"
}
make_bare() { debootstrap --variant=minbase --include=git,ca-certificates "$1" "$3" "$(mirror)" || { printf 'E: debootstrap\n' && false; }; }

# in_debian SUITE COMMAND...: runs the command in a clone of the last commit, on a copy of the bare Debian, which is thrown away. Its
# mounts and processes end with the command.
in_debian() {
    local root status=0
    root=$(mktemp -d "$work/debian-XXXX") || return
    # The caller is a pipe: so set -e does not hold here, and this is a shell of its own.
    # shellcheck disable=SC2064
    trap "rm -rf '$root'" EXIT
    # shellcheck disable=SC2016 # The inner shell expands it.
    cp -a --reflink=auto "$unpacked/debian-$1/." "$root" &&
        cp /etc/resolv.conf /etc/hosts "$root/etc/" &&
        printf 'Acquire::Check-Valid-Until "false";\n' >"$root/etc/apt/apt.conf.d/99-a-mirror-may-lag" &&
        git clone --quiet "$PWD" "$root/root/cogwheel" &&
        unshare --mount --pid --fork --kill-child bash -c '
        root=$1
        mount --make-rprivate / && mount --rbind /dev "$root/dev" && mount -t proc proc "$root/proc" && mount -t sysfs sysfs "$root/sys" &&
            exec chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM=dumb \
                "CI=${CI:-}" "http_proxy=${http_proxy:-}" bash -c "cd /root/cogwheel && exec \"\$@\"" in_debian "${@:2}"
    ' in_debian "$root" "${@:2}" || status=$?
    return "$status"
}

# knows COMPILER STANDARD: fails, and says why, if the compiler does not have it, or this CMake cannot ask for it.
knows() {
    local project
    if ! "$1" "-std=c++$2" -fsyntax-only -x c++ - <<<'' 2>/dev/null; then
        skip "$1 does not know C++$2"
        return 1
    fi
    project=$(mktemp -d)
    printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(knows LANGUAGES CXX)' \
        "if(NOT \"cxx_std_$2\" IN_LIST CMAKE_CXX_COMPILE_FEATURES)" 'message(FATAL_ERROR)' 'endif()' >"$project/CMakeLists.txt"
    if ! cmake -S "$project" -B "$project/build" -DCMAKE_CXX_COMPILER="$1" >/dev/null 2>&1; then
        skip "$(cmake --version | sed -n 1p) does not know C++$2 of $1"
        return 1
    fi
    rm -rf "$project"
}

# of_debian SUITE [COMPILER [STANDARD]]: runs on that Debian: a leg for each compiler, or that one, and each standard, or that one.
of_debian() {
    local compilers standards=(20 23 26) compiler standard
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends cmake make >/dev/null 2>&1 </dev/null
    compilers=(g++ "clang++-$(newest_clang)")
    if [[ $1 == bookworm ]]; then compilers+=(clang++-16); fi # the oldest
    if (($# > 1)); then compilers=("$2"); fi
    if (($# > 2)); then standards=("$3"); fi
    for compiler in "${compilers[@]}"; do
        if ! install_compiler "$compiler"; then
            printf 'FAILED %s: %s cannot be installed\n' "$1" "$compiler"
            failed=$((failed + 1))
            continue
        fi
        for standard in "${standards[@]}"; do
            if knows "$compiler" "$standard"; then
                report "$1: $("$compiler" --version | sed -n 1p), C++$standard" "$work/$compiler-$standard.log" \
                    env "CXX=$compiler" "CXX_STANDARD=$standard" ./dev test
            else
                skipped=$((skipped + 1))
            fi
        done
    done
}
newest_clang() {
    apt-cache search --names-only '^clang-[0-9]+$' | sed -E 's/^clang-([0-9]+).*/\1/' | sort -n | tail -n 1
}
install_compiler() {
    local wanted=("${1/clang++/clang}")
    if [[ $1 == clang++-* ]]; then wanted+=("lld-${1##*-}"); fi
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${wanted[@]}" >/dev/null 2>"$work/apt.log" </dev/null ||
        { tail -n 5 "$work/apt.log" && false; }
    command -v "$1" >/dev/null
}

# As all functions below: PREFIX DIRECTORY COMPILER.
with_asio() {
    cmake --fresh --preset dev -B "$2" -DCMAKE_CXX_COMPILER="$3" -DStandaloneAsio_INCLUDE_DIR="$1" &&
        cmake --build "$2" -- --quiet &&
        ctest --test-dir "$2" -j "$((4 * $(nproc)))" --no-tests=error --no-label-summary --output-on-failure
}

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

# with_boost HEADERS DIRECTORY: in a copy of the project that is written for Boost.Asio.
with_boost() {
    local from=$1 directory=$2
    tools/for_boost.sh "$directory/source" &&
        cmake --preset dev -S "$directory/source" -B "$directory/build" \
            '-DCOGWHEEL_ASIO=standalone;boost' -DBoostAsio_INCLUDE_DIR="$from" -DCOGWHEEL_BUILD_DURABLE=OFF &&
        cmake --build "$directory/build" --target "${targets[@]}" -- --quiet &&
        ctest --test-dir "$directory/build" -R "$selected" -j "$((4 * $(nproc)))" --no-tests=error --no-label-summary --output-on-failure
}

# with_cobalt HEADERS DIRECTORY: sid's library needs sid's libstdc++, which needs its libc.
with_cobalt() {
    local from=$1 built=$2/build/src tree=$unpacked/cobalt-sid libraries
    libraries=$(dirname "$(find "$tree" -name libboost_cobalt.so)")
    g++ -std=c++20 -O1 -DCOGWHEEL_BOOST -Iinclude -isystem "$from" -isystem "$tree/usr/include" tests/cobalt/use_op.cpp \
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
        tests=$(sed -n 's/^100% tests passed, .* out of //p' "$log" | tail -n 1)
        printf 'ok %s: %s tests passed\n' "$name" "${tests:-1}"
        sed -nE 's/^[[:space:]]*[0-9]+ - (.*) \(Skipped\)$/   skipped: \1/p; /does not build: .* needs |is left out$/p' "$log"
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

# platform_leg PLATFORM
platform_leg() {
    local compiler how asio fmt doctest directory
    read -r compiler how <<<"${platforms[$1]}"
    if [[ -z ${prefix[trixie]:-} ]] || ! command -v "$compiler" >/dev/null || ! can "$compiler" "$how"; then
        command -v "$compiler" >/dev/null || skip "$compiler is not installed"
        skipped=$((skipped + 1))
        return
    fi
    read -r asio fmt doctest <<<"${versions[trixie]}"
    directory="$work/$1-$asio"
    report "$1: $compiler, Asio $asio, fmt $fmt, doctest $doctest" "$directory.log" "$how" "${prefix[trixie]}" "$directory" "$compiler"
}

# boost_leg SUITE_OR_DIRECTORY
boost_leg() {
    local from=$1 version directory
    if [[ $1 != */* ]]; then
        provide_boost "$1"
        from=${prefix[boost-$1]:+${prefix[boost-$1]}/include}
    fi
    if [[ -z $from ]]; then
        skipped=$((skipped + 1))
        return
    fi
    version=$(sed -nE 's/^#define BOOST_LIB_VERSION "(.*)"/\1/p' "$from/boost/version.hpp")
    directory=$work/boost-$version
    mkdir -p "$directory"
    report "g++, Boost ${version//_/.}" "$directory.log" with_boost "$from" "$directory"
    if [[ $1 == sid ]] && fetch cobalt-sid fetch_cobalt sid "${version//_/.}"; then
        report "g++, Boost.Cobalt ${version//_/.}" "$directory-cobalt.log" with_cobalt "$from" "$directory"
    fi
}

# debian_leg SUITE [COMPILER [STANDARD]]: its lines are those of of_debian.
debian_leg() {
    local log=$work/debian-$1.log n
    if ! bare "$1"; then
        skipped=$((skipped + 1))
        return
    fi
    in_debian "$1" tools/compat.sh --inside "$@" 2>&1 | tee "$log" | sed -u '/^[0-9]* passed, [0-9]* failed, [0-9]* skipped$/d' || true
    # shellcheck disable=SC2016 # awk expands it.
    read -r -a n < <(awk '/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ {last = $1 " " $3 " " $5}
        END {print last ? last : "0 1 0"}' "$log")
    passed=$((passed + n[0])) failed=$((failed + n[1])) skipped=$((skipped + n[2]))
}

# headers DIRECTORY HEADER FOLDER...: prints the folder of the directory that has the header.
headers() {
    local folder
    for folder in "${@:3}"; do
        if [[ -e $1/$folder/$2 ]]; then
            (cd "$1/$folder" && pwd)
            return
        fi
    done
    printf 'compat: there is no %s in %s\n' "$2" "$1" >&2
    exit 2
}

targets=(all) selected=.
mkdir -p "$work"
case ${1:-} in
--names)
    printf '%s\n' "${in_order[@]}"
    exit
    ;;
--inside)
    of_debian "${@:2}"
    ;;
'')
    for suite in "${suites[@]}"; do debian_leg "$suite"; done
    ;;
--asio)
    (($# == 2)) || usage
    from=$(headers "$2" asio.hpp . include asio/include)
    report "c++, the Asio in $2" "$work/asio.log" with_asio "$from" "$work/asio" c++
    ;;
--platforms)
    provide trixie
    for platform in "${@:2}"; do [[ -n ${platforms[$platform]:-} ]] || usage; done
    for platform in "${in_order[@]}"; do
        if (($# == 1)) || [[ " ${*:2} " == *" $platform "* ]]; then platform_leg "$platform"; fi
    done
    ;;
--boost)
    boosts=("${@:2}")
    case ${2:-} in
    '') boosts=(bookworm sid) ;;
    --quick)
        boosts=(bookworm)
        targets=(both_tests conformance_tests beast_server) selected='^(both|conformance)_tests$|beast'
        ;;
    bookworm | trixie | sid) ;;
    *) boosts=("$(headers "$2" boost/asio.hpp . include)") ;;
    esac
    (($# <= 2)) || usage
    for boost in "${boosts[@]}"; do boost_leg "$boost"; done
    ;;
*)
    if [[ " ${suites[*]} " != *" $1 "* ]] || (($# > 3)); then usage; fi
    debian_leg "$@"
    ;;
esac

printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
((failed == 0))
