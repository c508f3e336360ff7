#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# demo.sh DIRECTORY: runs the echo server of DIRECTORY under the load of 2,000 clients, and fails where either finds a
# promise broken.
set -euo pipefail

readonly programs=$1
output=$(mktemp)
server=

cleanup() {
    if [[ -n $server ]]; then kill -KILL "$server" 2>/dev/null || true; fi
    rm -f "$output"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# Server and client each hold a descriptor per connection; a hard limit below this shows up in the client's table.
if [[ $(ulimit -Sn) != unlimited ]] && (($(ulimit -Sn) < 8192)); then
    ulimit -Sn 8192 2>/dev/null || ulimit -Sn "$(ulimit -Hn)"
fi

"$programs/echo_server" --idle 2s --port 0 >"$output" 2>&1 &
server=$!

port=
for ((tries = 0; tries < 200; ++tries)); do
    port=$(sed -n 's/^listening on .*:\([0-9]*\)$/\1/p;T;q' "$output")
    [[ -z $port ]] || break
    kill -0 "$server" 2>/dev/null || break
    sleep 0.05
done
if [[ -z $port ]]; then
    cat "$output" >&2
    printf 'demo: the echo server did not start\n' >&2
    exit 1
fi
printf 'demo: %s\n' "$(head -n 1 "$output")"

client_status=0
"$programs/echo_load" --port "$port" --connections 2000 --idle 2s --server-pid "$server" || client_status=$?

kill -TERM "$server" 2>/dev/null || true
server_status=0
wait "$server" || server_status=$?
server=
tail -n +2 "$output"

if ((client_status)); then
    printf 'demo: the client failed (exit %d)\n' "$client_status" >&2
    exit "$client_status"
fi
if ((server_status)); then
    printf 'demo: the server failed (exit %d)\n' "$server_status" >&2
    exit "$server_status"
fi
