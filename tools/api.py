#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""Lists what users can name: docs/api.txt. With --check, says whether that file is as the headers are.

A name at namespace scope counts once, whatever its overloads. Apart from names it counts members, enumerators and further overloads.
Names in `detail` and in `mistake` (the types of deleted functions, which only compilers show) are not for users.
"""

import collections
import glob
import os
import subprocess
import sys
import textwrap

try:
    from clang import cindex
except ModuleNotFoundError:
    sys.exit("api.py: needs python3-clang of Debian, and Debian's Python: run tools/api.py, not another Python")
from clang.cindex import AccessSpecifier, CursorKind as Kind

FILE = "docs/api.txt"
HIDDEN = {"detail", "mistake"}
CLASSES = {Kind.CLASS_DECL: "class", Kind.STRUCT_DECL: "class", Kind.CLASS_TEMPLATE: "class", Kind.UNION_DECL: "class",
           Kind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION: "class"}  # fmt: skip
FUNCTIONS = {Kind.FUNCTION_DECL, Kind.CXX_METHOD, Kind.CONSTRUCTOR, Kind.DESTRUCTOR, Kind.CONVERSION_FUNCTION, Kind.FUNCTION_TEMPLATE}
OTHERS = {Kind.TYPEDEF_DECL: "type", Kind.TYPE_ALIAS_DECL: "type", Kind.TYPE_ALIAS_TEMPLATE_DECL: "type", Kind.CONCEPT_DECL: "concept",
          Kind.VAR_DECL: "constant", Kind.UNEXPOSED_DECL: "constant", Kind.NAMESPACE_ALIAS: "namespace", Kind.ENUM_DECL: "enum"}  # fmt: skip
MEMBERS = FUNCTIONS | set(CLASSES) | set(OTHERS) | {Kind.FIELD_DECL}


class Name:
    def __init__(self, kind):
        self.kind, self.overloads, self.members = kind, set(), collections.Counter()

    def line(self, name):
        members = [m + (f" x{n}" if n > 1 else "") for m, n in sorted(self.members.items())]
        overloads = f" x{len(self.overloads)}" if len(self.overloads) > 1 else ""
        text = f"{self.kind} {name}{overloads}" + (": " + ", ".join(members) if members else "")
        return textwrap.fill(text, 132, subsequent_indent="        ", break_on_hyphens=False)


def deleted(cursor):
    return cursor.is_deleted_method() or [t.spelling for t in cursor.get_tokens()][-2:] == ["=", "delete"]


def spelling(cursor):
    if cursor.kind is Kind.CONSTRUCTOR or (cursor.kind is Kind.FUNCTION_TEMPLATE and cursor.spelling.startswith(cursor.semantic_parent.spelling + "<")):
        return "(constructor)"
    return cursor.spelling.partition("<")[0] if cursor.kind is Kind.FUNCTION_TEMPLATE and "operator" not in cursor.spelling else cursor.spelling


class Api:
    def __init__(self, root):
        self.root = root
        self.rooms = collections.defaultdict(dict)
        self.all = {}

    def scope(self, cursor, prefix=""):
        for child in cursor.get_children():
            file = child.location.file and os.path.relpath(child.location.file.name, self.root)
            if file is None or not file.startswith("include/cogwheel/"):
                continue
            if child.kind is Kind.NAMESPACE:
                if child.spelling not in HIDDEN:
                    self.scope(child, "testing::" if child.spelling == "testing" else prefix)
            else:
                self.name(child, file.split("/")[2], prefix)

    def name(self, cursor, room, prefix):
        kind = CLASSES.get(cursor.kind) or OTHERS.get(cursor.kind) or ("function" if cursor.kind in FUNCTIONS else None)
        if kind is None or cursor.semantic_parent.kind is not Kind.NAMESPACE or not cursor.spelling or deleted(cursor):
            return
        if cursor.spelling.startswith("<deduction guide"):
            return
        full = prefix + spelling(cursor)
        if full not in self.all:  # an overload set is listed in one room
            self.all[full] = self.rooms[room][full] = Name(kind)
        name = self.all[full]
        if kind == "function":
            name.overloads.add(cursor.get_usr())
        elif cursor.is_definition() and kind == "class":
            self.members(cursor, name)
        elif kind == "enum":
            name.members.update(c.spelling for c in cursor.get_children() if c.kind is Kind.ENUM_CONSTANT_DECL)

    def members(self, cursor, name):
        for child in cursor.get_children():
            if child.kind is Kind.FRIEND_DECL:
                for friend in child.get_children():
                    if friend.kind in FUNCTIONS and friend.is_definition():
                        name.members[spelling(friend)] += 1
            elif child.kind in MEMBERS and child.access_specifier is not AccessSpecifier.PRIVATE:
                if child.spelling and "(unnamed" not in child.spelling and not deleted(child) and not child.spelling.startswith("<deduction guide"):
                    name.members[spelling(child)] += 1

    def text(self):
        names = sum(len(room) for room in self.rooms.values())
        more = sum(n.members.total() + max(0, len(n.overloads) - 1) for room in self.rooms.values() for n in room.values())
        lines = [f"{names} names, {more} members and further overloads. Written by tools/api.py from the public headers.", ""]
        for room, found in sorted(self.rooms.items()):
            members = sum(n.members.total() + max(0, len(n.overloads) - 1) for n in found.values())
            lines += [f"{room}: {len(found)} names, {members} members and further overloads", ""]
            lines += [f"    {n.line(name)}" for name, n in sorted(found.items())] + [""]
        return "\n".join(lines).rstrip() + "\n"


def main():
    root = os.getcwd() if len(sys.argv) < 2 or sys.argv[1].startswith("--") else os.path.abspath(sys.argv[1])
    headers = sorted(f for f in glob.glob(f"{root}/include/cogwheel/**/*.hpp", recursive=True) if "/detail/" not in f and not f.endswith("/src.hpp"))
    if not cindex.Config.loaded:
        cindex.Config.set_library_file("libclang-19.so.1")
    resources = subprocess.run(["clang-19", "-print-resource-dir"], capture_output=True, text=True, check=True).stdout.strip()
    flags = ["-std=c++20", f"-I{root}/include", "-DASIO_STANDALONE", "-DASIO_HAS_CO_AWAIT=1", "-DASIO_HAS_STD_COROUTINE=1", "-w", "-resource-dir", resources]
    text = "".join(f'#include "{h}"\n' for h in headers)
    unit = cindex.TranslationUnit.from_source("api.cpp", flags, unsaved_files=[("api.cpp", text)])
    errors = [d for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
    if errors:
        sys.exit(f"api.py: {errors[0].location.file}:{errors[0].location.line}: {errors[0].spelling}")
    api = Api(root)
    for cursor in unit.cursor.get_children():
        if cursor.kind is Kind.NAMESPACE and cursor.spelling == "cogwheel":
            api.scope(cursor)
    if "--check" in sys.argv:
        with open(FILE, encoding="utf-8") as file:
            if file.read() != api.text():
                sys.exit(f"{FILE} is not as the headers are. See whether the change to the surface is meant, then: ./dev lint --fix")
    elif "--write" in sys.argv:
        with open(FILE, "w", encoding="utf-8") as file:
            file.write(api.text())
    else:
        print(api.text(), end="")


if __name__ == "__main__":
    main()
