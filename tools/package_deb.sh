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

printf 'deb: an empty root\n'
readonly root=$work/root
mkdir "$root"
for package in "$work"/*.deb; do
    dpkg-deb -I "$package" | sed -n 's/^ \(Package\|Installed-Size\|Depends\)/\1/p'
    dpkg-deb -x "$package" "$root"
done
for name in find_package durable; do
    cmake -S "tests/consumer/$name" -B "$work/$name" -G Ninja -DCMAKE_PREFIX_PATH="$root/usr" >"$work/$name.log"
    grep "^cogwheel_DIR:PATH=$root/" "$work/$name/CMakeCache.txt"
    cmake --build "$work/$name" >>"$work/$name.log"
    "$work/$name/consumer"
done
tests/consumer/pkg_config/pkg_config.sh c++ "$root/usr" "$work/pkg_config"
printf 'deb: the service\n'
if ! python3 -B tests/service/service_api.py "$root/usr/bin/cogwheeld" service/api/openapi.json >"$work/service.log" 2>&1; then
    cat "$work/service.log" >&2
    exit 1
fi
tail -n 1 "$work/service.log"
printf 'deb: ok\n'
