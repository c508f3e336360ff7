# shellcheck shell=bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors

# project_files: every file of the project that is tracked or about to be, one a line. Works in an unpacked archive too.
project_files() {
    if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        git ls-files --cached --others --exclude-standard | sort -u | while IFS= read -r file; do
            # Deleted, but not yet from the index.
            [[ ! -f $file ]] || printf '%s\n' "$file"
        done
    else
        find . \( -name .git -o -path ./build \) -prune -o -type f -printf '%P\n' | sort
    fi
}
