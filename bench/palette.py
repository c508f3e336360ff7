#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""palette.py: the colours of the plots. Run, it prints how far apart they are, and fails if two are too close.

Cogwheel is blue, asio::steady_timer orange, all others are muted. A reader with protanopia or deuteranopia has to tell all of
them apart, on a light page and on a dark one. Distances are those of OKLab (B. Ottosson, 2020) times 100, of colours as such
a reader sees them (G. Machado, M. Oliveira, L. Fernandes, 2009). About 2 is the least that one notices side by side.
"""

import itertools
import math
import sys

# name: (on light pages, on dark pages)
PLATE = ("#ffffff", "#0d1117")
INK = ("#24292f", "#d5dbe3")
SOFT_INK = ("#57606a", "#a8b1bb")
FAINT = ("#d0d7de", "#30363d")
MUTED = ("#9aa0a6", "#6e7681")

CONTENDERS = {
    "cogwheel-core": ("#0a3d91", "#6ea8ff"),
    "cogwheel-core-embed": ("#2f7de1", "#3d7fe0"),
    "cogwheel": ("#007a87", "#35d0dc"),
    "cogwheel-local": ("#3fa9c9", "#1f93a8"),
    "cogwheel-callback": ("#001940", "#62caae"),
    "asio::steady_timer": ("#d1490b", "#ff7a3c"),
    "libuv": ("#8e7ab1", "#6b5b8f"),
    "libevent": ("#b38c54", "#e3aa85"),
    "libevent-common": ("#5f4413", "#807837"),
    "libev": ("#624c84", "#98a4b3"),
    "tokio": ("#897e6a", "#989379"),
    "netty": ("#aba88c", "#ebd3aa"),
    "std::multimap": ("#4b404c", "#d3dfef"),
    "binary heap": ("#686b5c", "#5a5c15"),
    "linked wheel": ("#5b5656", "#6f7774"),
    "floor (one store)": ("#949595", "#5b5d5d"),
}
DARK = dict([PLATE, INK, SOFT_INK, FAINT, MUTED, *CONTENDERS.values()])
LEAST_DISTANCE = 6.0
LEAST_CONTRAST = 2.3  # of a curve against the plate
LEAST_TEXT_CONTRAST = 4.5

# What the cones of each eye make of linear RGB.
VISIONS = {
    "usual": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
}


def times(matrix, vector):
    return [sum(m * v for m, v in zip(row, vector)) for row in matrix]


def linear(colour):
    """Linear RGB, 0 to 1, of "#rrggbb"."""
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]


def oklab(rgb):
    lms = times(((0.4122214708, 0.5363325363, 0.0514459929), (0.2119034982, 0.6806995451, 0.1073969566),
                 (0.0883024619, 0.2817188376, 0.6299787005)), rgb)
    return times(((0.2104542553, 0.7936177850, -0.0040720468), (1.9779984951, -2.4285922050, 0.4505937099),
                  (0.0259040371, 0.7827717662, -0.8086757660)), [max(x, 0) ** (1 / 3) for x in lms])


def distance(one, other, vision="usual"):
    seen = [oklab([min(max(x, 0), 1) for x in times(VISIONS[vision], linear(c))]) for c in (one, other)]
    return 100 * math.dist(*seen)


def contrast(one, other):
    """The ratio of WCAG 2."""
    light, dark = sorted((sum(w * x for w, x in zip((0.2126, 0.7152, 0.0722), linear(c))) for c in (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def closest(page, vision):
    """The least distance of two contenders, and their names."""
    pairs = itertools.combinations(CONTENDERS, 2)
    return min((distance(CONTENDERS[a][page], CONTENDERS[b][page], vision), a, b) for a, b in pairs)


def faults():
    """What is wrong, a line each. Prints the least distances."""
    for page, title in enumerate(("light", "dark")):
        for vision in VISIONS:
            least, one, other = closest(page, vision)
            print(f"{title:5} page, {vision:12}: least distance {least:.1f} ({one}, {other})")
            if least < LEAST_DISTANCE:
                yield f"{one} and {other} are too close on a {title} page with {vision}: {least:.1f}, not {LEAST_DISTANCE}"
        for name, colours in CONTENDERS.items():
            if (ratio := contrast(colours[page], PLATE[page])) < LEAST_CONTRAST:
                yield f"{name} is too faint on a {title} page: {ratio:.1f} : 1, not {LEAST_CONTRAST}"
        for ink in INK, SOFT_INK:
            if contrast(ink[page], PLATE[page]) < LEAST_TEXT_CONTRAST:
                yield f"the text {ink[page]} is too faint on a {title} page"


def check():
    wrong = list(faults())
    if wrong:
        sys.exit("palette: " + "\npalette: ".join(wrong))


if __name__ == "__main__":
    check()
