#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""page_test.py WATCHED_PROGRAM: the page of debug_page in a real browser. What it shows is what stats() returns.

page_test.py --screenshots DIRECTORY WHEEL_MONITOR: makes the pictures of docs/observe.
"""

import json
import os
import re
import signal
import subprocess
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from support.browser import Browser, missing

failed = 0


def check(name, holds, detail=""):
    global failed
    failed += not holds
    print(f"{'ok  ' if holds else 'FAIL'} {name}{f': {detail}' if detail and not holds else ''}", flush=True)


class Program:
    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        address = re.fullmatch(r"listening on (.*)\n", self.process.stdout.readline())
        self.url = f"http://{address[1]}/"

    def stats(self):
        return json.loads(self.process.stdout.readline())

    def work(self):
        self.process.stdin.write("work\n")
        self.process.stdin.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        check("the program ends with 0", self.process.returncode == 0, self.process.returncode)
        self.process.stdout.close()


def duration(ns):
    """As the page writes it."""
    name, unit = [(n, u) for n, u in (("ns", 1), ("us", 1e3), ("ms", 1e6), ("s", 1e9)) if ns >= u or u == 1][-1]
    v = ns / unit
    return f"{v:.0f} {name}" if v >= 100 or v == int(v) else f"{v:.1f} {name}" if v >= 10 else f"{v:.2f} {name}"


def expected(name, value):
    return duration(value) if name.startswith("late_") else f"{value:,}"


SHOWN = "const e = document.getElementById(arguments[0]); return e === null ? 'no element' : e.textContent"
ALL_SHOWN = "return Object.entries(arguments[0]).every(([name, text]) => document.getElementById(name)?.textContent === text)"


def agrees(browser, when, stats):
    """The page is at most a quarter of a second behind."""
    wanted = {name: expected(name, value) for name, value in stats.items() if name != "longest_turn"}
    browser.eventually(ALL_SHOWN, wanted)
    for name, text in wanted.items():
        shown = browser.run(SHOWN, name)
        check(f"{when}: {name}", shown == text, f"{shown!r}, not {text!r}")
    longest = browser.run("return document.querySelector('#longest td').textContent")
    check(f"{when}: the longest turn", longest == duration(stats["longest_turn"]), f"{longest!r}")


# What the page makes of what it has received: a sample of 60 s ago, what has changed since, and the words that follow.
NEVER = [0] * 21
AT_80_MS = [0] * 10 + [4] + [0] * 10  # the bucket up to 102.4 ms
SAMPLE = {"name": "w", "pending": 5, "scheduled": 100, "fired": 50, "cancelled": 0, "rejected": 0, "turns": 50, "exhausted_turns": 0,
          "due": 0, "lateness": NEVER, "turn_times": NEVER, "longest": [], "levels": []}
TURN = {"took": 80e6, "fired": 3, "ago": 5e9}
HANDLERS = ([{"what": "culprit", "total": 1e6, "longest": 1e6, "calls": 1}, {"what": "old", "total": 5e9, "longest": 5e9, "calls": 1}],
            [{"what": "old", "total": 5e9, "longest": 5e9, "calls": 1}, {"what": "culprit", "total": 90e6, "longest": 80e6, "calls": 2}])
VERDICTS = [
    ({}, {}, "", "No timer has fired in the last minute."),
    ({}, {"pending": 0}, "", "No timer is pending."),
    ({}, {"rejected": 1}, "bad", "The wheel refuses timers"),
    ({"due": 7}, {"due": 7}, "bad", "none fires: the loop of this wheel stands still"),
    ({}, {"fired": 60, "exhausted_turns": 9, "due": 2000}, "bad", "More timers are due than the loop can fire: 2,000 wait."),
    ({}, {"fired": 60, "lateness": [10] + [0] * 20}, "", "Timers fire in time: in the last minute, 99 of 100 within 100 us of their tick."),
    ({}, {"fired": 60, "lateness": AT_80_MS}, "bad", "1 of 100 by more than 51.2 ms. Turns are short: another handler"),
    ({}, {"fired": 60, "lateness": AT_80_MS, "turn_times": AT_80_MS, "longest": [TURN]}, "bad",
     "A turn took 80 ms for 3 timers: a handler blocks the loop."),
    ({}, {"fired": 60, "lateness": AT_80_MS, "turn_times": AT_80_MS, "longest": [{**TURN, "fired": 900}]}, "bad",
     "A turn took 80 ms for 900 timers: a burst."),
    ({}, {"fired": 60, "lateness": AT_80_MS, "turn_times": AT_80_MS, "longest": [{**TURN, "ago": 9e11}]}, "bad",
     "A turn took more than 51.2 ms: a handler blocks the loop, or a burst came."),
    ({"handlers": HANDLERS[0]}, {"fired": 60, "lateness": AT_80_MS, "turn_times": AT_80_MS, "longest": [TURN], "handlers": HANDLERS[1]},
     "bad", "a handler blocks the loop: culprit."),
    ({"fired": 60}, {"fired": 4, "scheduled": 101}, "", "Measuring."),  # another program
]


def verdicts(browser):
    """The stream stands still meanwhile: the events come from here."""
    browser.run("receive = () => {}")
    for before, after, kind, words in VERDICTS:
        first, last = {**SAMPLE, **before}, {**SAMPLE, **after}
        said = browser.run("""samples.clear(); const [first, last] = arguments;
            for (let second = 0; second < 60; ++second) remember(1e9 * second, second < 1 ? first : {...first, due: last.due});
            remember(60e9, last);
            return judge(latest.get("w"), samples.get("w"));""", first, last)
        check(f"the page says: {words}", said[0] == kind and words in said[1], said)


def page(program):
    with Program(program) as watched, Browser() as browser:
        stats = watched.stats()
        browser.appearance(1280, 900)
        browser.open(watched.url)
        agrees(browser, "first", stats)
        check("the ring has sectors, and the hand stands on the slot of the present",
              browser.run("return document.getElementById('bars').getAttribute('d').length > 100 && "
                          "/rotate/.test(document.getElementById('hand').style.transform)"))
        check("the histogram has a column for each bucket", browser.run("return document.querySelectorAll('#lateness > div').length") == 21)
        check("the handler that blocks is named", "block_the_loop" in browser.run("return document.getElementById('handlers').textContent"))
        check("the connection is live", browser.run(SHOWN, "state") == "live")

        watched.work()
        after = watched.stats()
        check("the wheel has worked again", after["fired"] > stats["fired"] and after["pending"] > stats["pending"])
        agrees(browser, "after more work", after)

        names = browser.run("return [...document.querySelectorAll('#names button')].map((b) => b.textContent)")
        check("each wheel has a button", names == ["watched", "empty"], names)
        browser.run("document.querySelectorAll('#names button')[1].click()")
        check("a click shows the other wheel", browser.run(SHOWN, "pending") == "0" and browser.run(SHOWN, "scheduled") == "0")
        browser.run("document.querySelectorAll('#names button')[0].click()")
        check("and the first one again", browser.run(SHOWN, "pending") == f"{after['pending']:,}")

        for width in (400, 800, 1280):
            browser.appearance(width, 900)
            wide = browser.run("return document.documentElement.scrollWidth")
            check(f"nothing is wider than {width} px", wide <= width, wide)
        background = "return getComputedStyle(document.body).backgroundColor"
        light = browser.run(background)
        browser.appearance(1280, 900, dark=True)
        check("it has a dark form", browser.run(background) != light)
        check("the browser has no complaint", browser.complaints() == [], browser.complaints())
        watched.process.send_signal(signal.SIGSTOP)
        check("a loop that stands still is said", browser.eventually("return document.getElementById('verdict').textContent.startsWith('No update for ')"))
        check("also above", browser.run("return document.getElementById('state').className") == "lost")
        watched.process.send_signal(signal.SIGCONT)
        check("and when it goes on", browser.eventually("return document.getElementById('state').className === 'live'"))
        verdicts(browser)
        watched.process.stdin.close()
        check("the end of the program is shown", browser.eventually("return document.getElementById('state').className === 'lost'"))


def screenshots(directory, wheel_monitor):
    process = subprocess.Popen([wheel_monitor, "--block", "80ms", "--seconds", "120"], stdout=subprocess.PIPE, text=True)
    url = "http://" + re.fullmatch(r"listening on (.*)\n", process.stdout.readline())[1] + "/"
    with Browser() as browser:
        browser.appearance(1280, 900)
        browser.open(url)
        browser.eventually("return performance.now() > 62000", patience=100)  # the last minute is full
        for name, width, height, dark in (("light", 1280, 900, False), ("dark", 1280, 900, True), ("phone", 400, 800, False)):
            browser.appearance(width, height, dark)
            browser.screenshot(os.path.join(directory, f"page-{name}.png"))
    process.terminate()
    process.wait(20)


def main():
    if sys.argv[1] == "--screenshots":
        return screenshots(*sys.argv[2:])
    if lacking := missing():
        print(f"skipped: not installed: {' '.join(lacking)}")
        return 0
    page(sys.argv[1])
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
