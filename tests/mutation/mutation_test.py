# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""Tests the parts of ./dev mutate --random. Those of finder.py are skipped without libclang."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from planted import Bug, Fault  # noqa: E402
from mutants import Equivalents, Form, Mutant, draw, one_line  # noqa: E402
from schemata import blamed, weave  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def mutant(source, before, after, form=Form.EXPRESSION, operator="compare", file="src/wheel/a.cpp"):
    begin = source.index(before)
    line = source.count("\n", 0, begin) + 1
    last = line + before.count("\n")
    return Mutant(file, begin, begin + len(before), operator, one_line(before), after, form, line, last, source.split("\n")[line - 1])


def woven(source, *mutants):
    return weave(source.encode(), list(enumerate(mutants, 1))).decode()


class PlantedBugs(unittest.TestCase):
    TEXT = ["test: wheel/order_test", "in: wheel/a.hpp", "-first();", "-second();", "+second();", "in: wheel/a.hpp", "-third();", "+third(1);"]
    FILES = ["include/cogwheel/wheel/a.hpp", "include/cogwheel/asio/a.hpp"]

    def changed(self, source):
        return Bug("swap", self.TEXT).changed(self.FILES, lambda file: source)

    def test_all_places_are_changed_whatever_their_indentation(self):
        changed = self.changed("{\n    first();\n        second();\n  third();\n}\n")
        self.assertEqual(changed, {self.FILES[0]: "{\n    second();\n  third(1);\n}\n"})

    def test_text_that_stands_there_twice_is_refused(self):
        with self.assertRaisesRegex(Fault, r"2 times: third"):
            self.changed("first();\nsecond();\nthird(); third();\n")

    def test_text_that_is_gone_is_refused(self):
        with self.assertRaisesRegex(Fault, r"0 times: first"):
            self.changed("third();\n")

    def test_bug_without_a_test_is_refused(self):
        with self.assertRaisesRegex(Fault, "needs `test:"):
            Bug("swap", self.TEXT[1:])


class Weaving(unittest.TestCase):
    def test_expression_has_both_forms_behind_its_switch(self):
        source = "return a < b;"
        self.assertEqual(woven(source, mutant(source, "a < b", "a <= b")), "return (::cogwheel_mutant(1) ? (a <= b) : (a < b));")

    def test_statement_is_left_out_within_a_block_of_its_own(self):
        source = "if (x) f(); else g();"
        changed = woven(source, mutant(source, "f();", "", Form.DROPPED))
        self.assertEqual(changed, "if (x) { if (!::cogwheel_mutant(1)) f(); } else g();")

    def test_handler_is_left_at_its_begin(self):
        source = "catch (...) { undo(); throw; }"
        at = source.index("{") + 1
        one = Mutant("a.cpp", at, at, "exception", "", "throw;", Form.INSERTED, 1, 1, source)
        self.assertEqual(woven(source, one), "catch (...) {if (::cogwheel_mutant(1)) throw;  undo(); throw; }")

    def test_inner_mutants_live_in_the_original_branch_only(self):
        source = "f(a == 1, b);"
        outer = mutant(source, "f(a == 1, b);", "", Form.DROPPED)
        inner = mutant(source, "a == 1", "a != 1")
        constant = mutant(source, "1", "2", operator="constant")
        self.assertEqual(
            woven(source, inner, outer, constant),
            "{ if (!::cogwheel_mutant(2)) f((::cogwheel_mutant(1) ? (a != 1) : (a == (::cogwheel_mutant(3) ? (2) : (1)))), b); }",
        )

    def test_two_of_one_place_are_one_in_the_other(self):
        source = "a < b"
        changed = woven(source, mutant(source, "a < b", "a <= b"), mutant(source, "a < b", "a >= b"))
        self.assertEqual(changed, "(::cogwheel_mutant(1) ? (a <= b) : ((::cogwheel_mutant(2) ? (a >= b) : (a < b))))")

    def test_lines_keep_their_numbers(self):
        source = "x;\nf(a,\n  b);\ny;\n"
        one = mutant(source, "f(a,\n  b)", "f(b, a)")
        self.assertEqual(woven(source, one).count("\n"), source.count("\n"))
        self.assertEqual(woven(source, one).split("\n")[3], "y;")

    def test_overlap_without_containing_is_refused(self):
        source = "a + b + c"
        with self.assertRaises(ValueError):
            woven(source, mutant(source, "a + b", "1"), mutant(source, "b + c", "2"))

    def test_no_mutants_no_change(self):
        self.assertEqual(weave(b"int x = 1;\n", []), b"int x = 1;\n")

    @unittest.skipUnless(shutil.which("g++"), "g++, which builds the mutants, is not installed")
    def test_woven_program_is_switched_by_the_environment(self):
        source = "constexpr int f(int a, int b) { return a < b ? 1 : 2; }\nstatic_assert(f(1, 1) == 2);\nint main(int n, char**) { return f(n, 1); }\n"
        text = woven(source, mutant(source, "a < b", "a <= b"), mutant(source, "1", "7", operator="constant"))
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/a.cpp", "w") as f:
                f.write(text)
            command = ["g++", "-std=c++20", "-include", f"{HERE}/switch.hpp", f"{folder}/a.cpp", "-o", f"{folder}/a"]
            subprocess.run(command, check=True)
            with open(f"{folder}/reached", "wb") as f:
                f.write(bytes(4))

            def status(number, **more):
                return subprocess.run([f"{folder}/a"], env=dict(os.environ, COGWHEEL_MUTANT=str(number), **more)).returncode

            self.assertEqual([status(n) for n in (0, 1, 2, 3)], [2, 1, 2, 2])
            self.assertEqual(status(0, COGWHEEL_MUTANTS_REACHED=f"{folder}/reached"), 2)
            with open(f"{folder}/reached", "rb") as f:
                self.assertEqual(f.read(), b"\0\1\0\0")  # the constant is in a branch that does not run


class Blame(unittest.TestCase):
    source = "a == b;\nf(c, d);\n"
    numbered = [(1, mutant(source, "a == b", "a != b")), (2, mutant(source, "f(c, d)", "f(d, c)", operator="swap"))]

    def test_line_of_the_error(self):
        self.assertEqual(blamed("src/wheel/a.cpp:2:3: error: no match", self.numbered), {2})

    def test_error_before_what_only_leads_to_it(self):
        log = "In file included from x.cpp:\nsrc/wheel/a.cpp:1:1:   required from here\nsrc/wheel/a.cpp:2:9: error: no\n"
        self.assertEqual(blamed(log, self.numbered), {2})

    def test_instantiation_if_the_error_is_elsewhere(self):
        log = "src/wheel/a.cpp:1:1:   required from here\n/usr/include/vector:9:9: error: no\n"
        self.assertEqual(blamed(log, self.numbered), {1})

    def test_nothing_known(self):
        self.assertEqual(blamed("ld: undefined reference\n", self.numbered), set())


def fifty(first_line=""):
    source = first_line + "\n".join(f"x{i} < y{i};" for i in range(50))
    return [mutant(source, f"x{i} < y{i}", f"x{i} <= y{i}") for i in range(50)]


class Drawing(unittest.TestCase):
    all = fifty()

    def test_same_seed_same_order_other_seed_another(self):
        self.assertEqual(draw(self.all, 1), draw(list(reversed(self.all)), 1))
        self.assertNotEqual(draw(self.all, 1), draw(self.all, 2))
        self.assertEqual(sorted(draw(self.all, 1)), sorted(self.all))

    def test_one_less_leaves_the_order_of_the_others(self):
        order = draw(self.all, 1)
        without = [m for m in self.all if m != order[3]]
        self.assertEqual(draw(without, 1), order[:3] + order[4:])

    def test_lines_added_before_leave_the_order(self):
        again = draw(fifty("// one more\n"), 1)
        self.assertEqual([m.key for m in again], [m.key for m in draw(self.all, 1)])

    def test_same_change_twice_is_drawn_twice(self):
        source = "a < b;\na < b;\n"
        first = mutant(source, "a < b", "a <= b")
        second = Mutant(first.file, 7, 12, first.operator, first.before, first.after, first.form, 2, 2, "a < b;")
        self.assertEqual(len(draw([first, second], 1)), 2)


class Known(unittest.TestCase):
    def test_entry_survives_a_shift_of_lines_and_a_comment(self):
        one = mutant("    if (a < b) f(); // why\n", "a < b", "a <= b")
        known = Equivalents(Equivalents.block(one, "a is never b") + "\n" + Equivalents.block(mutant("c < d;", "c < d", "c >= d"), "no"))
        self.assertTrue(known.knows(mutant("\n\nif (a < b) f();\n", "a < b", "a <= b")))
        self.assertFalse(known.knows(mutant("if (a < b) f();\n", "a < b", "a >= b")))
        self.assertEqual(list(known.reasons.values()), ["a is never b", "no"])
        self.assertEqual([key[1] for key in known.stale()], ["c < d;"])

    def test_entry_without_a_reason_is_refused(self):
        with self.assertRaises(ValueError):
            Equivalents("file: a\nline: b\nchange: compare: c -> d\n")

    def test_committed_list_can_be_read_and_gives_reasons(self):
        with open(f"{HERE}/equivalents.txt") as f:
            known = Equivalents(f.read())
        self.assertTrue(known.reasons)
        for key, reason in known.reasons.items():
            self.assertGreater(len(reason.split()), 3, key)
            self.assertTrue(os.path.exists(f"{HERE}/../../{key[0]}"), key)


class OneLine(unittest.TestCase):
    def test_comments_go_and_strings_stay(self):
        self.assertEqual(one_line('f("// no", // yes\n  b) /* and */ ;'), 'f("// no", b) ;')
        self.assertEqual(one_line("a; // it's\n b;"), "a; b;")


try:
    import finder
except ImportError:
    finder = None


@unittest.skipUnless(finder, "libclang's bindings are not installed: ./dev mutate --random installs them")
class Finding(unittest.TestCase):
    def changes(self, source):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/a.hpp", "w") as f:
                f.write(source)
            before = os.getcwd()
            os.chdir(folder)
            try:
                found = finder.parse(["a.hpp"], {"a.hpp"}, [])
            finally:
                os.chdir(before)
        for m in found:
            self.assertEqual(m.source, source.split("\n")[m.line - 1])
        # All mutants found can be woven in together.
        weave(source.encode(), list(enumerate(sorted(found), 1)))
        return {f"{m.operator}: {m.change}" for m in found}

    def test_each_operator_in_a_function(self):
        source = """
enum class my_errc { full, empty };
struct counter { int n = 3; bool on = false; void touch(); my_errc use(int a, int b, bool c); };
void count(int, int);
inline my_errc counter::use(int a, int b, bool c) {
    if (a < b && !c) ++n;
    if (c) touch();
    try { count(a, b); } catch (...) { on = true; throw; }
    if (n == 7) throw 1.0;
    return my_errc::full;
}
"""
        self.assertEqual(
            self.changes(source),
            {"constant: 3 -> 4", "constant: 3 -> 2", "flag: false -> true", "compare: a < b -> a <= b", "compare: a < b -> a >= b",
             "compare: a < b && !c -> (a < b) || (!c)", "compare: !c -> static_cast<bool>(c)", "update: ++n; -> nothing",
             "compare: c -> !(c)", "call: touch(); -> nothing", "swap: count(a, b) -> count(b, a)", "call: count(a, b); -> nothing",
             "exception: nothing -> throw;", "update: on = true; -> nothing", "flag: true -> false", "compare: n == 7 -> n != 7",
             "constant: 7 -> 8", "constant: 7 -> 6", "exception: throw 1.0; -> nothing", "error: my_errc::full -> my_errc::empty"},
        )  # fmt: skip

    def test_templates_are_read_as_they_are_written(self):
        source = """
template <class T> struct box {
    T value;
    template <class F> bool visit(F f, T other) { f(other, value); return value != other; }
};
"""
        self.assertEqual(
            self.changes(source), {"swap: f(other, value) -> f(value, other)", "call: f(other, value); -> nothing", "compare: value != other -> value == other"}
        )

    def test_what_the_compiler_computes_and_what_checks_stay(self):
        source = """
#define assert(x) static_cast<void>(x)
template <int N> struct fixed { int places[5]; static_assert(N < 9); int bits : 3; };
enum { first = 1 };
constexpr int limit = 7;
template <class T> requires(sizeof(T) > 2) int f(T t, int k) noexcept(sizeof(T) == 4) {
    static constexpr int local = 5;
    assert(k > 0);
    fixed<8> all;
    static_cast<void>(all);
    if constexpr (sizeof(T) == 8) return k;
    switch (k) { case 6: return local; default: break; }
    return static_cast<int>(t);
}
"""
        self.assertEqual(self.changes(source), set())


if __name__ == "__main__":
    unittest.main()
