# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""The tables of the benchmark of durable tasks. Figures are medians of the rounds; ratios are those of one round, of which
the median is taken."""

import json
import re
import statistics

QUIET = 0.2  # processors that are busy for others


def text(figures):
    """JSON with a row a line."""
    head = {k: v for k, v in figures.items() if k != "rows"}
    rows = ",\n  ".join(json.dumps(r) for r in figures["rows"])
    return json.dumps(head, indent=1)[:-2] + ',\n "rows": [\n  ' + rows + "\n ]\n}\n"


def line(row):
    """One leg, when it has ended."""
    name = f"{row['part']:8}{row['contender']:38}"
    if "error" in row:
        return f"{name} failed: {row['error']}"
    parts = [name]
    if "rate" in row:
        parts.append(f"{row['rate']:5}/s")
        if "late us" in row:
            late = row["late us"]
            parts.append(f"p50 {late['p50'] / 1e3:.2f} p99 {late['p99'] / 1e3:.2f} max {late['max'] / 1e3:.1f} ms")
            parts.append(f"early {late['early']}")
        parts.append(f"Redis {row['redis us a task']:.1f} us a task")
    if "cycle us" in row:
        parts.append(f"add {row['add us']:.1f} + run {row['run us']:.1f} = {row['cycle us']:.1f} us")
        slowest = row["server"]["slowest"]
        parts.append(f"slowest call {slowest[0]['us'] / 1e3:.1f} ms" if slowest else "no call over 1 ms")
    if "bytes a task" in row:
        parts.append(f"{row['bytes a task']:.0f} bytes a task")
    if row.get("kept up") is False:
        parts.append(f"FELL BEHIND: {row['worker']['handled']} of {row['tasks']}")
    if "foreign load" in row:
        parts.append(f"(foreign load {row['foreign load']:.2f})")
    return "  ".join(parts)


def median(rows, value):
    values = [v for v in map(value, rows) if v is not None]
    return statistics.median(values) if values else None


def number(value, digits=2, scale=1.0):
    return "-" if value is None else f"{value / scale:.{digits}f}"


def grouped(rows, part, key):
    """{key: {contender: rows}} of a part, in the order of the run."""
    groups = {}
    for row in rows:
        if row["part"] == part and "error" not in row:
            groups.setdefault(row[key], {}).setdefault(row["contender"], []).append(row)
    return groups


def paired(rows, base, value):
    """The median over rounds of base / rows: how many times less these rows take."""
    of = {r["round"]: value(r) for r in base}
    ratios = [of[r["round"]] / value(r) for r in rows if of.get(r["round"]) and value(r)]
    return statistics.median(ratios) if ratios else None


def late(q):
    return lambda row: row.get("late us", {}).get(q)


def show_lateness(rows, part, title):
    print(f"\n{title}\nlateness in ms; Redis' main thread and the worker's processor time in us a task; the last two columns: how "
          "many times better than BullMQ (p50, Redis)")
    print(f"{'rate':>5} {'contender':24} {'p50':>9} {'p99':>9} {'p99.9':>9} {'max':>9} {'early':>6} {'Redis':>7} {'worker':>7} "
          f"{'p50 x':>7} {'Redis x':>7}")
    for rate, by_name in grouped(rows, part, "rate").items():
        base = by_name.get("BullMQ", [])
        for name, some in by_name.items():
            cells = [number(median(some, late(q)), 2, 1e3) for q in ("p50", "p99", "p999", "max")]
            early = sum(late("early")(r) or 0 for r in some)
            redis, worker = (lambda r: r["redis us a task"]), (lambda r: r["worker us a task"])
            ratios = [number(paired(some, base, v), 1) for v in (late("p50"), redis)]
            mark = "" if all(r["kept up"] for r in some) else "  FELL BEHIND"
            print(f"{rate:5} {name:24} " + " ".join(f"{c:>9}" for c in cells) + f" {early:6} {median(some, redis):7.1f} "
                  f"{median(some, worker):7.1f} {ratios[0]:>7} {ratios[1]:>7}{mark}")


def show_cycles(rows):
    print("\nRedis' main thread, us a task from its add to its acknowledgement; the last column: how many times less than BullMQ")
    print(f"{'chunk':>5} {'contender':38} {'add':>7} {'run':>7} {'sum':>7} {'worker':>7} {'>1 ms':>6} {'slowest ms':>10} {'x':>6}")
    bases = grouped(rows, "cycle", "chunk")
    for part in ("cycle", "million"):
        for chunk, by_name in grouped(rows, part, "chunk").items():
            for name, some in by_name.items():
                callers = re.search(r", \d\d+ callers", name)
                base = bases.get(chunk, {}).get("BullMQ" + (callers[0] if callers else ""), [])
                cells = [median(some, lambda r, k=k: r[k]) for k in ("add us", "run us", "cycle us", "worker us a task")]
                slow = median(some, lambda r: r["server"]["slower than 1 ms"])
                worst = min((r["server"]["slowest"] or [{"us": 1000}])[0]["us"] for r in some)
                ratio = paired(some, base, lambda r: r["cycle us"])
                mark = "" if all(r["kept up"] for r in some) else "  FELL BEHIND"
                print(f"{chunk:5} {name:38} " + " ".join(f"{c:7.1f}" for c in cells) +
                      f" {slow:6.0f} {worst / 1e3:10.1f} {number(ratio, 1):>6}{mark}")
    print("slowest: of the round in which it was least, because a call's time includes interruptions by other programs")


def show_memory(rows):
    print("\nbytes of Redis for a task that waits, with 200 bytes of body")
    for (part, key) in (("memory", "bytes a task"), ("million", "bytes a pending task")):
        for tasks, by_name in grouped(rows, part, "tasks").items():
            for name, some in by_name.items():
                print(f"{some[0].get('pending') or tasks:8} {name:38} {median(some, lambda r, k=key: r[k]):7.0f}")


def show(figures):
    rows = figures["rows"]
    for name, why in figures["missing"].items():
        print(f"{name}: {why}")
    show_lateness(rows, "far", "Delays of 1 to 5 s")
    show_lateness(rows, "near", "Delays of 50 to 300 ms")
    show_cycles(rows)
    show_memory(rows)
    failed = [r for r in rows if "error" in r]
    for row in failed:
        print(f"{row['part']}: {row['contender']}: {row['error']}")
    foreign = sorted(r["foreign load"] for r in rows if "foreign load" in r)
    if foreign:
        middle, worst = statistics.median(foreign), foreign[-1]
        quiet = "quiet" if worst < QUIET else "not quiet"
        print(f"\nprocessors busy for other programs: {middle:.2f} (median of the legs), {worst:.2f} (highest): {quiet}")
    print("load before and after:", *(" ".join(f"{v:.2f}" for v in figures[k]) for k in ("load before", "load after")))
    print("versions:", ", ".join(f"{k} {v}" for k, v in figures["versions"].items()), "on", figures["machine"])
