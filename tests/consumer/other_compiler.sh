#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# other_compiler.sh ARGUMENTS: $COGWHEEL_CXX, but for what compilers have each their own of: a flag for a warning or an optimisation is an error.
set -euo pipefail
for argument in "$@"; do
    case $argument in
    -Wl,*) ;;
    -W* | -fno-semantic-interposition)
        printf 'unknown option %s\n' "$argument" >&2
        exit 1
        ;;
    esac
done
exec "$COGWHEEL_CXX" "$@"
