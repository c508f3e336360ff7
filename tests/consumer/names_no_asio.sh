#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# names_no_asio.sh NM LIBRARY: fails if the library defines or needs anything of Asio, or has no symbols.
set -euo pipefail

symbols=$("$1" -C "$2")
grep -q 'cogwheel::' <<<"$symbols"
names=$(grep -E '(^|[^_[:alnum:]])(boost::)?asio::' <<<"$symbols" || true)
if [[ -n $names ]]; then
    printf '%s names Asio:\n%s\n' "$2" "$names" >&2
    exit 1
fi
