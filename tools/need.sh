#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# What `dev`, which sources this file, needs of a machine: compilers, packages, and how it gets them.
# need.sh checks | rest, as root on Debian: installs what the commands of .ci/run need, or what the others need: see Containerfile.

# The release of LLVM that compiles the tests, formats and analyses. Debian 12, 13 and sid have it. Everyone must use the same one:
# releases format differently.
readonly clang=19

has_command() { command -v "$1" >/dev/null; }
# Asks the compiler, so that headers outside /usr/include count too.
has_header() { printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$1" | "$cxx" -E -x c++ - >/dev/null 2>&1; }
has_parser() { has_header llhttp.h || has_header http_parser.h; }
has_server() { if [[ -n ${COGWHEEL_REDIS:-} ]]; then has_command "$COGWHEEL_REDIS"; else has_command redis-server || has_command valkey-server; fi; }
has_file() { [[ -e $1 ]]; }
has_runtime() { compgen -G "/usr/lib/llvm-$clang/lib/clang/*/lib/linux/libclang_rt.$1-*.a" >/dev/null; }

# The releases that docs/platforms.md names. Those of Apple count in their own way.
has_compiler() {
    has_command "$1" && "$1" -std=c++20 -fsyntax-only -x c++ - 2>/dev/null <<'TEXT'
#include <coroutine>
#if defined(__clang__) ? __clang_major__ < 16 && !defined(__apple_build_version__) : __GNUC__ < 12
#error
#endif
TEXT
}

# compiler FIRST: prints $CXX, or FIRST if it can compile Cogwheel, or c++, or the newest that can, or nothing.
compiler() {
    local candidate candidates=("$1" c++ g++ clang++)
    if [[ -n ${CXX:-} ]]; then
        printf '%s' "$CXX"
        return
    fi
    mapfile -t -O "${#candidates[@]}" candidates < <(compgen -c | grep -xE '(g|clang)\+\+-[0-9]+' | sort -u | sort -t- -k2,2nr || true)
    for candidate in "${candidates[@]}"; do
        if has_compiler "$candidate"; then
            printf '%s' "$candidate"
            return
        fi
    done
}
has_any_compiler() { has_command "$(compiler c++)"; }

# packages GROUP: prints lines of a probe (has_*), its argument, and the Debian packages: a,b if both are needed, a|b where a release
# of Debian may lack the first.
packages() {
    case $1 in
    build)
        printf '%s\n' 'command cmake cmake' 'command ninja ninja-build' 'file /usr/share/zoneinfo/tzdata.zi tzdata' \
            'file /usr/sbin/zic libc-bin'
        if [[ ${CXX:-} =~ ^clang\+\+-([0-9]+)$ ]]; then
            printf 'command %s %s\n' "$CXX" "clang-${BASH_REMATCH[1]},lld-${BASH_REMATCH[1]}"
        else
            local package=${CXX:-clang-$clang,lld-$clang|g++}
            package=${package/#clang++/clang}
            printf '%s\n' "any_compiler ${CXX:-g++-12-or-clang++-16-or-later} ${package/#c++/g++}"
        fi
        if [[ ${fetch:-OFF} == OFF ]]; then
            printf '%s\n' 'header asio.hpp libasio-dev' 'header fmt/core.h libfmt-dev' 'header doctest/doctest.h doctest-dev'
        fi
        ;;
    gcc) printf '%s\n' 'command g++ g++' ;;
    durable) printf '%s\n' 'header curl/curl.h libcurl4-openssl-dev' \
        'header openssl/ssl.h libssl-dev' ;;
    service) printf '%s\n' 'parser - libllhttp-dev|libhttp-parser-dev' 'header nlohmann/json.hpp nlohmann-json3-dev' \
        'header toml++/toml.h libtomlplusplus-dev' ;;
    redis) printf '%s\n' "server redis-server ${COGWHEEL_REDIS:-redis-server|valkey-server}" ;;
    lint) printf '%s\n' "command clang++-$clang clang-$clang" "command clang-format-$clang clang-format-$clang" \
        "command clang-tidy-$clang clang-tidy-$clang" 'command shellcheck shellcheck' ;;
    asan | fuzz) printf '%s\n' "command clang++-$clang clang-$clang" "runtime ${1/fuzz/fuzzer} libclang-rt-$clang-dev" ;;
    loops) printf '%s\n' 'header uv.h libuv1-dev' 'header event2/event.h libevent-dev' 'header ev.h libev-dev' ;;
    foreign) printf '%s\n' 'command /usr/bin/cargo cargo' 'file /usr/share/doc/librust-tokio-dev librust-tokio-dev' \
        'command javac openjdk-17-jdk-headless' 'file /usr/share/java/netty-common.jar libnetty-java' ;;
    queues) printf '%s\n' 'command sidekiq ruby-sidekiq' 'file /usr/lib/python3/dist-packages/rq python3-rq' \
        'file /usr/lib/python3/dist-packages/celery python3-celery' 'command npm npm' ;;
    clients) printf '%s\n' 'command python3 python3' ;;
    browser) printf '%s\n' 'command chromium chromium' 'command chromedriver chromium-driver' ;;
    probes) printf '%s\n' 'header sys/sdt.h systemtap-sdt-dev' ;;
    deb) printf '%s\n' 'file /usr/share/doc/build-essential build-essential' 'command dh debhelper' 'command lintian lintian' ;;
    site) printf '%s\n' 'command doxygen doxygen' 'file /usr/share/doxygen-awesome-css doxygen-awesome-css' ;;
    bare) printf '%s\n' 'command debootstrap debootstrap' ;;
    packages) printf '%s\n' 'command pkg-config pkgconf' ;;
    mutants) printf '%s\n' "file /usr/lib/python3/dist-packages/clang/cindex.py python3-clang-$clang" ;;
    counts) printf '%s\n' 'command valgrind valgrind' ;;
    i386) packages i686-linux-gnu ;;
    armhf) packages arm-linux-gnueabihf ;;
    aarch64 | riscv64 | s390x) packages "$1-linux-gnu" ;;
    *-linux-gnu*) printf '%s\n' "command $1-g++ g++-$1" 'command qemu-s390x qemu-user' ;;
    windows) printf '%s\n' 'command x86_64-w64-mingw32-g++-posix g++-mingw-w64-x86-64-posix' 'command wine wine' ;;
    libc++) printf '%s\n' 'command clang++-16 clang-16' 'file /usr/lib/llvm-16/include/c++/v1/version libc++-16-dev' \
        'file /usr/lib/llvm-16/include/c++/v1/cxxabi.h libc++abi-16-dev' ;;
    io_uring) printf '%s\n' 'header liburing.h liburing-dev' ;;
    clang-*) printf '%s\n' "command clang++-${1#clang-} $1" ;;
    lld-*) printf '%s\n' "command ld.$1 $1" ;;
    esac
}

# choose PACKAGES: adds those of the first alternative that this release of Debian has to chosen.
choose() {
    local alternative package packages
    for alternative in ${1//|/ }; do
        read -ra packages <<<"${alternative//,/ }"
        for package in "${packages[@]}"; do
            [[ -n $(apt-cache show "$package" 2>/dev/null) ]] || continue 2
        done
        chosen+=("${packages[@]}")
        return
    done
    return 1
}

# need GROUP... [-- GROUP...]: installs what is missing, or stops and names it. What the groups behind -- want is left out, with a
# line, if this release of Debian does not have it. Without apt-get, CMake looks for libraries and names them.
need() {
    local group probe argument package must=1 log as_root=()
    local needed=() wanted=() commands=() chosen=() cxx
    cxx=$(compiler c++)
    for group in "$@"; do
        if [[ $group == -- ]]; then
            must=
            continue
        fi
        while read -r probe argument package; do
            if [[ -z $probe ]] || "has_$probe" "$argument"; then continue; fi
            if ! has_command apt-get; then
                [[ $probe != command && $probe != any_compiler && $probe != server ]] || commands+=("$argument")
                [[ -z $must ]] || needed=("${commands[@]}")
            elif [[ -n $must ]]; then
                needed+=("$package")
            else
                wanted+=("$package")
            fi
        done <<<"$(packages "$group")"
    done
    if ! has_command apt-get; then
        if ((${#commands[@]})); then printf 'not installed: %s\n' "${commands[*]}"; fi
        if ((${#needed[@]})); then fail "install ${needed[*]}; CMake then says which libraries are missing" 3; fi
        return 0
    fi
    ((${#needed[@]} + ${#wanted[@]})) || return 0
    if ((EUID != 0)); then as_root=(sudo -n); fi
    if ! "${as_root[@]}" true 2>/dev/null; then
        # apt's lists may be empty.
        for package in "${needed[@]}" "${wanted[@]}"; do choose "$package" || chosen+=("${package%%|*}"); done
        fail "not installed: ${chosen[*]}. As root: apt-get install ${chosen[*]}" 3
    fi
    log=$(mktemp)
    if ! "${as_root[@]}" apt-get update -qq >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        fail 'apt-get could not update its lists' 3
    fi
    for package in "${needed[@]}"; do choose "$package" || fail "this release of Debian does not have $package" 3; done
    for package in "${wanted[@]}"; do
        choose "$package" || printf 'this release of Debian does not have %s: what needs it is left out\n' "$package"
    done
    if ((!${#chosen[@]})); then return 0; fi
    printf 'installing: %s (apt-get)\n' "${chosen[*]}"
    # RUNLEVEL=1: the package redis-server does not start the system's service.
    if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
        apt-get install -y -qq --no-install-recommends "${chosen[@]}" >"$log" 2>&1 </dev/null; then
        tail -n 20 "$log" >&2
        fail "apt-get could not install: ${chosen[*]}" 3
    fi
    rm -f "$log"
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
    set -euo pipefail
    fail() {
        printf 'need: %s\n' "$1" >&2
        exit "${2:-1}"
    }
    case ${1:-} in
    checks) need build gcc durable service redis clients probes packages browser lint asan fuzz counts bare mutants site deb ;;
    rest) need loops foreign queues i386 armhf aarch64 riscv64 s390x windows libc++ io_uring ;;
    *) fail 'usage: need.sh checks | rest' 2 ;;
    esac
fi
