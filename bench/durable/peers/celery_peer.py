# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""The contender Celery (see bench/durable/run.py). As a script: celery_peer.py SOCKET PLAN CHUNK adds the tasks. As the module
that `celery -A celery_peer worker` loads, with BENCH_WORK="SOCKET TASKS OUT LIMIT": runs them."""

import datetime
import os
import sys
import threading

import celery
import celery.signals

import producer

work = os.environ.get("BENCH_WORK", "").split()
socket = work[0] if work else sys.argv[1]
app = celery.Celery("celery_peer", broker=f"redis+socket://{socket}")
app.conf.update(task_ignore_result=True, worker_redirect_stdouts=False)
late = []


@app.task(name="late")
def run(body):
    late.append(producer.now_us() - int(body.split()[0]) * 1000)
    if len(late) == int(work[1]):
        producer.finish(late, work[2])


@celery.signals.worker_ready.connect
def ready(**_):
    timer = threading.Timer(float(work[3]), lambda: producer.finish(late, work[2]))
    timer.daemon = True
    timer.start()
    print("ready", flush=True)


def add(bodies):
    with app.producer_pool.acquire(block=True) as one:
        for due_ms, body in bodies:
            due = datetime.datetime.fromtimestamp(due_ms / 1000, datetime.timezone.utc)
            run.apply_async((body,), eta=due, producer=one)


if __name__ == "__main__":
    producer.produce(sys.argv[2], int(sys.argv[3]), add)
