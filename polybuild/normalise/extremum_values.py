"""Searches for the place of a minimum or maximum, which compare with the element there, with its value kept.

::

    for (i = 1; i < n; i++)                 double value = 0;
      if (x[i] > x[at])                     if (1 < n)
        at = i;                 ->            value = x[at];
                                            for (i = 1; i < n; i++)
                                              if (x[i] > value) {
                                                value = x[i];
                                                at = i;
                                              }

The element is the same as long as the place is, as the loop does nothing else. Data choose no element then,
and the minimum or maximum is a reduction that knows its place. Of a place that is set right before the loop
(``at = 0;``) the element there is known, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from pycparser import c_ast

from polybuild.c.conversions import holds
from polybuild.c.mathematics import MAGNITUDES
from polybuild.c.symbols import StorageClass, Symbol
from polybuild.c.syntax_tree import changed_operand, duplicate, key, mapped, names_in, replaced, walk
from polybuild.c.types import IntegerType
from polybuild.normalise.kept_values import KeptValues
from polybuild.source.model import Region
from polybuild.values import dataclass

_COMPARISONS = frozenset({"<", "<=", ">", ">="})
_MAGNITUDES = frozenset({"abs", "labs", "llabs", "fabsl", *MAGNITUDES.values()})


def keep_extremum_values(region: Region) -> Region:
    """``region`` with a variable for the value of each minimum or maximum whose place is searched for.

    Itself where there are none.
    """
    nodes = [each for statement in region.statements for each in walk(statement)]
    if not any(isinstance(each, c_ast.For) for each in nodes):
        return region
    rewriting = _SearchRewriting(region)
    statements = tuple(rewriting.in_order(region.statements))
    return replace(region, statements=statements) if rewriting.kept.found else region


@dataclass(frozen=True, slots=True)
class _PlaceSearch:
    """A loop that sets ``place`` to ``taken`` where ``value`` compares with what it is at the place."""

    place: c_ast.ID
    taken: c_ast.Node
    value: c_ast.Node
    at_place: c_ast.Node
    condition: c_ast.BinaryOp


class _SearchRewriting:
    """Rewrites the loops of one region."""

    def __init__(self, region: Region) -> None:
        self.kept = KeptValues(region)

    def in_order(self, nodes: Iterable[c_ast.Node]) -> Iterator[c_ast.Node]:
        """What becomes of statements that follow each other."""
        before: c_ast.Node | None = None
        for node in nodes:
            yield self._rewritten(node, before)
            before = node

    def _rewritten(self, node: c_ast.Node, before: c_ast.Node | None = None) -> c_ast.Node:
        """What becomes of the statement ``node``, which comes right after the one ``before``."""
        search = self._search(node)
        if search is None:
            if isinstance(node, c_ast.Compound):
                return c_ast.Compound(list(self.in_order(node.block_items or ())), node.coord)
            statement = isinstance(node, c_ast.For | c_ast.While | c_ast.DoWhile | c_ast.If)
            return mapped(node, self._rewritten) if statement else node
        kind, runs = self.kept.number_type(search.value), first_test(node)
        if runs is None or kind is None:
            return node
        coord, name = node.coord, self.kept.unused(f"{search.place.name}_value")
        start = _value_set(before, search.place.name)
        at_start = duplicate(search.at_place)
        if start is not None:
            at_start = replaced(at_start, key(c_ast.ID(search.place.name)), start)
        condition = duplicate(search.condition)
        side = "right" if search.condition.right is search.at_place else "left"
        setattr(condition, side, c_ast.ID(name, coord))
        update = [
            c_ast.Assignment("=", c_ast.ID(name, coord), duplicate(search.value), coord),
            c_ast.Assignment("=", search.place, search.taken, coord),
        ]
        body = c_ast.If(condition, c_ast.Compound(update, coord), None, coord)
        return self.kept.around(node, body, (name, kind), (runs, at_start))

    def _search(self, node: c_ast.Node) -> _PlaceSearch | None:
        """The search that the loop ``node`` is; None if it is none, or does more."""
        if not isinstance(node, c_ast.For):
            return None
        condition, update = _update(_only(node.stmt))
        if not isinstance(condition, c_ast.BinaryOp) or condition.op not in _COMPARISONS or update is None:
            return None
        place, taken = update.lvalue, update.rvalue
        if not isinstance(place, c_ast.ID) or not self._holds(place.name, taken):
            return None
        around = [each for each in (node.init, node.cond, node.next, taken) if each is not None]
        if any(place.name in names_in(each) for each in around) or not all(map(_is_pure, (condition, taken))):
            return None
        for at_place, value in ((condition.right, condition.left), (condition.left, condition.right)):
            moved = replaced(at_place, key(c_ast.ID(place.name)), taken)
            reads = place.name in names_in(at_place) and place.name not in names_in(value)
            if reads and key(moved) == key(value):
                return _PlaceSearch(place, taken, value, at_place, condition)
        return None

    def _holds(self, name: str, taken: c_ast.Node) -> bool:
        """Whether ``name`` is an integer of the function alone that has each value of ``taken``."""
        symbol = self.kept.symbols.get(name)
        kind, value = symbol, self.kept.type_of(taken)
        if isinstance(symbol, Symbol):
            kind = symbol.type
            own = symbol.storage in {StorageClass.LOCAL, StorageClass.PARAMETER}
            if not own or symbol.address_taken or symbol.volatile:
                return False
        return isinstance(kind, IntegerType) and isinstance(value, IntegerType) and holds(kind, value)


def _update(node: c_ast.Node) -> tuple[c_ast.Node | None, c_ast.Assignment | None]:
    """The condition and the assignment that ``node`` is: ``if (c) a = b`` or ``a = c ? b : a``."""
    if isinstance(node, c_ast.If) and node.iffalse is None:
        condition, update = node.cond, _only(node.iftrue)
    elif isinstance(node, c_ast.Assignment) and isinstance(node.rvalue, c_ast.TernaryOp):
        chosen = node.rvalue
        if key(chosen.iffalse) != key(node.lvalue):
            return None, None
        condition, update = chosen.cond, c_ast.Assignment(node.op, node.lvalue, chosen.iftrue, node.coord)
    else:
        return None, None
    plain = isinstance(update, c_ast.Assignment) and update.op == "="
    return (condition, update) if plain else (None, None)


def _value_set(node: c_ast.Node | None, name: str) -> c_ast.Node | None:
    """What the statement ``node`` sets ``name`` to, if that is a number or a name; else None."""
    value = None
    if isinstance(node, c_ast.Decl) and node.name == name:
        value = node.init
    elif isinstance(node, c_ast.Assignment) and node.op == "=" and key(node.lvalue) == key(c_ast.ID(name)):
        value = node.rvalue
    return value if isinstance(value, c_ast.Constant | c_ast.ID) and name not in names_in(value) else None


def _only(node: c_ast.Node) -> c_ast.Node:
    """The one statement of a block."""
    while isinstance(node, c_ast.Compound) and len(node.block_items or ()) == 1:
        node = node.block_items[0]
    return node


def _is_pure(node: c_ast.Node) -> bool:
    """Whether ``node`` has no effects, and calls nothing but functions that give a magnitude."""
    for each in walk(node):
        if changed_operand(each) is not None:
            return False
        called = isinstance(each, c_ast.FuncCall) and isinstance(each.name, c_ast.ID)
        if isinstance(each, c_ast.FuncCall) and not (called and each.name.name in _MAGNITUDES):
            return False
    return True


def first_test(loop: c_ast.For) -> c_ast.Node | None:
    """Whether ``loop`` runs at all: its test of the first value of its counter; None: not understood."""
    init = loop.init
    if isinstance(init, c_ast.DeclList) and len(init.decls) == 1:
        name, value = init.decls[0].name, init.decls[0].init
    elif isinstance(init, c_ast.Assignment) and init.op == "=" and isinstance(init.lvalue, c_ast.ID):
        name, value = init.lvalue.name, init.rvalue
    else:
        return None
    if value is None or loop.cond is None or not _is_pure(value) or not _is_pure(loop.cond):
        return None
    return replaced(duplicate(loop.cond), key(c_ast.ID(name)), value)
