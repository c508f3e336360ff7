# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""A headless Chromium, driven by its chromedriver. Every wait has a time limit.

Protocol: WebDriver (https://www.w3.org/TR/webdriver2/), and two commands of the Chrome DevTools Protocol.
"""

import base64
import contextlib
import json
import re
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request

PATIENCE = 30.0  # seconds

# It reaches nothing but the machine itself.
ARGUMENTS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage")


def missing():
    """The programs that are not installed."""
    return [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]


class Browser:
    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True)
        for line in self.driver.stdout:
            if match := re.search(r"started successfully on port (\d+)", line):
                break
        else:
            raise RuntimeError("chromedriver does not start")
        self.root = f"http://127.0.0.1:{match[1]}/session"
        arguments = [*ARGUMENTS, f"--user-data-dir={self.profile.name}"]
        options = {"goog:chromeOptions": {"args": arguments, "binary": shutil.which("chromium")}, "goog:loggingPrefs": {"browser": "ALL"}}
        self.root += "/" + self.call("", {"capabilities": {"alwaysMatch": options}})["sessionId"]

    def call(self, command, body=None, method=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.root + command, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=4 * PATIENCE) as answer:
            return json.load(answer)["value"]

    def open(self, url):
        self.call("/url", {"url": url})

    def run(self, script, *arguments):
        """What the body of a function returns."""
        return self.call("/execute/sync", {"script": script, "args": arguments})

    def eventually(self, script, *arguments, patience=PATIENCE):
        """What the script returns as soon as that is true; what it returns in the end otherwise. The browser looks again and again."""
        self.call("/timeouts", {"script": int(2000 * patience)})
        look = """const done = arguments[arguments.length - 1], end = performance.now() + arguments[0], given = [...arguments].slice(1, -1);
            const condition = () => { %s };
            (function look() {
                const result = condition();
                if (result || performance.now() > end) done(result); else setTimeout(look, 20);
            })();""" % script.replace("arguments", "given")
        return self.call("/execute/async", {"script": look, "args": [1000 * patience, *arguments]})

    def complaints(self):
        """What the page has written to the console, and what the browser has blocked."""
        return [entry["message"] for entry in self.call("/se/log", {"type": "browser"})]

    def appearance(self, width, height, dark=False):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 640)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.devtools("Emulation.setEmulatedMedia", features=[scheme])

    def screenshot(self, file):
        picture = self.devtools("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        with open(file, "wb") as out:
            out.write(base64.b64decode(picture["data"]))

    def devtools(self, command, **parameters):
        return self.call("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError, urllib.error.URLError):
            self.call("", method="DELETE")
        self.driver.terminate()
        self.driver.wait(PATIENCE)
        self.driver.stdout.close()
        self.profile.cleanup()
