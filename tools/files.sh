# shellcheck shell=bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors

# project_files: prints the files that git tracks or would add, one per line; in an unpacked archive, all files.
project_files() {
    if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        git ls-files --cached --others --exclude-standard | sort -u | while IFS= read -r file; do
            # Skips a deleted file that is still in the index.
            [[ ! -f $file ]] || printf '%s\n' "$file"
        done
    else
        find . \( -name .git -o -path ./build \) -prune -o -type f -printf '%P\n' | sort
    fi
}
