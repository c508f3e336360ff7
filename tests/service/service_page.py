#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""service_page.py COGWHEELD: the live page of the service in a real browser: a task is scheduled, seen and cancelled from it.

--screenshots DIRECTORY: also makes the pictures of docs/service.md.
"""

import argparse
import os
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from service_process import Receiver, Service, check, conclude, eventually
from support.browser import Browser, missing

FILL = """for (const [id, value] of Object.entries(arguments[0])) {
    const e = document.getElementById(id);
    e.value = value;
    e.dispatchEvent(new Event('change', { bubbles: true }));
}
document.getElementById('f-send').click(); return true"""
ROW = "return [...document.querySelectorAll('#tasks tr')].find(r => r.dataset.id === arguments[0])?.innerText"
PRESS = """const row = [...document.querySelectorAll('#tasks tr')].find(r => r.dataset.id === arguments[0]);
const button = [...(row?.querySelectorAll('button') || [])].find(b => b.textContent === arguments[1] && !b.disabled);
button?.click(); return button !== undefined"""
HAS = "return document.getElementById(arguments[0]).innerText.includes(arguments[1])"
LIVE = "return document.getElementById('state').className === 'live'"


def walk(browser, service, receiver):
    def schedule(**fields):
        browser.run(FILL, {"f-url": receiver.url + "/hook", **{f"f-{name}": value for name, value in fields.items()}})

    def row_says(task, word):
        return browser.eventually(f"return (() => {{ {ROW} }})()?.includes(arguments[1])", task, word)

    browser.open(service.url + "/")
    check("the page is live", browser.eventually(LIVE))
    check("the queue is well", browser.eventually(HAS, "verdict", "All is well."))

    schedule(id="from-page", when="1h", body='{"order": 17}')
    check("scheduled: the page says so", browser.eventually(HAS, "answer", "from-page is due"))
    check("scheduled: the page lists it", row_says("from-page", "waiting"))
    task = service.ask("GET", "/v1/tasks/from-page").json
    check("scheduled: the service has it", task.get("url") == receiver.url + "/hook" and task.get("body") == '{"order":17}', repr(task))
    check("scheduled: counted", browser.eventually("return document.getElementById('waiting').textContent === '1'"))
    check("an event tells of it", browser.eventually(HAS, "events", "scheduled"))

    check("paused", browser.run(PRESS, "from-page", "Pause") and row_says("from-page", "paused"))
    check("paused: the service says so", service.ask("GET", "/v1/tasks/from-page").json.get("paused") is True)
    check("resumed", browser.run(PRESS, "from-page", "Resume") and row_says("from-page", "waiting"))
    check("cancelled", browser.run(PRESS, "from-page", "Cancel") and browser.eventually(f"return !(() => {{ {ROW} }})()", "from-page"))
    check("cancelled: the service has it no more", service.ask("GET", "/v1/tasks/from-page").status == 404)

    schedule(id="twice", when="1h")
    row_says("twice", "waiting")
    check("run", browser.run(PRESS, "twice", "Run") and eventually(lambda: len(receiver.of("twice")) == 1, service))
    check("run: an event tells that it is done", browser.eventually(HAS, "events", "done"))

    schedule(id="wrong", url="gopher://a/", when="1h")
    check("a bad URL: says what to do", browser.eventually(HAS, "answer", "http"))
    check("a bad URL: marks the field", browser.run("return document.getElementById('f-url').getAttribute('aria-invalid') === 'true'"))
    schedule(id="wrong", when="soon")
    check("a bad delay: marks the field", browser.eventually("return document.getElementById('f-when').getAttribute('aria-invalid') === 'true'"))

    schedule(id="refused", url=receiver.url + "/410", when="0s")
    check("what fails, and why", browser.eventually(HAS, "failures", "410"))
    check("the queue says that a task is dead", browser.eventually(HAS, "verdict", "1 task is dead"))
    browser.run("const e = document.getElementById('list-state'); e.value = 'dead'; e.dispatchEvent(new Event('change')); return true")
    check("the dead are listed", row_says("refused", "dead"))
    check("removed", browser.run(PRESS, "refused", "Remove") and browser.eventually(f"return !(() => {{ {ROW} }})()", "refused"))
    browser.run("const e = document.getElementById('list-state'); e.value = ''; e.dispatchEvent(new Event('change')); return true")

    evil = "<img src=x onerror=\"document.title='taken'\">"
    service.schedule(id=evil, delay="1h", url=receiver.url + "/" + "x" * 200, body="<script>document.title='taken'</script>")
    browser.run("document.getElementById('list-again').click(); return true")
    check("an id that is HTML: shown as text", row_says(evil, "onerror"))
    check("an id that is HTML: does nothing", browser.run("return document.title") == "cogwheeld" and not browser.run("return document.querySelector('#tasks img')"))
    check("its buttons name it", browser.run(PRESS, evil, "Cancel") and eventually(lambda: service.ask("GET", "/v1/queue").json["waiting"] == 0, service))

    browser.run("document.getElementById('pause-queue').click(); return true")
    check("the queue is paused", browser.eventually(HAS, "verdict", "paused") and service.ask("GET", "/v1/queue").json["paused"])
    browser.run("document.getElementById('pause-queue').click(); return true")
    check("the queue is resumed", browser.eventually(HAS, "verdict", "All is well."))
    # A request that is refused is a line of the browser in the console.
    complaints = [c for c in browser.complaints() if "the server responded with a status of" not in c]
    check("the browser has nothing to complain about", not complaints, repr(complaints))


def fits(browser, width):
    browser.appearance(width, 900)
    check(f"{width} pixels: nothing is beyond the edge", browser.eventually("return document.documentElement.scrollWidth <= window.innerWidth"),
          browser.run("return document.documentElement.scrollWidth + ' in ' + window.innerWidth"))


def pictures(browser, service, receiver, directory):
    os.makedirs(directory, exist_ok=True)
    browser.open(service.url + "/")
    browser.eventually(LIVE)
    tasks = [{"id": f"order-{2000 + i}", "delay": f"{i * 20}ms", "url": receiver.url + ("/200" if i % 40 else "/503"), "max_attempts": 2} for i in range(1000)]
    service.ask("POST", "/v1/tasks:bulk", {"tasks": tasks})
    service.schedule(id="report", cron="0 7 * * MON-FRI", zone="Europe/Berlin", url="https://shop.example/report")
    service.schedule(id="order-1999", delay="30m", url="https://shop.example/orders/1999/expired", body={"order": 1999})
    service.ask("POST", "/v1/tasks/order-1999:pause")
    browser.eventually(HAS, "failures", "503")
    browser.eventually("return (document.getElementById('spark-done').getAttribute('d') || '').length > 130")
    browser.run("document.getElementById('list-again').click(); return true")
    for name, width, height, dark in (("light", 1200, 1250, False), ("dark", 1200, 1250, True), ("narrow", 400, 1250, False)):
        browser.appearance(width, height, dark)
        browser.screenshot(os.path.join(directory, f"page-{name}.png"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--screenshots", metavar="DIRECTORY")
    wanted = parser.parse_args()
    if missing():
        print("skipped: not installed:", ", ".join(missing()))
        return 0
    binary = os.path.abspath(wanted.binary)
    with tempfile.TemporaryDirectory() as directory, Receiver() as receiver, Browser() as browser:
        config = os.path.join(directory, "config.toml")
        with open(config, "w", encoding="utf-8") as out:
            out.write('[tasks]\nretention = "0s"\n[limits]\nrate = 0\n')
        with Service(binary, "--data", os.path.join(directory, "data"), "--config", config) as service:
            service.ready()
            walk(browser, service, receiver)
            for width in (400, 800, 1400):
                fits(browser, width)
            if wanted.screenshots:
                pictures(browser, service, receiver, wanted.screenshots)
            code, _, err = service.end()
            check("the service ends in good order, although the page looks", code == 0, f"{code} {err[-500:]}")
        check("the page says that the service is gone", browser.eventually("return document.getElementById('state').className === 'lost'"))
        tokens = os.path.join(directory, "tokens")
        with open(tokens, "w", encoding="ascii") as out:
            out.write("0123456789abcdef\n")
        with Service(binary, "--data", os.path.join(directory, "data"), "--token-file", tokens) as service:
            browser.open(service.url + "/")
            check("a token is asked for", browser.eventually("return !document.getElementById('login').hidden && document.getElementById('main').hidden"))
            browser.run("document.getElementById('token').value = '0123456789abcdef'; document.querySelector('#login-form button').click(); return true")
            check("with it, the page is live", browser.eventually(LIVE))
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
