#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""amalgamate.py FILE: writes the core, timing wheels without Asio, as a single header.

One file of a program defines COGWHEEL_IMPLEMENTATION before it includes the header, and so compiles the core's functions.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("wheel", "counts", "detail")
INCLUDE = re.compile(r'^#\s*include\s+(?:<(cogwheel/[^>]+)>|"([^"]+)")', re.M)
ABOUT = """\
// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// Cogwheel {version}: the core in a single header. Needs C++20 and its standard library, not Asio, and no other header of
// Cogwheel. In one file of a program, define COGWHEEL_IMPLEMENTATION before the #include, for the functions.
//
// Generated; the headers and their documentation are at include/cogwheel/wheel of the project. This file has one namespace
// with them and with the library cogwheel_wheel: a program uses this file or those.
#ifndef COGWHEEL_WHEEL
#define COGWHEEL_WHEEL
"""


def fail(text):
    sys.exit(f"amalgamate: {text}")


class Amalgamation:
    """Each header comes once, before the first file that includes it."""

    def __init__(self):
        self.seen = set()
        self.standard = {}
        self.parts = {}
        self.lines = []

    def begin(self, part):
        """What follows belongs to a part, which has the headers of the standard library that it needs at its top."""
        self.standard[part] = set()
        self.lines = self.parts[part] = []

    def find(self, match, including):
        if match[1]:
            return ROOT / "include" / match[1]
        for directory in (including.parent, ROOT):
            if (directory / match[2]).exists():
                return (directory / match[2]).resolve()
        return fail(f"{including}: there is no {match[2]}")

    def add(self, path):
        if path in self.seen:
            return
        self.seen.add(path)
        name = path.relative_to(ROOT)
        text = re.sub(r"\A// SPDX-.*\n// Copyright .*\n(//\n)?", "", path.read_text())
        # The first inclusion of a header brings it. Under a condition, it might not.
        depth = 0
        own = []
        for line in text.splitlines():
            if re.match(r"#\s*if", line):
                depth += 1
            elif re.match(r"#\s*endif", line):
                depth -= 1
            match = INCLUDE.match(line)
            if match and depth:
                fail(f"{name}: {line} stands under a condition")
            if match:
                self.add(self.find(match, path))
            elif line.startswith("#include <") and not depth:
                self.standard[list(self.parts)[-1]].add(line)
            elif line != "#pragma once":
                own.append(line)
        self.lines += ["", f"// ---- {name}", ""]
        self.lines += own


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    version = re.search(r"VERSION ([0-9.]+) LANGUAGES", (ROOT / "CMakeLists.txt").read_text())[1]
    whole = Amalgamation()
    whole.begin("header")
    for header in sorted((ROOT / "include/cogwheel/wheel").glob("*.hpp")):
        whole.add(header)
    whole.begin("implementation")
    for room in ROOMS:
        for source in sorted((ROOT / "src" / room).glob("*.cpp")):
            # Of the other rooms, what the headers declare that the core includes.
            header = ROOT / "include/cogwheel" / room / f"{source.stem}.hpp"
            if room == "wheel" or header in whole.seen or source.with_suffix(".hpp") in whole.seen:
                whole.add(source)
    lines = [ABOUT.format(version=version), *sorted(whole.standard["header"]), *whole.parts["header"]]
    lines += ["", "#endif // COGWHEEL_WHEEL", ""]
    lines += ["#if defined(COGWHEEL_IMPLEMENTATION) && !defined(COGWHEEL_IMPLEMENTED)", "#define COGWHEEL_IMPLEMENTED", ""]
    lines += sorted(whole.standard["implementation"] - whole.standard["header"])
    lines += [*whole.parts["implementation"], "", "#endif // COGWHEEL_IMPLEMENTATION", ""]
    Path(sys.argv[1]).write_text(re.sub(r"\n{3,}", "\n\n", "\n".join(lines)))


main()
