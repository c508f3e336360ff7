#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""service_api.py COGWHEELD [OPENAPI]: each function of the interface, on the journal and on a real Redis.

With python3-jsonschema, each answer is checked against the OpenAPI file. "skipped: " names what is not installed.
"""

import datetime
import importlib.util
import email.utils
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.dont_write_bytecode = True  # the source tree stays as it is

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from service_process import PATIENCE, Events, Receiver, Service, check, conclude, eventually
import redis_process
from service_command_line import command_lines
from support.reserved_ports import reserved_ports


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class Contract:
    """Checks answers against the OpenAPI file, and knows which operations have been seen."""

    def __init__(self, file):
        with open(file, encoding="utf-8") as text:
            self.description = json.load(text)
        self.seen = set()
        self.wrong = []
        self.validator = None
        if importlib.util.find_spec("jsonschema"):
            import jsonschema
            self.validator = jsonschema.Draft202012Validator

    def operation(self, method, path):
        path = path.partition("?")[0]
        for pattern, operations in self.description["paths"].items():
            form = re.sub(r"\\\{[a-z]+\\\}", "[^/]+?", re.escape(pattern))
            if method.lower() in operations and re.fullmatch(form, path):
                # A literal path wins over one with an id.
                if "{" not in pattern or not any("{" not in p and p == path for p in self.description["paths"]):
                    return pattern, operations[method.lower()]
        return None, None

    def take(self, method, path, answer):
        method = "GET" if method == "HEAD" else method
        pattern, operation = self.operation(method, path)
        if not operation:
            if answer.status not in (404, 405):
                self.wrong.append(f"{method} {path} is not described")
            return
        self.seen.add((method.lower(), pattern))
        described = operation["responses"].get(str(answer.status)) or operation["responses"].get("default")
        if described is None:
            self.wrong.append(f"{method} {pattern}: {answer.status} is not described")
            return
        described = self.resolve(described)
        kind = (answer.headers.get("Content-Type") or "").partition(";")[0]
        if kind not in described.get("content", {}):
            self.wrong.append(f"{method} {pattern}: {answer.status} with {kind!r} is not described")
            return
        schema = described["content"][kind].get("schema")
        if not self.validator or not schema or "json" not in kind:
            return
        whole = {"$ref": "#/x", "x": schema, "components": self.description["components"]}
        for error in self.validator(whole).iter_errors(answer.json):
            self.wrong.append(f"{method} {pattern} {answer.status}: {error.message[:200]}")

    def resolve(self, node):
        while "$ref" in node:
            target = self.description
            for name in node["$ref"].removeprefix("#/").split("/"):
                target = target[name]
            node = target
        return node


def watched(service, contract):
    ask = service.ask

    def checked(method, path, *rest, **more):
        answer = ask(method, path, *rest, **more)
        contract.take(method, path, answer)
        return answer
    service.ask = checked
    return service


def walk(service, receiver, name):
    """What a caller does, from the first task to the last."""
    def is_done(task):
        return eventually(lambda: service.ask("GET", f"/v1/tasks/{task}").json.get("state") == "done", service)

    check(f"{name}: healthy", service.ask("GET", "/healthz").body == "ok\n")
    check(f"{name}: ready", service.ready())
    watcher = Events(service)

    before = time.time()
    a = service.schedule(id="order-17", delay="200ms", url=receiver.url + "/hook", body={"order": 17})
    check(f"{name}: scheduled", a.status == 201 and set(a.json) == {"id", "generation", "due"}, repr(a))
    due = moment(a.json["due"])
    check(f"{name}: due after the delay", 0.19 <= due - before <= PATIENCE, str(due - before))
    check(f"{name}: it is delivered", is_done("order-17"))
    calls = receiver.of("order-17")
    check(f"{name}: once, and not early", len(calls) == 1 and calls[0][0] >= due, f"{calls} {due}")
    _, method, path, headers, body = calls[0]
    check(f"{name}: as it was asked for", (method, path, body) == ("POST", "/hook", b'{"order":17}'), repr(calls))
    check(f"{name}: with its headers", headers.get("content-type") == "application/json" and headers.get("cogwheel-attempt") == "1")
    t = service.ask("GET", "/v1/tasks/order-17").json
    check(f"{name}: the result is kept", t["result"] == {"status": 200, "body": "taken"} and t["attempt"] == 1, repr(t))

    large = service.schedule(id="v1.2 large", url=receiver.url + "/large")
    check(f"{name}: what the receiver sees of an id is said", large.json.get("webhook_id") == "v1.2%20large", repr(large))
    check(f"{name}: a long answer is a success", eventually(lambda: service.ask("GET", "/v1/tasks/v1.2%20large").json["state"] == "done", service))
    t = service.ask("GET", "/v1/tasks/v1.2%20large").json
    check(f"{name}: its beginning is kept", t["result"] == {"status": 200, "body": "x" * 65_532} and t["webhook_id"] == "v1.2%20large", repr(t)[:300])
    check(f"{name}: once, with that id", len(receiver.of("v1.2%20large")) == 1)

    check(f"{name}: the same id again: 409", service.schedule(id="order-17", url=receiver.url).status == 409)
    kept = service.schedule(id="order-17", url=receiver.url, policy="keep")
    check(f"{name}: with keep: 200, the same task", kept.status == 200 and kept.json["generation"] == a.json["generation"], repr(kept))
    check(f"{name}: and it exists", kept.json.get("existed") is True, repr(kept))

    hourly = {"id": "hourly", "every": "1h", "url": receiver.url, "body": "v1", "policy": "replace"}
    first, same = service.schedule(**hourly), service.schedule(**hourly)
    check(f"{name}: a recurring task replaced by the same: 200, it stays", same.status == 200 and same.json == {**first.json, "existed": True}, repr((first, same)))
    newer = service.schedule(**{**hourly, "body": "v2"})
    check(f"{name}: with another body: 201, the same next run", newer.status == 201 and newer.json["due"] == first.json["due"] and newer.json["generation"] > first.json["generation"], repr(newer))
    check(f"{name}: it has the new body", service.ask("GET", "/v1/tasks/hourly").json["body"] == "v2")
    newer = service.schedule(**{**hourly, "every": "2h"})
    check(f"{name}: with another period: anew", newer.status == 201 and newer.json["due"] > first.json["due"], repr(newer))
    service.ask("DELETE", "/v1/tasks/hourly")

    far = service.schedule(id="far", due="2030-01-01T00:00:00+01:00", url=receiver.url, headers={"Authorization": "Bearer s3cret", "x-a": "b"})
    check(f"{name}: a date with an offset", far.json.get("due") == "2029-12-31T23:00:00.000Z", repr(far))
    shown = service.ask("GET", "/v1/tasks/far").json
    check(f"{name}: secrets are not shown", shown["headers"] == {"Authorization": "(hidden)", "x-a": "b"}, repr(shown))
    moved = service.ask("PATCH", "/v1/tasks/far", {"delay": "1h"})
    check(f"{name}: moved", moved.status == 200 and 3500 < moment(moved.json["due"]) - time.time() < 3700, repr(moved))
    ran = service.ask("POST", "/v1/tasks/far:run")
    check(f"{name}: run at once", ran.status == 200 and is_done("far"), repr(ran))
    check(f"{name}: delivered with its secret", receiver.of("far")[0][3].get("authorization") == "Bearer s3cret")
    check(f"{name}: run again: 409", service.ask("POST", "/v1/tasks/far:run").status == 409)

    service.schedule(id="never", delay="1h", url=receiver.url)
    check(f"{name}: cancelled", service.ask("DELETE", "/v1/tasks/never").json == {"id": "never", "result": "cancelled"})
    check(f"{name}: and gone", service.ask("GET", "/v1/tasks/never").status == 404)
    check(f"{name}: cancelled again: 404", service.ask("DELETE", "/v1/tasks/never").status == 404)
    check(f"{name}: moved: 404", service.ask("PATCH", "/v1/tasks/never", {"delay": "1s"}).status == 404)
    check(f"{name}: run: 404", service.ask("POST", "/v1/tasks/never:run").status == 404)

    service.schedule(id="slow", url=receiver.url + "/slow")
    check(f"{name}: it runs", eventually(lambda: service.ask("GET", "/v1/tasks/slow").json["state"] == "running", service))
    check(f"{name}: moved while it runs: 409", service.ask("PATCH", "/v1/tasks/slow", {"delay": "1s"}).status == 409)
    check(f"{name}: cancelled while it runs: 409", service.ask("DELETE", "/v1/tasks/slow").status == 409)
    check(f"{name}: run while it runs: 409", service.ask("POST", "/v1/tasks/slow:run").status == 409)

    odd = "a/b:c d%\u00e9"
    a = service.schedule(id=odd, delay="1h", url=receiver.url)
    check(f"{name}: an id of any text", a.json.get("id") == odd, repr(a))
    there = "/v1/tasks/a%2Fb:c%20d%25%C3%A9"
    check(f"{name}: is found by its encoding", service.ask("GET", there).json.get("id") == odd)
    check(f"{name}: its action", service.ask("POST", there.replace(":c", "%3Ac") + ":run").status == 200)

    a = service.schedule(id="each", every="300ms", url=receiver.url)
    check(f"{name}: a recurring task", a.status == 201, repr(a))
    check(f"{name}: runs again and again", eventually(lambda: sum("webhook-id" in c[3] and c[3]["webhook-id"].startswith("each") for c in list(receiver.calls)) >= 3, service))
    t = service.ask("GET", "/v1/tasks/each").json
    check(f"{name}: says when", t.get("when") == "every 300ms" and "runs_left" not in t, repr(t))
    check(f"{name}: moved: 409", service.ask("PATCH", "/v1/tasks/each", {"delay": "1s"}).status == 409)
    run = service.ask("POST", "/v1/tasks/each:run")
    check(f"{name}: an extra run has an id of its own", run.json.get("id", "").startswith("each@"), repr(run))
    check(f"{name}: ends", service.ask("DELETE", "/v1/tasks/each").status == 200)
    a = service.schedule(id="cron", cron="0 7 * * MON-FRI", zone="Europe/Berlin", url=receiver.url)
    check(f"{name}: a cron expression in its zone", a.status == 201 and moment(a.json["due"]) % 3600 == 0, repr(a))
    check(f"{name}: says when", service.ask("GET", "/v1/tasks/cron").json.get("when") == "0 7 * * MON-FRI Europe/Berlin")

    a = service.schedule(id="ends", every="100ms", first_after="1ms", runs=3, misfire="catch_up(3)", url=receiver.url)
    check(f"{name}: a task with three runs", a.status == 201 and eventually(lambda: service.ask("GET", "/v1/tasks/ends").status == 404, service), repr(a))
    check(f"{name}: has had them", eventually(lambda: len({c[3]["webhook-id"] for c in list(receiver.calls) if c[3].get("webhook-id", "").startswith("ends@")}) == 3, service))
    later = service.schedule(id="later", cron="* * * * *", first_after="48h", until="2100-01-01T00:00:00Z", misfire="skip", url=receiver.url)
    check(f"{name}: no run before first_after", moment(later.json["due"]) - time.time() > 47 * 3600, repr(later))
    service.ask("DELETE", "/v1/tasks/later")
    for i in range(5):
        service.schedule(id=f"batch-{i}", url=receiver.url + ("/410" if i < 2 else ""), delay="0ms" if i < 2 else "1h")
    check(f"{name}: two are dead", eventually(lambda: all(service.ask("GET", f"/v1/tasks/batch-{i}").json["state"] == "dead" for i in (0, 1)), service))
    check(f"{name}: they wait again, all at once", service.ask("POST", "/v1/tasks:redrive", {"prefix": "batch-"}).json == {"result": "redriven", "count": 2})
    check(f"{name}: dead again", eventually(lambda: all(service.ask("GET", f"/v1/tasks/batch-{i}").json["state"] == "dead" for i in (0, 1)), service))
    check(f"{name}: removed, all at once", service.ask("POST", "/v1/tasks:purge", {"prefix": "batch-", "state": "dead"}).json == {"result": "purged", "count": 2})
    some = service.ask("POST", "/v1/tasks:cancel", {"prefix": "batch-", "count": 2}).json
    check(f"{name}: two of three are cancelled", some["count"] == 2, repr(some))
    rest = service.ask("POST", "/v1/tasks:cancel", {"prefix": "batch-"}).json
    check(f"{name}: and the last one", rest == {"result": "cancelled", "count": 1}, repr(rest))

    service.schedule(id="gone", url=receiver.url + "/410")
    check(f"{name}: 410 is final", eventually(lambda: service.ask("GET", "/v1/tasks/gone").json["state"] == "dead", service))
    dead = service.ask("GET", "/v1/dead").json["tasks"]
    check(f"{name}: it is among the dead, with the reason", [d["id"] for d in dead] == ["gone"] and "410" in dead[0]["message"], repr(dead))
    check(f"{name}: redriven", service.ask("POST", "/v1/dead/gone:redrive").json == {"id": "gone", "result": "redriven"})
    check(f"{name}: dead again", eventually(lambda: len(receiver.of("gone")) == 2 and service.ask("GET", "/v1/tasks/gone").json["state"] == "dead", service))
    check(f"{name}: removed", service.ask("DELETE", "/v1/dead/gone").json == {"id": "gone", "result": "purged"})
    check(f"{name}: removed again: 404", service.ask("DELETE", "/v1/dead/gone").status == 404)
    check(f"{name}: redriven: 404", service.ask("POST", "/v1/dead/gone:redrive").status == 404)

    service.schedule(id="paused", delay="200ms", url=receiver.url)
    check(f"{name}: a task is paused", service.ask("POST", "/v1/tasks/paused:pause").json == {"id": "paused", "result": "paused"})
    check(f"{name}: and says so", service.ask("GET", "/v1/tasks/paused").json.get("paused") is True)
    check(f"{name}: and is found by it", [t["id"] for t in service.ask("GET", "/v1/tasks?state=paused").json["tasks"]] == ["paused"])
    check(f"{name}: run while it is paused: 409", service.ask("POST", "/v1/tasks/paused:run").status == 409)
    service.schedule(id="unpaused", delay="300ms", url=receiver.url)
    check(f"{name}: others go on", is_done("unpaused") and not receiver.of("paused"))
    check(f"{name}: it is resumed", service.ask("POST", "/v1/tasks/paused:resume").json == {"id": "paused", "result": "resumed"})
    check(f"{name}: and runs", is_done("paused"))
    check(f"{name}: paused when it is done: 404", service.ask("POST", "/v1/tasks/paused:pause").status == 404)
    service.schedule(id="running", url=receiver.url + "/slow")
    eventually(lambda: service.ask("GET", "/v1/tasks/running").json["state"] == "running", service)
    check(f"{name}: paused while it runs: 409", service.ask("POST", "/v1/tasks/running:pause").status == 409)

    service.schedule(id="failing", url=receiver.url + "/500", max_attempts=2)
    check(f"{name}: two attempts fail", eventually(lambda: service.ask("GET", "/v1/tasks/failing").json["state"] == "dead", service))
    history = service.ask("GET", "/v1/tasks/failing").json["history"]
    check(f"{name}: its history has both", [(h["attempt"], h["outcome"]) for h in history] == [(1, "failed"), (2, "failed")] and "500" in history[0]["message"], repr(history))
    service.ask("DELETE", "/v1/dead/failing")

    tasks = [{"id": f"bulk-{i}", "url": receiver.url + "/bulk", "delay": "1h"} for i in range(998)] + [{"id": "x"}, {"id": "bulk-1", "url": receiver.url}]
    results = service.ask("POST", "/v1/tasks:bulk", {"tasks": tasks}).json["results"]
    check(f"{name}: 1,000 tasks at once, an answer each", len(results) == 1000 and all(r["id"] == t["id"] for r, t in zip(results[:998], tasks)))
    check(f"{name}: those that do not do have a problem", results[998].get("field") == "url" and results[999].get("status") == 409, repr(results[998:]))
    found, cursor, pages = [], "", 0
    while pages == 0 or cursor:
        page = service.ask("GET", f"/v1/tasks?count=100&state=waiting&cursor={urllib.parse.quote(cursor)}").json
        found += [t["id"] for t in page["tasks"]]
        cursor, pages = page.get("cursor", ""), pages + 1
    check(f"{name}: all are listed", len({f for f in found if f.startswith("bulk-")}) == 998 and pages > 1, f"{len(found)} in {pages}")

    counts = service.ask("GET", "/v1/queue").json
    check(f"{name}: counted", counts["waiting"] >= 998 and counts["dead"] == 0 and not counts["paused"], repr(counts))
    check(f"{name}: the queue is paused", service.ask("POST", "/v1/queue:pause").json == {"paused": True})
    service.schedule(id="held", url=receiver.url)
    check(f"{name}: and says so", service.ask("GET", "/v1/queue").json["paused"])
    check(f"{name}: nothing begins", service.ask("GET", "/v1/tasks/held").json["state"] == "waiting")
    service.ask("POST", "/v1/queue:resume")
    check(f"{name}: until it goes on", is_done("held"))

    metrics = service.ask("GET", "/metrics")
    check(f"{name}: metrics", 'cogwheeld_attempts_total{outcome="done"}' in metrics.body and metrics.headers["Content-Type"].startswith("text/plain"))
    check(f"{name}: the page", "<!DOCTYPE html>" in service.ask("GET", "/").body)
    check(f"{name}: events tell of it", eventually(lambda: watcher.kinds("held") == ["scheduled", "done"], service), repr(watcher.kinds("held")))
    check(f"{name}: and of the queue and the worker", eventually(lambda: {"queue", "worker", "bulk"} <= {e[0] for e in watcher.seen}, service))
    watcher.close()
    events = service.ask("HEAD", "/events")
    check(f"{name}: HEAD", events.status == 200 and events.body == "")


def bad_input(service, receiver):
    """Each is refused with the status and the member that is wrong."""
    url = receiver.url
    rows = [
        ("no JSON", 400, "", b"{"), ("not UTF-8", 400, "", b'{"url":"\xff"}'), ("a list", 400, "", b"[]"), ("twice", 400, "url", b'{"url":"http://a","url":"http://b"}'),
        ("too deep", 400, "", b'{"url":"http://a","body":' + b"[" * 100 + b"]" * 100 + b"}"),
        ("beyond 9999", 422, "due", {"url": url, "due": "10000-01-01T00:00:00Z"}), ("no such day", 422, "due", {"url": url, "due": "2026-02-30T00:00:00Z"}),
        ("too late", 422, "due", {"url": url, "due": "9999-12-31T00:00:00Z"}), ("unknown zone", 422, "zone", {"url": url, "cron": "* * * * *", "zone": "Mars/Olympus"}),
        ("bad cron", 422, "cron", {"url": url, "cron": "61 * * * *"}), ("never", 422, "cron", {"url": url, "cron": "0 0 31 2 *"}),
        ("another scheme", 422, "url", {"url": "gopher://a/"}), ("no url", 422, "url", {}), ("header injection", 422, "headers", {"url": url, "headers": {"x": "a\r\nb: c"}}),
        ("a long body", 413, "body", {"url": url, "body": "x" * 600_000}), ("a long id", 422, "id", {"url": url, "id": "x" * 513}),
        ("runs of one that has one", 422, "runs", {"url": url, "delay": "1h", "runs": 3}), ("no policy", 422, "misfire", {"url": url, "every": "1h", "misfire": "catch_up(0)"}),
        ("no number of runs", 422, "runs", {"url": url, "every": "1h", "runs": 0}), ("no date", 422, "until", {"url": url, "every": "1h", "until": "soon"}),
        ("no duration", 422, "first_after", {"url": url, "every": "1h", "first_after": "-1s"}),
        ("a long id of a recurring task", 422, "id", {"url": url, "id": "x" * 499, "every": "1h"}),
        ("an unknown member", 422, "urll", {"url": url, "urll": "x"}),
    ]
    for name, status, field, body in rows:
        a = service.ask("POST", "/v1/tasks", **({"raw": body} if isinstance(body, bytes) else {"body": body}))
        check(f"bad input: {name}: {status} {field}", a.status == status and a.json.get("field", "") == field and a.json["detail"], repr(a))
        check(f"bad input: {name}: a problem with its type", a.headers["Content-Type"] == "application/problem+json")
    check("bad input: a text, not JSON: 415", service.ask("POST", "/v1/tasks", raw=b"{}", headers={"Content-Type": "text/plain"}).status == 415)
    check("bad input: gzip: 415", service.ask("POST", "/v1/tasks", raw=b"x", headers={"Content-Encoding": "gzip"}).status == 415)
    for cursor in ("x", "1", "0 x", "99 -1 a"):
        a = service.ask("GET", f"/v1/dead?cursor={cursor.replace(' ', '%20')}")
        check(f"bad input: the cursor {cursor!r}: 400", a.status == 400 and a.json["field"] == "cursor", repr(a))
    for action, body, field in (("cancel", {}, "prefix"), ("purge", {"prefix": ""}, "state"), ("purge", {"prefix": "", "state": "waiting"}, "state"), ("redrive", {"prefix": "", "count": 0}, "count")):
        a = service.ask("POST", f"/v1/tasks:{action}", body)
        check(f"bad input: {action} {body}: 422", a.status == 422 and a.json["field"] == field, repr(a))
    later = service.schedule(id="later", delay="1h", url=url)
    for body in ({"delay": None}, {"due": None, "delay": None}, {}):
        a = service.ask("PATCH", "/v1/tasks/later", body)
        check(f"bad input: {body} changes nothing: 422", a.status == 422 and service.ask("GET", "/v1/tasks/later").json["due"] == later.json["due"], repr(a))
    for target, status in (("http://localhost/v1/queue", 200), ("http://localhost", 200), ("http://localhost?", 200), ("http://evil.example/v1/queue", 421)):
        with service.connect() as client:
            client.sendall(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
            line = client.makefile("rb").readline()
            check(f"the absolute form of a target: {target}: {status}", line.startswith(f"HTTP/1.1 {status} ".encode()), repr(line))
    dated = service.ask("GET", "/healthz").headers["Date"]
    check("an answer has a date", abs(email.utils.parsedate_to_datetime(dated).timestamp() - time.time()) < PATIENCE, dated)
    check("bad input: an unknown parameter: 422", service.ask("GET", "/v1/tasks?stat=dead").json.get("field") == "stat")
    check("bad input: an unknown state: 422", service.ask("GET", "/v1/tasks?state=lost").json.get("field") == "state")
    check("bad input: a bad encoding: 400", service.ask("GET", "/v1/tasks/%zz").status == 400)
    check("bad input: a method that is not there: 405", service.ask("PUT", "/v1/tasks").headers.get("Allow") == "GET, POST")
    check("bad input: no such place: 404", service.ask("GET", "/v2").status == 404)
    check("bad input: no such action: 404", service.ask("POST", "/v1/tasks/a:jump").status == 404)


def tokens(binary, directory, receiver):
    file = os.path.join(directory, "tokens")
    with open(file, "w", encoding="ascii") as out:
        out.write("0123456789abcdef\n")
    with Service(binary, "--data", os.path.join(directory, "t"), "--token-file", file) as service:
        check("token: health needs none", service.ask("GET", "/healthz").status == 200)
        check("token: the page needs none", service.ask("GET", "/").status == 200)
        for path in ("/v1/tasks", "/metrics", "/events"):
            a = service.ask("GET", path)
            check(f"token: {path} needs one", a.status == 401 and a.headers.get("WWW-Authenticate") == "Bearer", repr(a))
        service.token = "fedcba9876543210"
        check("token: a wrong one: 401", service.ask("GET", "/v1/tasks").status == 401)
        service.token = "0123456789abcdef"
        check("token: the right one", service.ready() and service.ask("GET", "/v1/tasks").status == 200)
        with open(file, "w", encoding="ascii") as out:
            out.write("fedcba9876543210\n")
        service.process.send_signal(1)  # SIGHUP
        check("token: read again, the old one is refused", eventually(lambda: service.ask("GET", "/v1/tasks").status == 401, service))
        service.token = "fedcba9876543210"
        check("token: read again, the new one is known", service.ask("GET", "/v1/tasks").status == 200)
        with open(file, "w", encoding="ascii") as out:
            out.write("short\n")
        service.process.send_signal(1)
        check("token: a bad file changes nothing", service.ask("GET", "/v1/tasks").status == 200)
        code, _, err = service.end()
        check("token: said so", code == 0 and "nothing is changed" in err and "line 1" in err, f"{code} {err}")
    del receiver


def rebinding(service):
    for name, headers, status in (("a name that leads here", {"Host": "evil.example"}, 421), ("a page of another site", {"Sec-Fetch-Site": "cross-site"}, 403),
                                  ("a page of another port", {"Sec-Fetch-Site": "same-site"}, 403), ("another origin", {"Origin": "https://evil.example"}, 403),
                                  ("no origin", {"Origin": "null"}, 403), ("another port as origin", {"Host": "localhost:80", "Origin": "http://localhost:81"}, 403),
                                  ("its own page", {"Host": "LOCALHOST:80", "Origin": "http://localhost:80", "Sec-Fetch-Site": "same-origin"}, 200),
                                  ("its own page behind a proxy", {"Origin": "https://timers.example", "Sec-Fetch-Site": "same-origin"}, 200), ("an address that was typed", {"Sec-Fetch-Site": "none"}, 200), ("localhost", {"Host": "localhost:80"}, 200)):
        check(f"a browser: {name}: {status}", service.ask("GET", "/v1/queue", headers=headers).status == status)
        act = service.ask("POST", "/v1/queue:resume", headers=headers) # without a body
        check(f"a browser: {name}: POST without a body: {status}", act.status == status, repr(act))


def replicas(binary, directory):
    """A replica that is lost: 503 with the id, and the task is stored; repeated with keep, it is there once."""
    port = reserved_ports(1)[0]
    folders = [os.path.join(directory, name) for name in ("primary", "replica")]
    for folder in folders:
        os.mkdir(folder)
    config = os.path.join(directory, "replicas.toml")
    with open(config, "w", encoding="utf-8") as out:
        out.write('[tasks]\ndurability = "replicas:1"\nreplica_timeout = "2s"\n')
    with redis_process.Redis(folders[0], port=port) as primary, redis_process.Redis(folders[1], replica_of=port) as replica:
        check("replicas: the replica is there", eventually(lambda: "state=online" in primary.command("INFO", "replication")))
        with Service(binary, "--redis", primary.url, "--namespace", "replicas", "--config", config) as service:
            check("replicas: ready", service.ready())
            # On a busy machine, the replica may take longer than that for a while.
            check("replicas: scheduled", eventually(lambda: service.schedule(id="sure", delay="1h", url="http://127.0.0.1/", policy="keep").status in (200, 201), service))
            replica.kill()
            a = service.schedule(id="unsure", delay="1h", url="http://127.0.0.1/")
            check("replica lost: 503, the id, and what to do", a.status == 503 and a.json["id"] == "unsure" and "keep" in a.json["remedy"], repr(a))
            found = service.ask("GET", "/v1/tasks/unsure")
            check("replica lost: the task is stored", found.status == 200 and found.json["generation"] == a.json["generation"], repr(found))
            replica.start()
            a = None

            def repeated():
                nonlocal a
                a = service.schedule(id="unsure", delay="1h", url="http://127.0.0.1/", policy="keep")
                return a.status == 200
            check("replica back: repeated with keep, it is the same task", eventually(repeated, service) and a.json["generation"] == found.json["generation"] and a.json["existed"], repr(a))
            check("replicas: ends in good order", service.end()[0] == 0)


def rights(binary, redis, receiver):
    """A user who loses the right to call scripts, and gets it back."""
    redis.command("ACL", "SETUSER", "service", "on", ">secret", "~*", "&*", "+@all")
    with Service(binary, "--redis", redis.url.replace("unix://", "unix://service:secret@"), "--namespace", "rights") as service:
        check("rights: ready", service.ready())
        check("rights: scheduled", service.schedule(id="before", delay="2s", url=receiver.url).status == 201)
        redis.command("ACL", "SETUSER", "service", "-evalsha")
        for what, a in (("a task", service.schedule(id="refused", url=receiver.url)), ("a look", service.ask("GET", "/v1/tasks/before")), ("the counts", service.ask("GET", "/v1/queue"))):
            check(f"rights: without EVALSHA, {what}: 503 with Retry-After, and why", a.status == 503 and "retry-after" in a.headers and "right" in repr(a.json), repr(a))
        redis.command("ACL", "SETUSER", "service", "+evalsha")
        check("rights: again, it goes on", eventually(lambda: service.schedule(id="after", url=receiver.url, policy="keep").status in (200, 201), service))
        for name in ("before", "after"):
            check(f"rights: {name}: called", eventually(lambda: receiver.of(name), service))
        check("rights: what was refused is not there", service.ask("GET", "/v1/tasks/refused").status == 404)
        check("rights: ends in good order", service.end()[0] == 0)


def damage(binary, data):
    """A bit of the journal flips: the loss is said wherever one looks, and the file is kept."""
    names = [name for name in os.listdir(data) if not name.endswith(".lock")]
    check("damage: the journal is one file", len(names) == 1, repr(names))
    path = os.path.join(data, names[0])
    with open(path, "rb") as f:
        sound = f.read()
    at = sound.rindex(b"\n", 0, len(sound) - 1) + 20 # in the last line
    broken = sound[:at] + bytes([sound[at] ^ 1]) + sound[at + 1:]
    with open(path, "wb") as f:
        f.write(broken)
    with Service(binary, "--data", data, cwd=data) as service:
        check("damage: ready all the same", service.ready())
        trouble = service.ask("GET", "/v1/queue").json.get("trouble", "")
        check("damage: the queue says so", "are damaged" in trouble and "is kept as" in trouble, trouble)
        check("damage: metrics say so", "cogwheeld_queue_damaged 1" in service.ask("GET", "/metrics").body)
        code, _, err = service.end()
        check("damage: the log says so", code == 0 and "tasks are lost" in err and "are damaged" in err, f"{code} {err}")
    kept = [name for name in os.listdir(data) if ".damaged-" in name]
    check("damage: the file is kept", len(kept) == 1, repr(kept))
    with open(os.path.join(data, kept[0]), "rb") as f:
        check("damage: as it was", f.read() == broken)
    with open(path, "wb") as f:
        f.write(broken)
    audit = subprocess.run([binary, "audit", "--data", data], capture_output=True, text=True, timeout=PATIENCE)
    check("damage: audit ends with 1", audit.returncode == 1 and "tasks are lost" in audit.stderr, f"{audit.returncode} {audit.stderr}")
    with open(path, "wb") as f:
        f.write(sound)


def main(binary, description):
    contract = Contract(description)
    with tempfile.TemporaryDirectory() as directory, Receiver() as receiver:
        data = os.path.join(directory, "data")
        with watched(Service(binary, "--data", data), contract) as service:
            walk(service, receiver, "journal")
            bad_input(service, receiver)
            rebinding(service)
            check("the description of itself", service.ask("GET", "/openapi.json").json == contract.description)
            check("a second one on the same journal does not start", subprocess.run([binary, "--data", data, "--listen", "127.0.0.1:0"], capture_output=True, text=True, timeout=PATIENCE).returncode == 2)
            code, out, err = service.end()
            check("journal: ends in good order", code == 0, f"{code} {err}")
        damage(binary, data)
        audit = subprocess.run([binary, "audit", "--data", data], capture_output=True, text=True, timeout=PATIENCE)
        check("audit of the journal", audit.returncode == 0 and "repaired  0" in audit.stdout, audit.stdout + audit.stderr)
        with Service(binary, "--data", data) as service:
            check("started again, it has its tasks", service.ready() and service.ask("GET", "/v1/tasks/bulk-7").json["state"] == "waiting")
        tokens(binary, directory, receiver)
        command_lines(binary, directory)
        if redis_process.installed():
            with redis_process.Redis(os.path.join(directory)) as redis:
                rights(binary, redis, receiver)
                with watched(Service(binary, "--redis", redis.url, "--namespace", "api"), contract) as service:
                    receiver.calls.clear()
                    walk(service, receiver, "redis")
                    redis.kill()
                    check("redis away: not ready", eventually(lambda: service.ask("GET", "/readyz").status == 503, service))
                    a = service.schedule(id="away", url=receiver.url)
                    check("redis away: 503, and when to come again", a.status == 503 and a.headers.get("Retry-After") == "1" and a.json["id"] == "away", repr(a))
                    redis.start()
                    check("redis back: ready", service.ready())
                    a = service.schedule(id="away", url=receiver.url, policy="keep")
                    check("redis back: added", a.status in (200, 201), repr(a))
                    code, _, err = service.end()
                    check("redis: ends in good order", code == 0, f"{code} {err}")
                audit = subprocess.run([binary, "audit", "--redis", redis.url, "--namespace", "api"], capture_output=True, text=True, timeout=PATIENCE)
                check("audit of redis", audit.returncode == 0 and "repaired  0" in audit.stdout, audit.stdout + audit.stderr)
            replicas(binary, directory)
        else:
            print("skipped the part with redis-server, which is not installed")
    missing = {(m, p) for p, operations in contract.description["paths"].items() for m in operations if m in ("get", "post", "patch", "delete")} - contract.seen
    check("all that is described was asked for", not missing, repr(missing))
    check("all answers are as described", not contract.wrong, "\n".join(sorted(set(contract.wrong))))
    if not contract.validator:
        print("without python3-jsonschema, bodies were not checked against their schemas")
    return conclude()


if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    sys.exit(main(os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else os.path.join(here, "../../service/api/openapi.json")))
