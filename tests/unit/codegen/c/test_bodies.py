"""Statements as C text, their accesses and counters replaced."""

from __future__ import annotations

import pytest
from pycparser import c_ast, c_parser

from polybuild.c.syntax_tree import walk
from polybuild.codegen.c.bodies import BodyPrinter, c_text, element
from polybuild.codegen.c.expressions import ADDITIVE, ATOM, TERNARY, ZERO, Operand


def parsed(statement):
    tree = c_parser.CParser().parse(f"void f(void) {{ {statement} }}")
    return tree.ext[0].body.block_items[0]


def printed(statement, **counters):
    return BodyPrinter({}, counters.get).statement(parsed(statement))


# every one must come back as it is
SAME = [
    "a = b + c * d;", "a = (b + c) * d;", "a = b - (c - d);", "a = (b, c);", "a = b ? c : d;",
    "a = (b ? c : d) ? e : f;",
    "a += -b;", "a = - -b;", "a = !(b && c) || d;", "a = (double)b / c;", "a = (double)(b / c);", "*p++ = 1;",
    "(*p)++;", "a = sizeof(double);", "a = s.x + t->y.z;", "a = f(b, (c, d));", "a = 'x' + \"y\"[0];",
    "a = 1.5e-3f * 0x1Fu;", "a = b << 2 | c & 7;", "a = &b[3] - c;", "a = (s + 1)->x;", "a = b == (c == d);",
]  # fmt: skip


@pytest.mark.parametrize("statement", SAME)
def test_the_meaning_stays(statement):
    again = printed(statement)
    assert meaning(parsed(again)) == meaning(parsed(statement))


def meaning(node):
    """A tree as nested tuples, without places."""
    plain = tuple(getattr(node, name) for name in node.attr_names)
    return (type(node).__name__, plain, *(meaning(child) for _, child in node.children()))


def test_compilers_want_parentheses_around_mixed_operators():
    assert printed("a = b << 2 | c & 7;") == "a = (b << 2) | (c & 7);"
    assert printed("a = b && c || d;") == "a = (b && c) || d;"


def test_counters_are_replaced_members_are_not():
    assert printed("a[i] = s.i + p->i + i * 2;", i="(int)c0") == "a[(int)c0] = s.i + p->i + (int)c0 * 2;"


def test_a_counter_is_not_compared_with_itself():
    assert printed("a = i == j;", i="c0", j="c0") == "a = 1;"
    assert printed("a = i > j;", i="c0", j="c0") == "a = 0;"
    assert printed("a = i == j;", i="c0", j="c1") == "a = c0 == c1;"
    assert "a = i == c0;" in printed("{ int i = 3; a = i == j; }", i="c0", j="c0")
    assert printed("a = b == b;") == "a = b == b;"


def test_names_of_inner_blocks_are_no_counters():
    text = printed("{ a = i; { int i = 3; b = i; } c = i; for (int i = 0; i < 2; i++) d = i; e = i; }", i="X")
    flat = " ".join(text.split())
    for part in ("a = X;", "int i = 3;", "b = i;", "c = X;", "i < 2", "d = i;", "e = X;"):
        assert part in flat


def test_accesses_are_replaced_whole():
    statement = parsed("a[i] = a[i] + b;")
    accesses = {
        id(each): f"<{n}>" for n, each in enumerate(walk(statement)) if isinstance(each, c_ast.ArrayRef)
    }
    assert len(accesses) == 2
    text = BodyPrinter(accesses, lambda _name: None).statement(statement)
    assert sorted(part for part in text.split() if part.startswith("<")) == sorted(accesses.values())
    assert "a[" not in text


def test_a_block_stays_a_block():
    text = printed("if (a) { b = 1; } else { b = 2; }")
    assert meaning(parsed(text)) == meaning(parsed("if (a) { b = 1; } else { b = 2; }"))


def test_pragmas_inside_are_dropped():
    text = printed("{\n#pragma omp parallel for\nfor (int i = 0; i < 3; i++) a = i;\n}")
    assert "pragma" not in text


@pytest.fixture
def array(model):
    def find(body, parameters, top=""):
        (found,) = {id(each): each for each in model(body, parameters, top=top).scop.arrays}.values()
        return found

    return find


OUTER, INNER, LAST = (Operand(name, ATOM) for name in "ijk")
NEXT = Operand("i + 1", ADDITIVE)
CHOICE = Operand("n > 0 ? i : j", TERNARY)


def test_elements(array):
    plain = array("for (int i = 0; i < n; i++) A[i][0] = 1;", "int n, double A[restrict n][n]")
    assert element(plain, [OUTER, ZERO]) == "A[i][0]"
    member = array("for (int i = 0; i < n; i++) p[i].x = 1;", "int n, struct p *p", "struct p { double x; };")
    assert element(member, [NEXT]) == "p[i + 1].x"


def test_elements_of_a_view(array):
    view = array(
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i * m + j] = 1;", "int n, int m, double *a"
    )
    sizes = [lambda: "m"]
    assert view.flat == 2
    assert element(view, [OUTER, INNER], sizes) == "a[i * m + j]"
    assert element(view, [NEXT, NEXT], sizes) == "a[(i + 1) * m + i + 1]"
    assert element(view, [OUTER, CHOICE], sizes) == "a[i * m + (n > 0 ? i : j)]"
    assert element(view, [OUTER, ZERO], sizes) == "a[i * m]"


def test_a_size_is_printed_only_where_it_is_written(array):
    view = array(
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i * m + j] = 1;", "int n, int m, double *a"
    )
    printed_sizes = []
    sizes = [lambda: printed_sizes.append("m") or "m"]
    assert element(view, [ZERO, INNER], sizes) == "a[j]"
    assert element(view, [ZERO, ZERO], sizes) == "a[0]"
    assert not printed_sizes
    assert element(view, [OUTER, INNER], sizes) == "a[i * m + j]"
    assert printed_sizes == ["m"]


def test_elements_of_a_view_of_three_dimensions(array):
    view = array(
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < p; k++)"
        " a[(i * m + j) * p + k] = 1;",
        "int n, int m, int p, double *a",
    )
    sizes = [lambda: "m", lambda: "p"]
    assert element(view, [OUTER, INNER, LAST], sizes) == "a[(i * m + j) * p + k]"
    assert element(view, [OUTER, ZERO, LAST], sizes) == "a[i * m * p + k]"
    assert element(view, [ZERO, NEXT, ZERO], sizes) == "a[(i + 1) * p]"


def test_a_tree_as_it_stands():
    assert c_text(parsed("a = b[i] + 1;")) == "a = b[i] + 1"
