# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""What a mutant is, which are drawn, and which are known to be equivalent to the original."""

import dataclasses
import enum
import hashlib
import re


class Form(enum.Enum):
    """How the changed text replaces the original one."""

    EXPRESSION = "expression"  # (on ? after : before)
    DROPPED = "dropped"  # { if (!on) before }
    INSERTED = "inserted"  # if (on) after; before


@dataclasses.dataclass(frozen=True, order=True)
class Mutant:
    """One place, one change. begin and end are offsets in bytes."""

    file: str
    begin: int
    end: int
    operator: str
    before: str
    after: str
    form: Form = dataclasses.field(compare=False)
    line: int = dataclasses.field(compare=False)
    last_line: int = dataclasses.field(compare=False)
    source: str = dataclasses.field(compare=False)  # the text of its first line

    @property
    def change(self):
        return f"{self.before or 'nothing'} -> {self.after or 'nothing'}"

    @property
    def key(self):
        """Stays the same when lines are added elsewhere in the file."""
        return self.file, one_line(self.source), self.operator, self.change


def one_line(text):
    """The text without comments, on one line; string literals stay as they are."""
    literal, comment, space = r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', r"//[^\n]*|/\*.*?\*/", r"\s"
    return re.sub(rf"({literal})|(?:{comment}|{space})+", lambda found: found[1] or " ", text, flags=re.S).strip()


def draw(candidates, seed):
    """Returns all candidates in the order of the draw. A change of one place keeps the order of the others."""

    def rank(item):
        mutant, twin = item
        text = "\n".join((str(seed), *mutant.key, str(twin)))
        return hashlib.sha256(text.encode()).digest()

    twins, numbered = {}, []
    for mutant in sorted(set(candidates)):
        twins[mutant.key] = twins.get(mutant.key, 0) + 1
        numbered.append((mutant, twins[mutant.key]))
    return [mutant for mutant, _ in sorted(numbered, key=rank)]


class Equivalents:
    """The list of mutants that no test can tell from the original: blocks of four fields, separated by empty lines.

    file: include/cogwheel/wheel/tick.hpp
    line: if (a < b) return a;
    change: compare: a < b -> a <= b
    reason: with a == b both branches return the same.
    """

    fields = ("file", "line", "change", "reason")

    def __init__(self, text):
        self.reasons = {}
        self.met = set()
        blocks = re.split(r"\n\s*\n", re.sub(r"^#.*\n", "", text, flags=re.M).strip())
        for block in filter(None, blocks):
            found = dict(re.findall(r"^(\w+): (.*(?:\n  .*)*)", block, flags=re.M))
            if tuple(found) != self.fields:
                raise ValueError(f"not the fields {', '.join(self.fields)} in this order:\n{block}")
            operator, _, change = found["change"].partition(": ")
            self.reasons[found["file"], found["line"], operator, change] = " ".join(found["reason"].split())

    def knows(self, mutant):
        self.met.add(mutant.key)
        return mutant.key in self.reasons

    def stale(self):
        """Returns the entries that match no candidate any more."""
        return [key for key in self.reasons if key not in self.met]

    @staticmethod
    def block(mutant, reason):
        file, line, operator, change = mutant.key
        return f"file: {file}\nline: {line}\nchange: {operator}: {change}\nreason: {reason}\n"
