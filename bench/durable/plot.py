#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""plot.py FILE.json... [OUTPUT.svg]: draws how late durable tasks start, as run.py has measured it: for each rate, the share
of tasks that start later than a time. Of several files, the first that has a contender counts. OUTPUT is
docs/bench/durable-lateness.svg if not given. Needs matplotlib (Debian: python3-matplotlib). The same figures give the same
bytes."""

import json
import pathlib
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import palette  # noqa: E402
import svg  # noqa: E402

pyplot = svg.pyplot
# The colours of palette.py, whose distances it checks; ours are blue.
LIKE = {"floor: timer + PING": "floor (one store)", "cogwheel, tick 100 us": "cogwheel-core", "cogwheel, tick 1 ms": "cogwheel-local",
        "BullMQ": "asio::steady_timer", "Sidekiq": "libevent", "Celery": "libevent-common", "RQ": "libuv"}
COLOURS = {name: palette.CONTENDERS[like][0] for name, like in LIKE.items()}
SMALLEST = 1e-4  # the smallest share that is drawn


def curve(rows):
    """Of each quantile, the median over the rounds."""
    points = []
    for places in zip(*(r["late us"]["curve"] for r in rows)):
        points.append((statistics.median(us for _, us in places) / 1e3, max(1 - places[0][0], SMALLEST)))
    return zip(*points)


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    files = [pathlib.Path(name) for name in sys.argv[1:]]
    output = files.pop() if files and files[-1].suffix == ".svg" else root / "docs/bench/durable-lateness.svg"
    rows = []
    for file in files:
        drawn_before = {r["contender"] for r in rows}
        rows += [r for r in json.loads(file.read_text(encoding="utf-8"))["rows"]
                 if "late us" in r and r["contender"] not in drawn_before]
    rates = sorted({r["rate"] for r in rows})
    figure, axes = pyplot.subplots(2, len(rates), figsize=(11, 7), sharex=True, sharey=True, squeeze=False)
    drawn = {}
    for line, (part, title) in zip(axes, (("far", "delays 1-5 s"), ("near", "delays 50-300 ms"))):
        for axis, rate in zip(line, rates):
            remarks = []
            for name, colour in COLOURS.items():
                some = [r for r in rows if (r["part"], r["contender"], r["rate"]) == (part, name, rate)]
                if not some:
                    continue
                early = sum(r["late us"]["early"] for r in some) / sum(r["worker"]["handled"] for r in some)
                remarks += [] if early < 0.01 else [f"{name}: {early:.1%} early"]
                remarks += [] if all(r["kept up"] for r in some) else [f"{name}: fell behind"]
                x, y = curve(some)
                ours = name.startswith("cogwheel")
                drawn[name], = axis.plot(x, y, color=colour, linewidth=2.6 if ours else 1.4, zorder=3 if ours else 2,
                                         linestyle=":" if name.startswith("floor") else "-")
            axis.set(xscale="log", yscale="log", xlim=(0.03, 3e4), ylim=(SMALLEST, 1.1), title=f"{rate:,} tasks a second, {title}")
            axis.minorticks_off()
            axis.text(0.01, 0.02, "\n".join(remarks), transform=axis.transAxes, fontsize=7.5)
        line[0].set_ylabel("share of tasks that start later")
    for axis in axes[-1]:
        axis.set_xlabel("late by, ms")
    names = [name for name in COLOURS if name in drawn]
    legend = figure.legend([drawn[name] for name in names], names, loc="upper center", ncols=len(names), fontsize=9)
    for text, name in zip(legend.get_texts(), names):
        if name.startswith("cogwheel"):
            text.set(color=COLOURS[name], weight="bold")
    figure.tight_layout(rect=(0, 0, 1, 0.96))
    svg.save(figure, output)
    print(output)


if __name__ == "__main__":
    main()
