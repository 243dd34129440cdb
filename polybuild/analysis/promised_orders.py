"""Sums that may be computed in any order, as clauses ``reduction`` of OpenMP say.

::

    #pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < n; i++)
      s += x[i];                                  <- may be added to s in any order

A statement that updates a variable of a clause is known by its place, which passes keep that rewrite it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pycparser import c_ast

from polybuild.c.syntax_tree import walk
from polybuild.patterns import pattern

_OF_OPENMP = pattern(r"omp\b(?!.*\b(?:task|taskloop|inscan)\b)")
_CLAUSE = pattern(r"\breduction\s*\(\s*(?:default\s*,)?\s*(?P<operator>[-+*&|^]|max|min)\s*:")
_NAME = pattern(r"\s*(?P<name>[A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*(?P<then>[,)])")
_OPERATORS = {"-": ("+",), "max": ("max", "fmax"), "min": ("min", "fmin")}

Update = tuple[str, int, int]
"""File, line and column of an expression that changes a variable."""


def promised_updates(statements: Sequence[c_ast.Node]) -> frozenset[tuple[Update, str]]:
    """The updates in ``statements`` that clauses let happen in any order, each with its operator.

    Operators are those of ``analysis.reductions``. A clause counts for the variable that it names, not for
    others of that name which are declared under it; and where two expressions have one place, as in macros
    over several lines, for none of them.
    """
    changes = [each for statement in statements for each in walk(statement) if _target(each) is not None]
    places = Counter(map(_place, changes))
    found: set[tuple[Update, str]] = set()
    for directive, statement in _directives(statements):
        declared = {each.name for each in walk(statement) if isinstance(each, c_ast.Decl)}
        named = [(name, operator) for name, operator in _clauses(directive) if name not in declared]
        for each in walk(statement):
            place = _place(each) if _target(each) is not None else None
            if place is not None and places[place] == 1:
                found |= {(place, operator) for name, operator in named if name == _target(each)}
    return frozenset(found)


def updates_of(statement: c_ast.Node) -> Iterator[Update]:
    """The places of the expressions in ``statement`` that change something."""
    yield from (place for each in walk(statement) if _changes(each) and (place := _place(each)) is not None)


def _directives(statements: Sequence[c_ast.Node]) -> Iterator[tuple[str, c_ast.Node]]:
    """The pragmas in ``statements``, each with the statement after it."""
    nodes = [each for statement in statements for each in walk(statement)]
    blocks = [each.block_items or () for each in nodes if isinstance(each, c_ast.Compound)]
    for items in (statements, *blocks):
        before: list[str] = []
        for each in items:
            if isinstance(each, c_ast.Pragma):
                before.append(" ".join((each.string or "").split()))
                continue
            yield from ((text, each) for text in before if _OF_OPENMP.match(text))
            before = []


def _clauses(directive: str) -> Iterator[tuple[str, str]]:
    """The variables that clauses of ``directive`` name, with each operator that is meant."""
    for clause in _CLAUSE.finditer(directive):
        position = clause.end()
        while (item := _NAME.match(directive, position)) is not None:
            written = clause["operator"]
            yield from ((item["name"], operator) for operator in _OPERATORS.get(written, (written,)))
            position = item.end()
            if item["then"] == ")":
                break


def _changes(node: c_ast.Node) -> bool:
    is_step = isinstance(node, c_ast.UnaryOp) and node.op in {"++", "--", "p++", "p--"}
    return is_step or isinstance(node, c_ast.Assignment)


def _target(node: c_ast.Node) -> str | None:
    """The name of the variable of which ``node`` changes the value or an element."""
    if not _changes(node):
        return None
    changed = node.lvalue if isinstance(node, c_ast.Assignment) else node.expr
    while isinstance(changed, c_ast.ArrayRef):
        changed = changed.name
    return str(changed.name) if isinstance(changed, c_ast.ID) else None


def _place(node: c_ast.Node) -> Update | None:
    coord = node.coord
    return None if coord is None else (str(coord.file), int(coord.line), int(coord.column or 0))
