# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""The floor of a task's cycle, one task in a call: four scripts that only write and read what must be written and
read if a task may not be lost, begin early or begin twice, and that have nothing to decide with. What is above this row
is ours to answer for: arguments and answers of batches, policies, leases that ran out, retention, hints."""

import server

SCRIPTS = {
    # The order, what to run, the record of who may run it, and the last generation.
    "add": "redis.call('HSET', KEYS[4], 'gen', ARGV[4]) redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1]) "
           "redis.call('HSET', KEYS[3], ARGV[1], ARGV[3]) redis.call('HSET', KEYS[2], ARGV[1], ARGV[5]) return 1",
    # The first that is due by the server's clock, moved behind its lease.
    "claim": "local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000) "
             "local id = redis.call('ZRANGEBYSCORE', KEYS[1], 1, now + 1000, 'LIMIT', 0, 1)[1] "
             "local record, body = redis.call('HGET', KEYS[2], id), redis.call('HGET', KEYS[3], id) "
             "redis.call('ZADD', KEYS[1], -(now + 750), id) return {id, record, body}",
    # Whether it may begin, by record and clock; the attempt and its lease.
    "begin": "local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000) "
             "if redis.call('HGET', KEYS[2], ARGV[1]) ~= ARGV[2] then return 0 end "
             "redis.call('ZADD', KEYS[1], -(now + 30000), ARGV[1]) redis.call('HSET', KEYS[2], ARGV[1], ARGV[3]) return 1",
    # Whether it is still that attempt; then nothing of it is left.
    "finish": "if redis.call('HGET', KEYS[2], ARGV[1]) ~= ARGV[2] then return 0 end redis.call('HDEL', KEYS[2], ARGV[1]) "
              "redis.call('HDEL', KEYS[3], ARGV[1]) redis.call('ZREM', KEYS[1], ARGV[1]) return 1",
}
PARTS = "due", "meta", "body", "seq"


class ScriptFloor:
    """`callers` share each write, and each has a shard of its own."""

    def __init__(self, callers):
        self.callers = callers
        some = f"{callers} shards, {callers} callers" if callers > 1 else "1 shard, 1 caller"
        self.name = f"floor: four scripts, {some}"

    def cycle(self, tasks):
        with server.Server() as redis:
            shas = {name: redis.ask("SCRIPT", "LOAD", text) for name, text in SCRIPTS.items()}

            def run(name, arguments):
                """One call for each caller."""
                return redis.ask_all([("EVALSHA", shas[name], len(PARTS), *("{floor:%d}:%s" % (shard, p) for p in PARTS), *a)
                                      for shard, a in enumerate(arguments)])

            redis.forget()
            waiting, running, body = "w" * 29, "r" * 29, "x" * 200
            rounds = tasks // self.callers
            tasks = rounds * self.callers
            before = redis.cpu_us()
            for i in range(rounds):
                run("add", [(f"task-{i}", 1_000 + i, body, i, waiting)] * self.callers)
            added = redis.cpu_us()
            handled = 0
            for _ in range(rounds):
                ids = [claim[0] for claim in run("claim", [()] * self.callers)]
                begun = run("begin", [(i, waiting, running) for i in ids])
                done = run("finish", [(i, running) for i in ids])
                handled += sum(1 for b, d in zip(begun, done) if b == d == 1)
            done = redis.cpu_us()
            left = int(redis.ask("DBSIZE"))
            return {"tasks": tasks, "chunk": 1, "pending": 0, "add us": (added - before) / tasks,
                    "run us": (done - added) / tasks, "cycle us": (done - before) / tasks,
                    "kept up": handled == tasks and left == self.callers, "worker": {"handled": handled},
                    "worker us a task": 0, "server": redis.commands()}
