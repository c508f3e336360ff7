#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""plot.py FILE.json [OUTPUT=docs/bench/durable-lateness.svg]: draws how late durable tasks start, as run.py has measured it: for
each rate, the share of tasks that start later than a time. Needs matplotlib (Debian: python3-matplotlib). The same figures
give the same bytes."""

import json
import pathlib
import statistics
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("plot.py: matplotlib is missing: apt-get install python3-matplotlib")

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "cogwheel", "svg.fonttype": "none", "font.size": 8, "axes.grid": True,
                            "grid.alpha": 0.3, "legend.frameon": False})
from matplotlib import pyplot  # noqa: E402  (after the backend is chosen)

COLOURS = {"floor: timer + PING": "grey", "cogwheel, tick 100 us": "C0", "cogwheel, tick 1 ms": "tab:cyan", "BullMQ": "C3",
           "Sidekiq": "C1", "Celery": "C2", "RQ": "C4"}
SMALLEST = 1e-4  # the smallest share that is drawn


def curve(rows):
    """Of each quantile, the median over the rounds."""
    points = []
    for places in zip(*(r["late us"]["curve"] for r in rows)):
        points.append((statistics.median(us for _, us in places) / 1e3, max(1 - places[0][0], SMALLEST)))
    return zip(*points)


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    figures = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    output = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else root / "docs/bench/durable-lateness.svg"
    rows = [r for r in figures["rows"] if "late us" in r]
    rates = sorted({r["rate"] for r in rows})
    figure, axes = pyplot.subplots(2, len(rates), figsize=(11, 6.5), sharex=True, sharey=True, squeeze=False)
    for line, (part, title) in zip(axes, (("far", "delays 1-5 s"), ("near", "delays 50-300 ms"))):
        for axis, rate in zip(line, rates):
            for name, colour in COLOURS.items():
                some = [r for r in rows if (r["part"], r["contender"], r["rate"]) == (part, name, rate)]
                if not some:
                    continue
                early = sum(r["late us"]["early"] for r in some) / sum(r["worker"]["handled"] for r in some)
                words = [] if early < 0.01 else [f"{early:.1%} early"]
                words += [] if all(r["kept up"] for r in some) else ["fell behind"]
                x, y = curve(some)
                axis.plot(x, y, color=colour, linewidth=2 if name.startswith("cogwheel") else 1,
                          label=name + (f" ({', '.join(words)})" if words else ""))
            axis.set(xscale="log", yscale="log", xlim=(0.03, 3e4), ylim=(SMALLEST, 1.1), title=f"{rate:,} tasks a second, {title}")
            axis.minorticks_off()
            axis.legend(loc="lower left", fontsize=6)
        line[0].set_ylabel("share of tasks that start later")
    for axis in axes[-1]:
        axis.set_xlabel("late by, ms")
    figure.tight_layout()
    figure.savefig(output, metadata={"Date": None})
    print(output)


if __name__ == "__main__":
    main()
