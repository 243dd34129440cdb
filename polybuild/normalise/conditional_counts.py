"""Counts under conditions on data, as counts that always happen, of nothing where they do not hold.

::

    if (x[i] > 0) c++;             ->   c += x[i] > 0 ? 1 : 0;
    if (x[i] < 0) { x[i] = 0; e += 2; }   ->   e += x[i] < 0 ? 2 : 0; if (x[i] < 0) x[i] = 0;

These are reductions, which threads and lanes share. Integers that only the function knows are counted:
nobody sees that they are stored more often. What stands behind a jump is not: it may be skipped.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from itertools import takewhile

from pycparser import c_ast

from polybuild.c.basic_types import INT
from polybuild.c.conversions import limits
from polybuild.c.literals import integer_value
from polybuild.c.symbols import StorageClass, Symbol
from polybuild.c.syntax_tree import duplicate, mapped, names_in, walk
from polybuild.c.synthetic import number
from polybuild.c.types import IntegerType
from polybuild.normalise.structure import has_side_effect, reads_memory
from polybuild.source.blocks import outward_jumps
from polybuild.source.model import Region

_STEPS = {"++": 1, "p++": 1, "--": -1, "p--": -1}


def count_always(region: Region) -> Region:
    """``region`` with its counts under conditions on data rewritten; itself where there are none."""
    nodes = [each for statement in region.statements for each in walk(statement)]
    if not any(isinstance(each, c_ast.If) and reads_memory(each.cond) for each in nodes):
        return region
    declared = {each.name for each in nodes if isinstance(each, c_ast.Decl)}
    own = {name: each for name, each in region.visible.symbols.items() if name not in declared}
    statements = tuple(_rewritten(each, own) for each in region.statements)
    return dataclasses.replace(region, statements=statements)


def _rewritten(node: c_ast.Node, symbols: Mapping[str, Symbol]) -> c_ast.Node:
    if isinstance(node, c_ast.If) and node.iffalse is None and reads_memory(node.cond):
        return _without_counts(node, symbols)
    if not any(isinstance(each, c_ast.If) for each in walk(node)):
        return node
    return mapped(node, lambda each: _rewritten(each, symbols))


def _without_counts(node: c_ast.If, symbols: Mapping[str, Symbol]) -> c_ast.Node:
    """``node`` with what it counts in front of it."""
    block = isinstance(node.iftrue, c_ast.Compound)
    items = list(node.iftrue.block_items or ()) if block else [node.iftrue]
    counts = {
        position: counted
        for position, each in enumerate(takewhile(_falls_through, items))
        if (counted := _counted(each, symbols)) is not None
    }
    mentions = [name for each in (node.cond, *items) for name in names_in(each)]
    if (
        not counts
        or has_side_effect(node.cond)
        or any(mentions.count(name) > 1 for name, _ in counts.values())
    ):
        return mapped(node, lambda each: _rewritten(each, symbols))
    found: list[c_ast.Node] = []
    for name, amount in counts.values():
        chosen = c_ast.TernaryOp(duplicate(node.cond), number(amount), number(0), node.coord)
        found.append(c_ast.Assignment("+=", c_ast.ID(name, node.coord), chosen, node.coord))
    rest = [_rewritten(each, symbols) for position, each in enumerate(items) if position not in counts]
    if rest:
        found.append(c_ast.If(node.cond, c_ast.Compound(rest, node.coord), None, node.coord))
    return found[0] if len(found) == 1 else c_ast.Compound(found, node.coord)


def _counted(node: c_ast.Node, symbols: Mapping[str, Symbol]) -> tuple[str, int] | None:
    """The variable that ``node`` counts in, and what it adds."""
    if isinstance(node, c_ast.UnaryOp) and node.op in _STEPS:
        target, amount = node.expr, _STEPS[node.op]
    elif isinstance(node, c_ast.Assignment) and node.op in {"+=", "-="}:
        value = _int_literal(node.rvalue)
        if value is None:
            return None
        target, amount = node.lvalue, value if node.op == "+=" else -value
    else:
        return None
    symbol = symbols.get(target.name) if isinstance(target, c_ast.ID) else None
    return (symbol.name, amount) if symbol is not None and _is_own_integer(symbol) else None


def _int_literal(node: c_ast.Node) -> int | None:
    """The value of ``node`` if it is a number of the type ``int`` as it is written."""
    if not isinstance(node, c_ast.Constant) or node.type != "int":
        return None
    value = integer_value(node.value)
    return value if value is not None and value <= limits(INT)[1] else None


def _falls_through(node: c_ast.Node) -> bool:
    """Whether what follows ``node`` always runs after it, and after nothing else."""
    jumps = any(isinstance(each, c_ast.Goto | c_ast.Label) for each in walk(node))
    return not jumps and next(outward_jumps(node), None) is None


def _is_own_integer(symbol: Symbol) -> bool:
    own = symbol.storage in {StorageClass.LOCAL, StorageClass.PARAMETER} and not symbol.address_taken
    plain = not symbol.volatile and not symbol.thread_local
    return own and plain and isinstance(symbol.type, IntegerType) and symbol.type.width > 1
