#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# three_workers.sh COGWHEELD [PORT=7400]: three cogwheeld on a Redis with two replicas and three sentinels, all on this
# machine, in a scratch directory. Any of them may be killed, and comes back within moments: as under systemd, each process
# is started again when it ends. Runs until SIGINT or SIGTERM.
#
# The ports: Redis PORT to PORT + 2, sentinels PORT + 10 to PORT + 12, cogwheeld PORT + 20 to PORT + 22.
set -euo pipefail

(($# >= 1 && $# <= 2)) || { sed -n 's/^# \{0,1\}//;5,10p' "$0" >&2; exit 2; }
cogwheeld=$(realpath "$1")
readonly cogwheeld first=${2:-7400}
directory=$(mktemp -d)
keepers=()

cleanup() {
    trap '' INT TERM
    kill -TERM "${keepers[@]}" 2>/dev/null || true
    wait "${keepers[@]}" 2>/dev/null || true
    rm -rf "$directory"
}
trap cleanup EXIT
trap 'exit 0' INT TERM

# keep NAME COMMAND...: runs it, and again when it has ended. Prints each start.
keep() {
    local name=$1 pid='' delay=
    shift
    trap 'if [[ -n $pid ]]; then kill -TERM "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; fi; exit 0' TERM
    while :; do
        "$@" >>"$directory/$name.log" 2>&1 </dev/null &
        pid=$!
        printf '%s is process %d\n' "$name" "$pid"
        wait "$pid" || true
        sleep 1 &
        delay=$!
        wait "$delay" || true
    done
}

redis() {
    local port=$1
    shift
    mkdir "$directory/redis-$port"
    keep "redis-$port" redis-server --port "$port" --bind 127.0.0.1 --dir "$directory/redis-$port" --save '' --appendonly yes \
        --appendfsync everysec --maxmemory-policy noeviction --repl-diskless-sync-delay 0 "$@" &
    keepers+=($!)
}

# Only majorities decide: two sentinels that agree, and a replica that has confirmed a task before it counts as stored.
sentinel() {
    local port=$1
    cat >"$directory/sentinel-$port.conf" <<TEXT
port $port
bind 127.0.0.1
dir $directory
sentinel monitor cogwheel 127.0.0.1 $first 2
sentinel down-after-milliseconds cogwheel 2000
sentinel failover-timeout cogwheel 10000
TEXT
    keep "sentinel-$port" redis-server "$directory/sentinel-$port.conf" --sentinel &
    keepers+=($!)
}

redis "$first"
redis $((first + 1)) --replicaof 127.0.0.1 "$first"
redis $((first + 2)) --replicaof 127.0.0.1 "$first"
for i in 10 11 12; do sentinel $((first + i)); done

# A service that starts before its replicas are there ends, and is started again.
cat >"$directory/cogwheeld.toml" <<TEXT
redis = "sentinel://127.0.0.1:$((first + 10)),127.0.0.1:$((first + 11)),127.0.0.1:$((first + 12))/cogwheel"
[tasks]
durability = "replicas:1"
[callbacks]
allow_networks = ["127.0.0.0/8"]
TEXT
for i in 20 21 22; do
    keep "cogwheeld-$((first + i))" "$cogwheeld" --config "$directory/cogwheeld.toml" --listen "127.0.0.1:$((first + i))" &
    keepers+=($!)
done
printf 'cogwheeld listens on 127.0.0.1:%d, %d and %d; logs are in %s\n' $((first + 20)) $((first + 21)) $((first + 22)) "$directory"
wait
