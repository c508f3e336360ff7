#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# demo.sh [--watch] DIRECTORY [OPTIONS]: runs the echo server of DIRECTORY with 2,000 connections of echo_load, to which it
# passes the OPTIONS, and ends with a verdict. Fails if a promise was broken. --watch: for a minute, with the server's page
# in a browser.
# demo.sh [--watch]: says what the demo will show.
set -euo pipefail

server_options=() load_options=() duration='7 s'
if [[ ${1:-} == --watch ]]; then
    shift
    server_options=(--monitor 127.0.0.1:0) load_options=(--seconds 60 --spread 50s) duration='a minute'
fi

if (($# == 0)); then
    cat <<TEXT
demo: an echo server and 2,000 clients. One half chats, and must not be closed.
demo: The other half falls silent, one after the other: each has to be closed
demo: 2 s later, none sooner. Every byte has to come back. It takes $duration,
demo: and before, the first time, some minutes to build.
TEXT
    exit
fi

readonly programs=$1
shift
output=$(mktemp)
table=$(mktemp)
server=

cleanup() {
    if [[ -n $server ]]; then kill -KILL "$server" 2>/dev/null || true; fi
    rm -f "$output" "$table"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# Server and client each need a descriptor per connection. If the hard limit is too low, the client's table shows it.
if [[ $(ulimit -Sn) != unlimited ]] && (($(ulimit -Sn) < 8192)); then
    ulimit -Sn 8192 2>/dev/null || ulimit -Sn "$(ulimit -Hn)"
fi

"$programs/echo_server" --idle 2s --port 0 "${server_options[@]}" >"$output" 2>&1 &
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
# The server writes its first lines together.
if page=$(sed -n 's/^page on //p' "$output") && [[ -n $page ]]; then
    printf 'demo: the page is %s\n' "$page"
    if [[ -n ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]] && command -v xdg-open >/dev/null; then
        xdg-open "$page" >/dev/null 2>&1 </dev/null &
    else
        printf 'demo: open it in a browser; it lasts as long as the demo\n'
    fi
fi

client_status=0
"$programs/echo_load" --port "$port" --connections 2000 --idle 2s --server-pid "$server" "${load_options[@]}" "$@" >"$table" ||
    client_status=$?

kill -TERM "$server" 2>/dev/null || true
server_status=0
wait "$server" || server_status=$?
server=
grep -v '^broken promise: ' "$table" || true
tail -n +2 "$output" | grep -v '^page on ' || true

if ((client_status == 0 && server_status == 0)); then printf 'demo: all promises kept\n'; fi
if ((server_status)); then printf 'demo: the server failed (exit %d)\n' "$server_status" >&2; fi
if ((client_status > 1)); then printf 'demo: the client failed (exit %d)\n' "$client_status" >&2; fi
sed -n 's/^broken promise: /demo: broken promise: /p' "$table" >&2
((client_status == 0 && server_status == 0))
