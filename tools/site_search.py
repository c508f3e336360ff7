# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""Lets the site's search find the words of the guides. Doxygen's own index has the names of the reference and the titles
of pages. A word leads to the sections that it distinguishes: all if they are few, else those whose heading has it and those
that have it most often. A word of every page distinguishes none."""

import collections
import html
import json
import re

MOST_SECTIONS = 20  # of a word
COMMON = 120  # sections: a word of more distinguishes none


def sections(markdown):
    """Yields (anchor, title of the page, heading, text) of a guide."""
    title, anchor, heading, text = "", "", "", []
    for line in markdown.splitlines():
        found = re.match(r"#{1,4} (.*) \{#(\w+)\}$", line)
        if not found:
            text.append(line)
            continue
        if heading:
            yield anchor, title, heading, "\n".join(text)
        heading, anchor, text = found[1].replace("`", ""), found[2], []
        if not title:
            title, anchor = heading, ""  # the top of the page
    if heading:
        yield anchor, title, heading, "\n".join(text)


def words(text):
    """Each word, and how often the text has it."""
    text = re.sub(r"@ref \w+|\{#\w+\}|https?://\S+|&\w+;|<[^>]*>", " ", text)
    return collections.Counter(w.lower() for w in re.findall(r"[A-Za-z][A-Za-z0-9_]+[A-Za-z0-9]", text))


def read_guides(pages):
    """Returns for each word its places: (address, what the reader sees)."""
    in_heading, anywhere = collections.defaultdict(list), collections.defaultdict(list)
    for file in sorted(pages.glob("[0-9]*.md")):
        page = file.stem.partition("_")[2]
        for anchor, title, heading, text in sections(file.read_text(encoding="utf-8")):
            place = (f"{page}.html" + (f"#{anchor}" if anchor else ""), title if heading == title else f"{title}: {heading}")
            for word in words(heading):
                in_heading[word].append(place)
            for word, times in words(heading + " " + text).items():
                anywhere[word].append((times, place))
    found = {}
    for word, counted in anywhere.items():
        places = [place for _, place in counted]
        if len(places) > MOST_SECTIONS:
            often = sorted(counted, key=lambda of: -of[0]) if len(places) <= COMMON else []
            places = list(dict.fromkeys(in_heading[word] + [place for _, place in often]))[:MOST_SECTIONS]
        if places:
            found[word] = places
    return found


def entry(word, places):
    """A line of Doxygen's index. Its key is the word, as search.js encodes it, and a suffix that no name of Doxygen's has."""
    key = re.sub(r"[^a-z0-9]", lambda m: f"_{ord(m[0]):02x}", word)
    shown = [[f"../{address}", 1, html.escape(text)] for address, text in places]
    return [f"{key}_0g", [word, *shown]]


def add_guides(pages, search):
    """Adds the guides in `pages` to the index of all names in the directory `search`. Returns what each word leads to."""
    letters = re.search(r'0: "([^"]*)"', (search / "searchdata.js").read_text(encoding="utf-8"))[1]
    found = read_guides(pages)
    for number, letter in enumerate(letters):
        file = search / f"all_{number:x}.js"
        lines = re.findall(r"^  (\[.*\]),?$", file.read_text(encoding="utf-8"), flags=re.M)
        new = [entry(word, places) for word, places in sorted(found.items()) if word[0] == letter]
        lines += [json.dumps(e, ensure_ascii=False) for e in new]
        lines.sort(key=lambda line: line[2:].lower())
        file.write_text("var searchData=\n[\n  " + ",\n  ".join(lines) + "\n];\n", encoding="utf-8")
    return {word: [address for address, _ in places] for word, places in found.items() if word[0] in letters}
