#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# package_deb.sh: builds Debian's packages of the last commit in build/deb, and lets lintian judge them. Then it unpacks them
# into an empty root, builds programs with what lies there, and runs cogwheeld from there; packaging/debian/tests does the
# same where they are installed: autopkgtest build/deb/*.deb build/deb/source/ -- null, as root, on a machine to throw away.
set -euo pipefail

readonly work=$PWD/build/deb
rm -rf "$work"
mkdir -p "$work/source"
tools/dist.sh "$work"
archive=$(basename "$work"/cogwheel-*.tar.gz)
version=${archive#cogwheel-}
version=${version%.tar.gz}
mv "$work/$archive" "$work/cogwheel_$version.orig.tar.gz"
tar -xzf "$work/cogwheel_$version.orig.tar.gz" -C "$work/source" --strip-components=1
cp -R "$work/source/packaging/debian" "$work/source/debian"
sed -i "s/@VERSION@/$version/; s/@DATE@/$(git log -1 --format=%cD)/" "$work/source/debian/changelog"

printf 'deb: build\n'
if ! (cd "$work/source" && dpkg-buildpackage -us -uc) >"$work/build.log" 2>&1 </dev/null; then
    tail -n 50 "$work/build.log" >&2
    exit 1
fi
printf 'deb: lintian\n'
# These packages are not for Debian's archive, whose first upload closes a report of the wish for them.
lintian --fail-on error,warning --display-level '>=info' --suppress-tags initial-upload-closes-no-bugs,debian-watch-file-is-missing \
    "$work"/cogwheel_*.changes

# consumer NAME: builds and runs a program with what lies in the root.
consumer() {
    cmake -S "tests/consumer/$1" -B "$work/$1" -G Ninja -DCMAKE_PREFIX_PATH="$root/usr" >"$work/$1.log" 2>&1 || return
    grep "^cogwheel_DIR:PATH=$root/" "$work/$1/CMakeCache.txt"
    cmake --build "$work/$1" >>"$work/$1.log"
    "$work/$1/consumer"
}

printf 'deb: an empty root\n'
readonly root=$work/root
mkdir "$root"
for package in libcogwheel-dev libcogwheel-durable-dev cogwheeld; do
    for file in "$work/$package"_*.deb; do
        dpkg-deb -I "$file" | sed -n 's/^ \(Package\|Installed-Size\|Depends\)/\1/p'
        dpkg-deb -x "$file" "$root"
    done
    case $package in
    libcogwheel-dev)
        consumer find_package
        # Without its package, CMake names it.
        ! consumer durable || exit 1
        grep -q libcogwheel-durable-dev <(tr -s '\n ' ' ' <"$work/durable.log")
        ;;
    libcogwheel-durable-dev) consumer durable ;;
    esac
done
tests/consumer/pkg_config/pkg_config.sh c++ "$root/usr" "$work/pkg_config"
printf 'deb: the service\n'
if ! python3 -B tests/service/service_api.py "$root/usr/bin/cogwheeld" service/api/openapi.json >"$work/service.log" 2>&1; then
    cat "$work/service.log" >&2
    exit 1
fi
tail -n 1 "$work/service.log"
printf 'deb: ok\n'
