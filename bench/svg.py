# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""What the plots have in common: colours, names at the ends of curves, files for light pages and dark ones."""

import re
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("matplotlib is missing: apt-get install python3-matplotlib")

import palette

INK, SOFT_INK, FAINT, PLATE, MUTED = palette.INK[0], palette.SOFT_INK[0], palette.FAINT[0], palette.PLATE[0], palette.MUTED[0]

matplotlib.use("svg")
matplotlib.rcParams.update({
    "svg.hashsalt": "cogwheel", "svg.fonttype": "none", "font.size": 9, "axes.titlesize": 11, "axes.grid": True,
    "axes.axisbelow": True, "axes.spines.top": False, "axes.spines.right": False, "grid.color": FAINT, "axes.edgecolor": FAINT,
    "xtick.color": FAINT, "ytick.color": FAINT, "xtick.labelcolor": INK, "ytick.labelcolor": INK, "axes.labelcolor": INK,
    "text.color": INK, "axes.titlecolor": INK, "figure.facecolor": PLATE, "axes.facecolor": PLATE, "legend.frameon": False})
from matplotlib import pyplot  # noqa: E402,F401  (after the backend is chosen)


def colour(name):
    return palette.CONTENDERS[name][0]


def label_ends(axis, ends, gap=0.037):
    """Writes each name beside the right end of its curve, behind its marker. A thin line leads to a name that had to make room
    for others. `ends`: (x, y, name, colour, marker, emphasised); `gap`: between two names, as a share of the axis' height."""
    to_axes = axis.transData + axis.transAxes.inverted()
    places = sorted(((*to_axes.transform((x, y)), *rest) for x, y, *rest in ends), key=lambda end: end[1])
    # Names that would touch each other form a group around the middle of the places that they would like to have.
    groups = []
    for end in places:
        groups.append([end])
        while len(groups) > 1 and middle(groups[-2], gap) + reach(groups[-2], gap) > middle(groups[-1], gap) - reach(groups[-1], gap):
            some = groups.pop()
            groups[-1] += some
    for group in groups:
        bottom = middle(group, gap) - reach(group, gap)
        for i, (x, y, name, colour_of_curve, marker, emphasised) in enumerate(group):
            at = bottom + (i + 0.5) * gap
            axis.plot((x, 1.03, 1.055), (y, at, at), transform=axis.transAxes, color=colour_of_curve, linewidth=0.7, clip_on=False)
            axis.plot(1.065, at, transform=axis.transAxes, color=colour_of_curve, marker=marker, markersize=4.5, clip_on=False)
            axis.text(1.09, at, name, transform=axis.transAxes, va="center", fontsize=8.5,
                      color=colour_of_curve if emphasised else SOFT_INK, weight="bold" if emphasised else "normal")


def middle(group, gap):
    wanted = sum(end[1] for end in group) / len(group)
    return min(max(wanted, reach(group, gap)), 1.02 - reach(group, gap))


def reach(group, gap):
    return len(group) * gap / 2


def save(figure, path):
    """Adds the colours of dark pages. A program that does not know them shows the plate and colours of light ones."""
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    text = path.read_text(encoding="utf-8")
    used = set(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", text))
    if unknown := used - palette.DARK.keys():
        sys.exit(f"{path}: no colour on dark pages for {', '.join(sorted(unknown))}")
    rules = "".join(f'[style*="{what}: {light}"]{{{what}:{palette.DARK[light]}!important}}'
                    for light in sorted(used) for what in ("fill", "stroke"))
    text = text.replace("</style>", f"@media (prefers-color-scheme: dark){{{rules}}}</style>", 1)
    path.write_text(text, encoding="utf-8")
