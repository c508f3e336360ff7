# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""Mutant schemata (Untch, Offutt and Harrold, 1993): all mutants in one program, each behind a switch of its own, so that a hundred
of them cost one compilation. Lines keep their numbers, so that a compiler's error leads to the mutant that caused it."""

import re

from mutants import Form


def weave(source, numbered):
    """Returns the bytes `source` of one file with the (number, mutant) pairs woven in. Mutants may contain others."""
    pending = sorted(numbered, key=lambda item: (item[1].begin, -item[1].end, item[0]))

    def upto(begin, end):
        pieces, at = [], begin
        while pending and pending[0][1].begin < end:
            number, mutant = pending.pop(0)
            if mutant.begin < at or mutant.end > end:
                raise ValueError(f"mutant {number} overlaps another without containing it")
            pieces.append(source[at : mutant.begin])
            # The original text contains the inner mutants; the changed text contains none.
            pieces.append(switched(number, mutant, upto(mutant.begin, mutant.end)))
            at = mutant.end
        pieces.append(source[at:end])
        return b"".join(pieces)

    return upto(0, len(source))


def switched(number, mutant, original):
    on, after = f"::cogwheel_mutant({number})".encode(), mutant.after.encode()
    if mutant.form is Form.EXPRESSION:
        return b"(" + on + b" ? (" + after + b") : (" + original + b"))"
    if mutant.form is Form.DROPPED:
        return b"{ if (!" + on + b") " + original + b" }"
    return b"if (" + on + b") " + after + b" " + original


def blamed(compiler_output, numbered):
    """Returns the numbers of the mutants on lines that a failed compilation names: on the lines of its errors, else on those
    where the templates with errors come from."""
    lines = re.findall(r"^(?:\S.*?[ /])?((?:include/cogwheel|src)/\S+?):(\d+):(?:\d+:)? +(error|note|required)?", compiler_output, re.M)
    for kinds in (("error",), ("error", "note", "required", "")):
        named = {(file, int(line)) for file, line, kind in lines if kind in kinds}
        numbers = {n for n, m in numbered if any((m.file, line) in named for line in range(m.line, m.last_line + 1))}
        if numbers:
            return numbers
    return set()
