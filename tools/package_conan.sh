#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# package_conan.sh: creates the package of packaging/conan in a home of Conan's of its own, build/conan, and builds a program
# with it, for several options. Asio and what durable tasks need are those of this machine, so no package is downloaded.
# Boost_ROOT says where a Boost is, if it is not installed.
set -euo pipefail

export CONAN_HOME=$PWD/build/conan
conan=${CONAN:-conan}
if ! command -v "$conan" >/dev/null; then
    printf 'package: Conan 2 is not installed (pip install conan), or set CONAN to its command\n' >&2
    exit 3
fi
"$conan" profile detect --force >/dev/null 2>&1
{
    sed 's/^compiler.cppstd=.*/compiler.cppstd=20/' "$CONAN_HOME/profiles/default"
    printf '[platform_requires]\n'
    printf '%s\n' asio/1.22.1 boost/1.81.0 libcurl/7.88.1 openssl/3.0.0
} >"$CONAN_HOME/profiles/of_this_machine"

version=$(sed -nE 's/^project\(cogwheel VERSION ([0-9.]+) .*/\1/p' CMakeLists.txt)
readonly log=$CONAN_HOME/log
sets=(durable=False durable=True shared=True)
if [[ -e ${Boost_ROOT:-/usr}/include/boost/asio.hpp ]]; then
    sets+=(asio=both)
else
    printf 'conan: without asio=both: no Boost\n'
fi
for set in "${sets[@]}"; do
    printf 'conan: %s\n' "$set"
    # The program is built in a copy, because Conan writes beside its recipe.
    rm -rf "$CONAN_HOME/test" && mkdir -p "$CONAN_HOME/test/packaging/conan" "$CONAN_HOME/test/tests"
    cp -R packaging/conan/test_package "$CONAN_HOME/test/packaging/conan/"
    cp -R tests/consumer "$CONAN_HOME/test/tests/"
    options=(--no-remote --profile of_this_machine --options "cogwheel/*:$set")
    if ! { "$conan" create packaging/conan "${options[@]}" --test-folder= &&
        "$conan" test "$CONAN_HOME/test/packaging/conan/test_package" "cogwheel/$version" "${options[@]}"; } >"$log" 2>&1 </dev/null; then
        cat "$log" >&2
        exit 1
    fi
done
printf 'conan: ok\n'
