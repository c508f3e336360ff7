#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""rules_test.py METRIC_LIST [--write]: checks docs/observe.md, and the rules and the dashboard in docs/observe/.

METRIC_LIST is the program that prints all metrics. --write writes their table into docs/observe.md before the checks.
The exit code is 1 if a check fails. promtool is used if it is installed.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PAGE, ALERTS, TESTS = DOCS / "observe.md", DOCS / "observe/alerts.yml", DOCS / "observe/alerts_test.yml"
DASHBOARD = DOCS / "observe/dashboard.json"
BEGIN, END = "<!-- metrics -->", "<!-- /metrics -->"
TARGET_LABELS = {"job", "instance"}  # Prometheus adds them to each series
SEVERITIES = {"page", "ticket"}

failures = []


def fail(where, what):
    failures.append(f"{where}: {what}")


# ---- the metrics ----------------------------------------------------------------------------------------------------


def metric_rows(program):
    """Returns the lines of METRIC_LIST as lists of four fields."""
    text = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    rows = [line.split("\t") for line in text.splitlines()]
    if not rows or any(len(row) != 4 for row in rows):
        sys.exit(f"rules_test: {program} does not print lines of four fields")
    return rows


def series_labels(rows):
    """Returns the labels of each series: a histogram has three."""
    series = {}
    for name, kind, labels, _ in rows:
        own = set(labels.split(",")) | TARGET_LABELS
        if kind == "histogram":
            series.update({name + "_bucket": own | {"le"}, name + "_sum": own, name + "_count": own})
        else:
            series[name] = own
    return series


# ---- queries --------------------------------------------------------------------------------------------------------


def check_query(where, query, series):
    """Checks the names of series and labels in a query. Returns the labels of all its series, and those it removes."""
    labels = set()
    for name, matchers in re.findall(r"\b(cogwheel_\w+)(?:\s*\{([^}]*)\})?", query):
        if name not in series:
            fail(where, f"there is no series {name}")
            continue
        labels |= series[name]
        for label in re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", re.sub(r'"[^"]*"', '""', matchers)):
            if label not in series[name]:
                fail(where, f"{name} has no label {label}")
    if not labels:
        fail(where, "the query uses no series of Cogwheel")
    clauses = re.findall(r"\b(by|without|on|ignoring)\s*\(([^)]*)\)", query)
    for _, names in clauses:
        for label in re.findall(r"\w+", names):
            if label not in labels:
                fail(where, f"no series of the query has the label {label}")
    kept = [set(re.findall(r"\w+", names)) for word, names in clauses if word == "by"]
    gone = {label for word, names in clauses if word in ("without", "ignoring") for label in re.findall(r"\w+", names)}
    left = set.union(*kept) if kept else labels - gone
    if "histogram_quantile" in query:
        left = left - {"le"}
    return left


# ---- the alerting rules ---------------------------------------------------------------------------------------------


def read_alerts():
    """Returns each alert as a dictionary. Reads what alerts.yml uses of YAML: pairs, quoted texts, | and >- blocks."""
    alerts, block = [], None
    for line in ALERTS.read_text().splitlines():
        indent, text = len(line) - len(line.lstrip()), line.strip()
        if block and (not text or indent > block[1]):
            alerts[-1][block[0]] = (alerts[-1][block[0]] + " " + text).strip()
            continue
        block = None
        if text.startswith("#") or not text:
            continue
        if text.startswith("- alert:"):
            alerts.append({})
            text = text[2:]
        key, _, value = text.partition(":")
        if alerts:
            value = value.strip()
            if value in ("|", ">-"):
                block, value = (key, indent), ""
            alerts[-1][key] = value.strip('"')
    return alerts


def anchors(page):
    """Returns the anchors of the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ +(.+)$", page, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", h.strip().lower()).replace(" ", "-") for h in headings}


def check_alerts(alerts, series, page):
    tested = TESTS.read_text()
    known = anchors(page)
    sections = set()
    if not alerts:
        fail("alerts.yml", "there is no alert")
    for alert in alerts:
        where = f"alerts.yml, {alert.get('alert')}"
        for key in ("alert", "expr", "for", "severity", "summary", "description", "runbook"):
            if not alert.get(key):
                fail(where, f"{key} is missing")
        if alert.get("severity") not in SEVERITIES:
            fail(where, f"severity is not one of {sorted(SEVERITIES)}")
        left = check_query(where, alert.get("expr", ""), series)
        for label in re.findall(r"\$labels\.(\w+)", alert.get("summary", "") + alert.get("description", "")):
            if label not in left:
                fail(where, f"the result has no label {label}")
        runbook = re.fullmatch(r"docs/observe\.md#([a-z-]+)", alert.get("runbook", ""))
        if not runbook:
            fail(where, "runbook is not docs/observe.md#SECTION")
        elif runbook[1] not in known:
            fail(where, f"docs/observe.md has no section {runbook[1]}")
        elif runbook[1] in sections:
            fail(where, f"another alert has the section {runbook[1]}")
        else:
            sections.add(runbook[1])
        if f'alertname="{alert.get("alert")}"' not in tested:
            fail(where, "alerts_test.yml does not test it")


def as_rules(queries):
    """Returns a file of rules with these queries, so that promtool parses them."""
    rules = [{"record": f"query_{i}", "expr": q.replace("$__rate_interval", "5m")} for i, q in enumerate(queries)]
    return json.dumps({"groups": [{"name": "dashboard", "rules": rules}]})  # JSON is YAML


def run_promtool(queries):
    promtool = shutil.which("promtool")
    if not promtool:
        print("skipped: promtool is not installed")
        return
    with tempfile.TemporaryDirectory() as directory:
        dashboard = pathlib.Path(directory) / "dashboard.yml"
        dashboard.write_text(as_rules(queries))
        for action, file in (("check", ALERTS), ("test", TESTS), ("check", dashboard)):
            done = subprocess.run([promtool, action, "rules", str(file)], capture_output=True, text=True)
            if done.returncode != 0:
                fail(f"promtool {action} rules {file.name}", (done.stdout + done.stderr).strip())


# ---- the dashboard --------------------------------------------------------------------------------------------------


def check_dashboard(series):
    """Returns the queries of all panels."""
    board = json.loads(DASHBOARD.read_text())
    panels = [p for p in board["panels"] if p["type"] != "row"]
    ids = [p["id"] for p in board["panels"]]
    if len(set(ids)) != len(ids):
        fail("dashboard.json", "two panels have the same id")
    variables = {v["name"] for v in board["templating"]["list"]}
    queries = []
    for panel in panels:
        where = f"dashboard.json, {panel['title']}"
        if not panel["fieldConfig"]["defaults"].get("unit") and panel["type"] != "heatmap":
            fail(where, "there is no unit")
        if not panel["targets"]:
            fail(where, "there is no query")
        for target in panel["targets"]:
            queries.append(target["expr"])
            left = check_query(where, target["expr"], series)
            for label in re.findall(r"\{\{\s*(\w+)\s*\}\}", target["legendFormat"]):
                if label not in left:
                    fail(where, f"the result has no label {label}")
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            where = f"dashboard.json, variable {variable['name']}"
            query = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"])
            if not query:
                fail(where, "the query is not label_values(SERIES, LABEL)")
            elif query[2] not in check_query(where, query[1], series):
                fail(where, f"the series has no label {query[2]}")
    for name in re.findall(r"\$\{?(\w+)", json.dumps(board)):
        if name not in variables and not name.startswith("__"):
            fail("dashboard.json", f"there is no variable {name}")
    return queries


def check_all_shown(rows, queries):
    """Checks that each metric that Cogwheel defines has a place on the dashboard."""
    shown = "\n".join(queries)
    for name, kind, _, _ in rows:
        suffix = "_bucket" if kind == "histogram" else ""
        if not re.search(rf"\b{name}{suffix}\b", shown):
            fail("dashboard.json", f"no panel shows {name}")


# ---- the table ------------------------------------------------------------------------------------------------------


def metric_table(rows):
    lines = ["| name | type | labels | meaning |", "|---|---|---|---|"]
    for name, kind, labels, help_text in rows:
        own = ", ".join(f"`{label}`" for label in labels.split(","))
        lines.append(f"| `{name}` | {kind} | {own} | {help_text.replace('|', chr(92) + '|')} |")
    return "\n".join(lines)


def check_table(rows, write):
    """Compares the table in docs/observe.md with the metrics, or writes it. Returns the page."""
    page = PAGE.read_text()
    if page.count(BEGIN) != 1 or page.count(END) != 1 or page.index(BEGIN) > page.index(END):
        sys.exit(f"rules_test: docs/observe.md needs one line {BEGIN}, and one line {END} after it")
    head, rest = page.split(BEGIN)
    old, tail = rest.split(END)
    new = f"\n{metric_table(rows)}\n"
    if write and old != new:
        page = head + BEGIN + new + END + tail
        PAGE.write_text(page)
    elif old != new:
        fail("docs/observe.md", "the table of metrics is out of date: run tests/observe/rules_test.py METRIC_LIST --write")
    return page


def main():
    arguments = [a for a in sys.argv[1:] if a != "--write"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    rows = metric_rows(arguments[0])
    series = series_labels(rows)
    page = check_table(rows, "--write" in sys.argv)
    for name in re.findall(r"\bcogwheel_\w+\b(?!\.\.\.)", page):
        if name not in series and name not in {row[0] for row in rows}:
            fail("docs/observe.md", f"there is no metric {name}")
    alerts = read_alerts()
    check_alerts(alerts, series, page)
    queries = check_dashboard(series)
    check_all_shown(rows, queries)
    run_promtool(queries)
    for failure in failures:
        print(failure)
    if failures:
        return 1
    print(f"{len(rows)} metrics, {len(alerts)} alerts: the rules, the dashboard and the table agree")
    return 0


if __name__ == "__main__":
    sys.exit(main())
