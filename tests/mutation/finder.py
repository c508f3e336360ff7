# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""Finds every place of a room that can be changed, in libclang's syntax tree."""

import concurrent.futures
import os
import re

from clang import cindex
from clang.cindex import CursorKind as Kind

from mutants import Form, Mutant, one_line

# Asio before 1.26 does not know that Clang has the standard's coroutines.
FLAGS = ["-std=c++20", "-DASIO_HAS_CO_AWAIT=1", "-DASIO_HAS_STD_COROUTINE=1", "-w"]

COMPARISONS = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",)}
CONNECTIVES = {"&&": ("||",), "||": ("&&",)}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>="}
# The order of their arguments does not matter.
SYMMETRIC = {"min", "max", "swap", "saturating_add"}
# With swapped arguments, these do not compile.
ORDERED = {"exchange", "forward", "move"}
FUNCTIONS = {Kind.FUNCTION_DECL, Kind.CXX_METHOD, Kind.CONSTRUCTOR, Kind.DESTRUCTOR, Kind.CONVERSION_FUNCTION, Kind.FUNCTION_TEMPLATE}
SCOPES = {Kind.NAMESPACE, Kind.CLASS_DECL, Kind.STRUCT_DECL, Kind.CLASS_TEMPLATE, Kind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION,
          Kind.LINKAGE_SPEC, Kind.FRIEND_DECL, Kind.UNION_DECL, Kind.UNEXPOSED_DECL}  # fmt: skip
# Expressions that are only a name: of these, only names of errors are changed.
NAMES = {Kind.DECL_REF_EXPR, Kind.TYPE_REF, Kind.TEMPLATE_REF, Kind.NAMESPACE_REF, Kind.OVERLOADED_DECL_REF}
# Checks for the tests, and prefetches, which change no result.
NO_PROMISE = re.compile(r"check_invariants|prefetch_\w+")
KNOWN = {kind.value for kind in Kind.get_all_kinds()}
LOOPS = {Kind.FOR_STMT, Kind.WHILE_STMT, Kind.CXX_FOR_RANGE_STMT}
LONGEST = 400


class Finder:
    """The candidates of one file, from the tree of a translation unit that includes it."""

    def __init__(self, file, source, macros):
        self.file, self.source, self.macros = file, source, macros
        self.lines = source.split(b"\n")
        self.found = set()

    # ---- what is found ----

    def add(self, operator, begin, end, after, form=Form.EXPRESSION):
        """`after` is the changed text. If it is empty, the mutant drops the text."""
        if end - begin > LONGEST or any(begin < e and b < end for b, e in self.macros):
            return
        line, last = self.source.count(b"\n", 0, begin) + 1, self.source.count(b"\n", 0, end) + 1
        before = one_line(self.text(begin, end)) if form is not Form.INSERTED else ""
        after = one_line(after)
        if before == after:
            return
        source = self.lines[line - 1].decode()
        self.found.add(Mutant(self.file, begin, end, operator, before, after, form, line, last, source))

    def text(self, begin, end):
        return self.source[begin:end].decode()

    def text_of(self, cursor):
        return self.text(cursor.extent.start.offset, cursor.extent.end.offset)

    # ---- declarations ----

    def scope(self, cursor):
        for child in children_of(cursor):
            self.declaration(child)

    def declaration(self, cursor):
        if cursor.kind in SCOPES:
            self.scope(cursor)
        elif cursor.kind in FUNCTIONS:
            self.function(cursor)
        elif cursor.kind in (Kind.FIELD_DECL, Kind.VAR_DECL):
            self.variable(cursor)

    def function(self, cursor):
        head = self.text_of(cursor).partition("{")[0]
        if re.search(r"\bconsteval\b", head) or NO_PROMISE.fullmatch(cursor.spelling):
            return
        for child in children_of(cursor):
            if child.kind is Kind.COMPOUND_STMT:
                self.statement(child)
            elif child.kind in (Kind.CXX_TRY_STMT,):
                self.statement(child)
            elif cursor.kind is Kind.CONSTRUCTOR and child.kind.is_expression():
                self.expression(child)

    def variable(self, cursor):
        name = cursor.location.offset
        if "constexpr" in self.text(cursor.extent.start.offset, name).split() or cursor.is_bitfield():
            return
        for child in children_of(cursor):
            if child.kind.is_expression() and child.extent.start.offset > name:
                # Skips the bound of an array: it is part of a type.
                if not self.source[: child.extent.start.offset].rstrip().endswith(b"["):
                    self.expression(child)

    # ---- statements ----

    def statement(self, cursor):
        children = children_of(cursor)
        kind = cursor.kind
        if kind in (Kind.COMPOUND_STMT,):
            for child in children:
                self.step(child)
        elif kind is Kind.DECL_STMT:
            for child in children:
                self.declaration(child)
        elif kind is Kind.IF_STMT:
            self.choice(cursor, children)
        elif kind in LOOPS:
            for child in children[:-1]:
                self.step(child, alone=False)
            self.step(children[-1])
        elif kind is Kind.DO_STMT:
            self.step(children[0])
            self.step(children[1], alone=False)
        elif kind in (Kind.CASE_STMT, Kind.DEFAULT_STMT):
            for child in children[1:] if kind is Kind.CASE_STMT else children:
                self.step(child)
        elif kind is Kind.CXX_CATCH_STMT:
            for child in children:
                if child.kind is Kind.COMPOUND_STMT:
                    self.handler(child)
        else:
            for child in children:
                self.step(child, alone=False)

    def step(self, cursor, alone=True):
        """Visits a statement, or an expression in place of one. `alone`: it can be dropped."""
        if cursor.kind.is_expression() or cursor.kind is Kind.UNEXPOSED_EXPR:
            if alone:
                self.dropping(cursor)
            self.expression(cursor)
        elif cursor.kind is Kind.VAR_DECL:
            self.variable(cursor)
        else:
            self.statement(cursor)

    def choice(self, cursor, children):
        begin = cursor.extent.start.offset
        if re.match(r"if\s+constexpr\b", self.text(begin, begin + 20)):
            children = children[1:]
        elif children and children[0].kind.is_expression():
            self.negation(children[0])
            self.expression(children[0])
            children = children[1:]
        for child in children:
            self.step(child, alone=True)

    def handler(self, body):
        """Visits a catch block. A mutant rethrows the exception at its start."""
        inside = self.text_of(body)[1:-1].strip()
        if inside and not re.fullmatch(r"throw\s*;", one_line(inside)):
            at = body.extent.start.offset + 1
            self.add("exception", at, at, "throw;", Form.INSERTED)
        self.statement(body)

    def dropping(self, cursor):
        begin, end = cursor.extent.start.offset, cursor.extent.end.offset
        rest = re.match(rb"\s*;", self.source[end : end + 40])
        if not rest:
            return
        inner, text = unwrapped(cursor), self.text(begin, end)
        if inner.kind is Kind.CXX_THROW_EXPR:
            if text != "throw":
                self.add("exception", begin, end + rest.end(), "", Form.DROPPED)
        elif text.startswith(("++", "--")) or text.endswith(("++", "--")) or self.middle(inner) in ASSIGNMENTS:
            self.add("update", begin, end + rest.end(), "", Form.DROPPED)
        elif text.endswith(")") and not re.match(r"static_cast<void>|\(void\)|assert\b", text):
            self.add("call", begin, end + rest.end(), "", Form.DROPPED)

    # ---- expressions ----

    def middle(self, cursor):
        """Returns the text between the first and the last operand."""
        children = children_of(cursor)
        if len(children) < 2:
            return ""
        return one_line(self.text(children[0].extent.end.offset, max(children[0].extent.end.offset, children[-1].extent.start.offset)))

    def expression(self, cursor):
        kind = cursor.kind
        begin, end = cursor.extent.start.offset, cursor.extent.end.offset
        if kind in NAMES:
            self.error(cursor, begin, end)
            return
        if kind is Kind.LAMBDA_EXPR:
            for child in children_of(cursor):
                if child.kind is Kind.COMPOUND_STMT:
                    self.statement(child)
            return
        if not (kind.is_expression() or kind is Kind.INIT_LIST_EXPR):
            return
        if kind is Kind.CALL_EXPR:
            self.arguments(cursor, begin, end)
        if kind in (Kind.BINARY_OPERATOR, Kind.CALL_EXPR, Kind.UNEXPOSED_EXPR):
            self.comparison(cursor, begin, end)
        elif kind is Kind.INTEGER_LITERAL:
            self.constant(begin, end)
        elif kind is Kind.CXX_BOOL_LITERAL_EXPR:
            text = self.text(begin, end)
            self.add("flag", begin, end, {"true": "false", "false": "true"}.get(text, text))
        elif kind is Kind.UNARY_OPERATOR and re.match(rb"![^=]", self.source[begin : begin + 2]):  # C++20 may make != of ==
            self.add("compare", begin, end, f"static_cast<bool>({self.text(begin + 1, end).strip()})")
        elif kind is Kind.CONDITIONAL_OPERATOR:
            self.negation(children_of(cursor)[0])
        member = kind is Kind.MEMBER_REF_EXPR
        for child in children_of(cursor):
            # Skips a member's template arguments, which follow its name.
            if not member or child.extent.end.offset <= cursor.location.offset:
                self.expression(child)

    def comparison(self, cursor, begin, end):
        children = children_of(cursor)
        operator = self.middle(cursor)
        changed = COMPARISONS.get(operator) or CONNECTIVES.get(operator, ())
        for other in changed:
            left = self.text(begin, children[0].extent.end.offset)
            right = self.text(children[-1].extent.start.offset, end)
            # && and || bind differently, so their operands get parentheses.
            self.add("compare", begin, end, f"{left} {other} {right}" if operator in COMPARISONS else f"({left}) {other} ({right})")

    def negation(self, condition):
        inner, text = unwrapped(condition), self.text_of(condition)
        # Other functions change such conditions.
        if text.startswith("!") or self.middle(inner) in COMPARISONS or self.middle(inner) in CONNECTIVES:
            return
        begin, end = condition.extent.start.offset, condition.extent.end.offset
        if re.match(rb"\s*[)?]", self.source[end : end + 20]):
            self.add("compare", begin, end, f"!({text})")

    def constant(self, begin, end):
        number = re.fullmatch(r"(0[xX][0-9a-fA-F']+|[0-9][0-9']*)([uUlLzZ]*)", self.text(begin, end))
        if not number:
            return
        digits, suffix = number.groups()
        value = int(digits.replace("'", ""), 0 if digits[:2].lower() == "0x" or digits == "0" else 10)
        self.add("constant", begin, end, f"{value + 1}{suffix}")
        if value:
            self.add("constant", begin, end, f"{value - 1}{suffix}")

    def arguments(self, call, begin, end):
        """Swaps two neighbouring arguments of one type."""
        name = call.spelling or self.text(begin, end).partition("(")[0].rpartition(".")[2]
        if name.startswith("operator") or name in SYMMETRIC | ORDERED:
            return
        arguments = [a for a in call.get_arguments() if a is not None]
        for a, b in zip(arguments, arguments[1:]):
            first, second = self.text_of(a), self.text_of(b)
            if first == second or not first or not second or type_of(a) != type_of(b) or "dependent" in type_of(a):
                continue
            a_begin, a_end, b_begin, b_end = a.extent.start.offset, a.extent.end.offset, b.extent.start.offset, b.extent.end.offset
            if not begin <= a_begin < a_end < b_begin < b_end <= end:
                continue
            swapped = self.text(begin, a_begin) + second + self.text(a_end, b_begin) + first + self.text(b_end, end)
            self.add("swap", begin, end, swapped)

    def error(self, cursor, begin, end):
        """Replaces an error by another one of the same enumeration."""
        declared = cursor.referenced
        if cursor.kind is not Kind.DECL_REF_EXPR or declared is None or declared.kind is not Kind.ENUM_CONSTANT_DECL:
            return
        family = declared.semantic_parent
        if not re.search(r"err(or|c)", family.spelling):
            return
        names = [c.spelling for c in children_of(family) if c.kind is Kind.ENUM_CONSTANT_DECL]
        preferred = [n for n in ("operation_aborted", "timed_out") if n in names and n != declared.spelling]
        other = preferred[0] if preferred else next((n for n in names if n != declared.spelling), None)
        if other:
            self.add("error", begin, end, re.sub(rf"{declared.spelling}$", other, self.text(begin, end)))


def children_of(cursor):
    """Skips the kinds that the bindings do not know: concepts and requirements."""
    return [child for child in cursor.get_children() if child._kind_id in KNOWN]


def unwrapped(cursor):
    """Returns the operand of implicit conversions, which have the same extent."""
    while cursor.kind is Kind.UNEXPOSED_EXPR:
        children = children_of(cursor)
        if len(children) != 1 or children[0].extent != cursor.extent:
            break
        cursor = children[0]
    return cursor


def type_of(cursor):
    return re.sub(r"\bconst\b|&", "", cursor.type.get_canonical().spelling).strip()


def room_files(room):
    """Returns the headers and the sources of a room."""
    headers, sources = [], []
    for top, kind, to in (("include/cogwheel", ".hpp", headers), ("src", ".cpp", sources)):
        for folder, _, names in os.walk(f"{top}/{room}"):
            to += [f"{folder}/{name}" for name in names if name.endswith(kind)]
    return sorted(headers), sorted(sources)


def parse(includes, wanted, flags):
    """Returns the candidates in the files `wanted` of a translation unit that includes `includes`."""
    text = "".join(f'#include "{os.path.abspath(file)}"\n' for file in includes)
    unit = cindex.TranslationUnit.from_source(
        "room.cpp", flags + FLAGS, unsaved_files=[("room.cpp", text)], options=cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
    )
    errors = [d for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
    if errors:
        raise RuntimeError(f"libclang cannot read {', '.join(includes)}: {errors[0].location}: {errors[0].spelling}")
    macros, tops = {}, {}
    for cursor in children_of(unit.cursor):
        name = cursor.location.file and os.path.relpath(cursor.location.file.name)
        if name in wanted:
            if cursor.kind is Kind.MACRO_INSTANTIATION:
                macros.setdefault(name, []).append((cursor.extent.start.offset, cursor.extent.end.offset))
            elif not cursor.kind.is_preprocessing():
                tops.setdefault(name, []).append(cursor)
    found = set()
    for name, cursors in tops.items():
        with open(name, "rb") as file:
            finder = Finder(name, file.read(), macros.get(name, []))
        for cursor in cursors:
            finder.declaration(cursor)
        found |= finder.found
    return found


def candidates(room, flags):
    """Returns the candidates of a room. `flags`: include directories and definitions."""
    headers, sources = room_files(room)
    # Each source is a unit: unnamed namespaces of two sources may share a name.
    units = [(headers, set(headers), flags)] + [([source], {source}, flags) for source in sources]
    with concurrent.futures.ProcessPoolExecutor() as pool:
        return set().union(*pool.map(parse, *zip(*units)))
