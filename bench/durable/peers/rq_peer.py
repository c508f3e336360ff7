# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""rq_peer.py produce SOCKET PLAN CHUNK | work SOCKET TASKS OUT LIMIT: the contender RQ (see bench/durable/run.py). Its worker
does not fork for each task: SimpleWorker is the faster one."""

import datetime
import sys
import threading

import producer

late = []
state = {}


def run(body):
    late.append(producer.now_us() - int(body.split()[0]) * 1000)
    if len(late) == state["wanted"]:
        producer.finish(late, state["out"])


def main():
    import redis
    import rq
    import rq_peer  # the worker imports the function by this name

    role, socket, *rest = sys.argv[1:]
    connection = redis.Redis(unix_socket_path=socket)
    queue = rq.Queue("bench", connection=connection)
    if role == "produce":
        def add(bodies):
            for due_ms, body in bodies:
                due = datetime.datetime.fromtimestamp(due_ms / 1000, datetime.timezone.utc)
                queue.enqueue_at(due, "rq_peer.run", body, result_ttl=0)
        producer.produce(rest[0], int(rest[1]), add)
    else:
        rq_peer.state.update(wanted=int(rest[0]), out=rest[1])
        timer = threading.Timer(float(rest[2]), lambda: producer.finish(rq_peer.late, rest[1]))
        timer.daemon = True
        timer.start()
        print("ready", flush=True)
        rq.SimpleWorker([queue], connection=connection).work(with_scheduler=True, logging_level="ERROR")


if __name__ == "__main__":
    main()
