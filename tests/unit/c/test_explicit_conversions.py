"""Arithmetic with its conversions written out."""

from __future__ import annotations

import pytest
from pycparser import c_ast, c_parser

from polybuild.c.basic_types import INT, DataModel, basic_type
from polybuild.c.explicit_conversions import with_conversions
from polybuild.c.types import FloatingType
from polybuild.codegen.c.bodies import c_text

KINDS = {
    "f": "float",
    "d": "double",
    "i": "int",
    "u": "unsigned",
    "l": "long",
    "h": "short",
    "q": "long double",
}


def kind_of(name):
    return basic_type(KINDS[name].split(), DataModel())


def converted(text, kind):
    body = c_parser.CParser().parse(f"void g(void) {{ {text}; }}").ext[0].body.block_items[0]
    operands: dict[int, object] = {}

    def collect(node: c_ast.Node) -> None:
        if isinstance(node, c_ast.ID) and node.name in KINDS:
            operands[id(node)] = kind_of(node.name)
        for _, child in node.children():
            collect(child)

    collect(body)
    return body, with_conversions(body, operands, kind_of(kind))


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("d += f * f", "d", "d += (double) (f * f)"),
        ("d += (double) f * f", "d", "d += ((double) f) * ((double) f)"),
        ("d = d + f", "d", "d = d + ((double) f)"),
        ("l += i * i", "l", "l += (long) (i * i)"),
        ("i += h * h", "i", "i += ((int) h) * ((int) h)"),
        ("i += -h", "i", "i += -((int) h)"),
        ("l += i * u", "l", "l += (long) (((unsigned int) i) * u)"),
        ("d += 2 * d", "d", "d += ((double) 2) * d"),
        ("f = i / f", "f", "f = ((float) i) / f"),
        ("d -= f * 0.5f", "d", "d -= (double) (f * 0.5f)"),
    ],
)
def test_conversions_stand_where_c_has_them(text, kind, expected):
    _, found = converted(text, kind)
    assert c_text(found.body) == expected


@pytest.mark.parametrize(("text", "kind"), [("d += d * d", "d"), ("f = -f * 2.0f", "f"), ("i += i * i", "i")])
def test_what_needs_none_stays_the_same(text, kind):
    body, found = converted(text, kind)
    assert found.body is body
    assert found.types[id(body.rvalue)] == kind_of(kind)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("f += d", "f"),  # wider than what lanes are counted in
        ("d += q", "d"),
        ("h += i", "h"),  # computed as int
        ("i += i / i", "i"),  # no vectors divide integers
        ("i += i % i", "i"),
        ("u += l", "u"),
        ("i += d", "i"),
        ("d += sin(d)", "d"),
        ("d += d > 0", "d"),
        ("i += f", "i"),  # added as float
        ("d += 1.0L", "d"),
    ],
)
def test_anything_else_is_refused(text, kind):
    assert converted(text, kind)[1] is None


def test_types_are_told():
    body, found = converted("d += f * f", "d")
    (product,) = (each for each in (found.body.rvalue.expr,))
    assert product is body.rvalue
    assert isinstance(found.types[id(product)], FloatingType)
    assert found.types[id(product)].size == 4
    assert found.types[id(found.body.rvalue)].size == 8
    assert INT not in found.types.values()
