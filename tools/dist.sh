#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# dist.sh DIRECTORY: writes the release archive of the last commit, cogwheel-VERSION.tar.gz. The same commit gives the same
# bytes. What is unpacked builds without git.
set -euo pipefail

if ! git rev-parse --verify --quiet HEAD >/dev/null; then
    printf 'dist: this is no git repository, and an archive is made of a commit\n' >&2
    exit 2
fi
if [[ -n $(git status --porcelain --untracked-files=no) ]]; then
    printf 'dist: the archive is of the last commit, without the changes since\n' >&2
fi
version=$(git show HEAD:CMakeLists.txt | sed -nE 's/^project\(cogwheel VERSION ([0-9.]+) .*/\1/p')
archive=$1/cogwheel-$version.tar.gz
mkdir -p "$1"
# -n: gzip writes no time.
git -c tar.umask=0022 archive --format=tar --prefix="cogwheel-$version/" HEAD | gzip -9 -n >"$archive.new"
mv "$archive.new" "$archive"
(cd "$1" && sha256sum "${archive##*/}" | tee "${archive##*/}.sha256")
