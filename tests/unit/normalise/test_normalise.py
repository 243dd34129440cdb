"""The examples of the passes' docstrings, and that trees of the user are not changed."""

from __future__ import annotations

import re

import pytest
from plain_regions import region_of
from pycparser import c_ast

from polybuild.c.syntax_tree import walk
from polybuild.codegen.c.bodies import BodyPrinter, c_text
from polybuild.effort import FOLLOWED_STATEMENTS
from polybuild.normalise import normalise
from polybuild.normalise.statements import StatementNormaliser


class Printer(BodyPrinter):
    def __init__(self):
        super().__init__({}, lambda _: None)

    def visit_EntryValue(self, node):  # noqa: N802 - pycparser's naming
        return f"{node.name}_0"

    def visit_ExactCast(self, node):  # noqa: N802
        return self.visit(node.expr)

    def visit_CountedLoop(self, node):  # noqa: N802
        return self.visit_For(node)

    def visit_LastValue(self, node):  # noqa: N802
        return f"{self.visit(node.lvalue)} := {self.visit(node.rvalue)}"


def text(statements):
    printer = Printer()
    whole = re.sub(r"\s+", " ", " ".join(printer.visit(each) for each in statements)).strip()
    return re.sub(r"(?<!\w)\((\w+)\)", r"\1", whole)


def region(body, parameters, after=""):
    return region_of(f"void f({parameters}) {{\n#pragma scop\n{body}\n#pragma endscop\n{after}\n}}\n")


CASES = {
    "where rows start in turn": (
        """int r = 1, s; for (int c = 0; c < 2; c++) { s = r;
        for (int i = 0; i < n; i++) { a[s] = 0; s = 3 - s; } r = 3 - r; }""",
        "for (int c = 0; c < 2; c++) { for (int i = 0; i < n; i++) { a[(i + c % 2) % 2 + 1] = 0; } }",
        "",
    ),
    "numbers that start at any one": (
        "int s; for (int i = 0; i < n; i++) { s = k; for (int j = 0; j < n; j++) { a[s] = 0; s = 3 - s; } }",
        "int s for (int i = 0; i < n; i++) { s = k; for (int j = 0; j < n; j++) { a[s] = 0; s = 3 - s; } }",
        "",
    ),
    "forward substitution": (
        "for (int i = 0; i < n; i++) { int m = 2*i + 1; a[m] = 0; }",
        "for (int i = 0; i < n; i++) { a[2 * i + 1] = 0; }",
        "",
    ),
    "induction": (
        "for (int i = 0; i < n; i++) { a[k] = 0; k += 2; }",
        "for (int i = 0; i < n; i++) { a[k_0 + 2 * i] = 0; } k := k_0 + 2 * ((n > 0) ? n : 0)",
        "a[0] = k;",
    ),
    "induction that is dead": (
        "for (int i = 3; i < n; i++) { a[k] = 0; k--; }",
        "for (int i = 3; i < n; i++) { a[k_0 - i + 3] = 0; }",
        "",
    ),
    "walking pointer": (
        "while (a < b) *a++ = 0;",
        "for (long long a_index = 0; (a_index + (a_0 - b)) < 0; a_index += 1) { a_0[a_index] = 0; }",
        "",
    ),
    "row pointer": (
        "for (int i = 0; i < n; i++) { double *r = a + i*n; r[2] = *b; }",
        "for (int i = 0; i < n; i++) { a[(i * n) + 2] = b[0]; }",
        "",
    ),
    "counting loop": (
        "while (n--) a[n] = 0;",
        "for (int n = n_0; n; n += -1) { a[n - 1] = 0; }",
        "",
    ),
    "counting from a product": (
        "for (int i = 0; i < n; i++) for (int p = i * k; p < (i + 1) * k; p++) a[p] = b[p - i * k];",
        (
            "for (int i = 0; i < n; i++) { for (long long p_index = 0; p_index < k; p_index += 1)"
            " { a[(i * k) + p_index] = b[((i * k) + p_index) - i * k]; } }"
        ),
        "",
    ),
    "counting from a row": (
        "for (int i = 0; i < n; i++) { int p = i * 64, q = 0; for (; q < 64; p++, q++) a[p] = b[q]; }",
        ("for (int i = 0; i < n; i++) { for (int q = 0; q < 64; q += 1) { a[64 * i + q] = b[q]; } }"),
        "",
    ),
    "counting to the end of a row": (
        (
            "for (int i = 0; i < n; i++) { int p = i * 8, q = p + 8;"
            " for (int m = n; p < q; p++, m++) a[p] = b[m]; }"
        ),
        (
            "for (int i = 0; i < n; i++) { for (long long p_index = 0; p_index < 8; p_index += 1)"
            " { a[8 * i + p_index] = b[n + p_index]; } }"
        ),
        "",
    ),
    "counting down to a product": (
        "int p = n * k - 1; while (p >= (n - 2) * k) a[p--] = 0;",
        (
            "for (long long p_index = 0; p_index >= (-(2 * k) + 1); p_index += -1)"
            " { a[(n * k) + p_index - 1] = 0; }"
        ),
        "",
    ),
    "value of the iteration before": (
        "int p = n - 1; for (int i = 0; i < n; i++) { a[i] = b[p]; p = i; }",
        "for (int i = 0; i < n; i++) { a[i] = b[(i == 0) ? (n - 1) : (i - 1)]; }",
        "",
    ),
    "flag of the first iteration": (
        "int p = 1; for (int i = k; i < n; i++) if (p) { a[i] = 0; p = 0; } else a[i] = 1;",
        "for (int i = k; i < n; i++) { if (i == k) { a[i] = 0; } else { a[i] = 1; } }",
        "",
    ),
    "flag after the first iteration": (
        "int p = 0; for (int i = k; i < n; i++) { if (!p) { a[i] = 0; p = 1; } a[i + p] = 1; }",
        (
            "for (int i = k; i < n; i++) { if (!(i != k)) { a[i] = 0; }"
            " a[i + ((!(i != k)) ? 1 : (i != k))] = 1; }"
        ),
        "",
    ),
    "value that data set": (
        "int p = 0; for (int i = 0; i < n; i++) { a[p] = 0; p = b[i] > 0; }",
        "int p = 0 for (int i = 0; i < n; i++) { a[p] = 0; p = b[i] > 0; }",
        "",
    ),
    "test before the body": (
        "for (int i = n; i-- > 0;) a[i] = 0;",
        "for (int i = n - 1; (i + 1) > 0; i += -1) { a[i] = 0; }",
        "",
    ),
    "variables of one name": (
        "{ int m = n + 1; a[m] = 0; } { int m = n + 2; b[m] = 0; }",
        "{ a[n + 1] = 0; } { b[n + 2] = 0; }",
        "",
    ),
    "walk down a column": (
        "double *p = &c[0][k]; for (int i = 0; i < n; i++) { *p = 0; p += n; }",
        "for (int i = 0; i < n; i++) { c[i][k] = 0; }",
        "",
    ),
    "row before": ("double *p = &c[k][1]; p[-n] = 0;", "c[k - 1][1] = 0", ""),
    "rest of a row": ("double *p = &c[k][n]; p[-1] = 0;", "c[k][n - 1] = 0", ""),
    "loop that runs at least once": (
        "do a[n] = 0; while (++n < 9);",
        "for (int n = n_0; (n == n_0) || ((n - 1 + 1) < 9); n += 1) { a[n] = 0; }",
        "",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_normal_form(name):
    body, expected, after = CASES[name]
    given = region(body, "int n, int k, double *a, double *b, double c[n][n]", after)
    before = [c_text(each) for each in given.statements]
    assert text(normalise(given).statements) == expected
    assert [c_text(each) for each in given.statements] == before


def test_a_region_without_such_variables_is_not_touched():
    given = region("for (int i = 0; i < n; i++) a[i] = b[i];", "int n, double *a, double *b")
    assert normalise(given) is given


def test_excluded_variables_stay_as_they_are():
    given = region("k = 2; a[k] = 0;", "int k, double *a")
    assert normalise(given, {"k"}) is given
    assert text(normalise(given).statements) == "a[2] = 0"


def test_nodes_keep_the_lines_of_the_user():
    given = region("int k = n - 1;\na[k] =\n  k;", "int n, double *a")
    (assignment,) = normalise(given).statements
    assert isinstance(assignment, c_ast.Assignment)
    assert assignment.lvalue.coord.line == 4
    assert assignment.rvalue.coord.line == 5


def test_effects_of_conditions_stay():
    given = region("int k; if (f(n)) k = 1; else k = 2; a[0] = 3;", "int n, double *a")
    assert text(normalise(given).statements) == "f(n) a[0] = 3"


def test_a_variable_that_keeps_its_value_leaves_the_statements_as_they_are():
    loops = "for (int i = 0; i < n; i++) { a[i] = s; s = s; }\nfor (int j = 0; j < n; j++) a[j] += 1;"
    found = normalise(region(loops, "int n, int *a, int s, int *out", after="*out = s;"))
    assert all(isinstance(each, c_ast.Node) for each in found.statements)
    assert text(found.statements).count("for (") == 2


def test_deep_nests_are_walked_through_no_longer_than_they_are_worth(monkeypatch):
    """Each loop walks through its body twice: a nest of 14 loops came to its statements 16,384 times."""
    walked = 0
    statement = StatementNormaliser.statement

    def counted(normaliser, node):
        nonlocal walked
        walked += 1
        return statement(normaliser, node)

    monkeypatch.setattr(StatementNormaliser, "statement", counted)
    loops = "".join(f"for (int i{each} = 0; i{each} < n; i{each}++) {{ k += 2; " for each in range(14))
    region = region_of(
        f"void f(int n, int k, int *x) {{\n#pragma scop\n{loops} x[k] = 1; {'}' * 14}\n#pragma endscop\n}}"
    )
    nodes = sum(1 for each in region.statements for _ in walk(each))
    normalise(region)
    assert walked < FOLLOWED_STATEMENTS + 2 * nodes


def test_what_loops_change_is_found_in_one_walk_for_each_loop_around(monkeypatch):
    """Loops were walked through twice for each loop around them, where one walk tells what they change."""
    walked = 0
    statement = StatementNormaliser.statement

    def counted(normaliser, node):
        nonlocal walked
        walked += 1
        return statement(normaliser, node)

    monkeypatch.setattr(StatementNormaliser, "statement", counted)
    loops = "".join(f"for (int i{each} = 0; i{each} < n; i{each}++) {{ k += 2; " for each in range(8))
    given = region(f"{loops} x[k] = 1; {'}' * 8}", "int n, int k, int *x")
    assert "x[k" in text(normalise(given).statements)
    assert walked < 8 * 8 * 3


def test_last_values_come_in_the_order_of_their_names():
    """They came in the order of a set, which differs from run to run, and so did the text."""
    names = ("w", "f", "k", "b", "p", "c")
    kept = []
    for _ in range(20):  # a set of them is in the order of their addresses
        given = region(
            f"for (int i = 0; i < x[n]; i++) x[i] = {' + '.join(f'a[{each}++]' for each in names)};",
            f"int n, int *x, int *a, int *out, {', '.join(f'int {each}' for each in names)}",
            after=" ".join(f"out[{place}] = {each};" for place, each in enumerate(names)),
        )
        kept.append(normalise(given))
        (loop,) = (each for each in kept[-1].statements if isinstance(each, c_ast.For))
        _, *lasting = loop.stmt.block_items
        assert [each.lvalue.name for each in lasting] == sorted(names)
