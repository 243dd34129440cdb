"""Sums over the few neighbours of a grid point, in loops, as one expression.

::

    for (t ...) {                                      for (t ...) {
      for (i ...) for (j ...) {                          for (i ...) for (j ...) {
        double s = 0;                                      double s = ((((double)0 + w[0] * u[i + -1][j + -1])
        for (x = -1; x <= 1; x++)                                     + w[1] * u[i + -1][j + 0])
          for (y = -1; y <= 1; y++)             ->                    + w[2] * u[i + -1][j + 1]) ...;
            s += w[3 * (x + 1) + y + 1]                    v[i][j] = s;
                 * u[i + x][j + y];                      }
        v[i][j] = s;                                     ...
      }
      ...

That is full unrolling and forward substitution. The operations, their order and their types stay the same.
Only grids that the steps of a loop around change are meant: there each loop over neighbours is a dimension
more in all dependences over time, along which nothing is ever tiled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce

from pycparser import c_ast

from polybuild.c.basic_types import LONG_LONG
from polybuild.c.declarations import INTEGER_OPERATIONS
from polybuild.c.syntax_tree import (
    COMPARISONS,
    TRUTHS,
    changed_operand,
    has_side_effect,
    key,
    mapped,
    names_in,
    replaced,
    walk,
)
from polybuild.c.synthetic import number, type_name
from polybuild.c.types import FloatingType, IntegerType, Type
from polybuild.effort import NEIGHBOUR_TERMS
from polybuild.normalise.computing_functions import renamed
from polybuild.normalise.constant_steps import constant_steps, relative_steps
from polybuild.normalise.constant_values import constant_value
from polybuild.normalise.kept_values import KeptValues
from polybuild.normalise.sums import sum_of
from polybuild.normalise.upward_exposed import read_after
from polybuild.source.model import Region
from polybuild.values import dataclass

_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)
_ABSOLUTE = frozenset({"abs", "labs", "llabs"})


def join_neighbour_sums(region: Region) -> Region:
    """``region`` with such sums as expressions; itself where there are none."""
    sums = _NeighbourSums(region)
    statements = tuple(sums.visit(each, ()) for each in region.statements)
    return replace(region, statements=statements) if sums.found else region


@dataclass(frozen=True, slots=True)
class _Term:
    """``name operator= value``; without an operator ``name = value``, where the value has the name in it."""

    name: str
    operator: str
    value: c_ast.Node


class _NeighbourSums:
    """The sums of one region: ``found`` tells whether there are any."""

    def __init__(self, region: Region) -> None:
        self._scope = region.visible.scope
        self._values = KeptValues(region)
        self._ambiguous = ambiguous_names(region)
        self._kept = _read_behind_loops(region)
        self.found = False

    def visit(self, node: c_ast.Node, around: Sequence[c_ast.Node]) -> c_ast.Node:
        """What becomes of ``node`` inside the loops ``around``, of which not all have a few steps."""
        if isinstance(node, c_ast.Compound):
            return self._block(node, around)
        if isinstance(node, _LOOPS):
            if isinstance(node, c_ast.For) and self._copies(node) is not None:
                return mapped(node, lambda each: self.visit(each, around))
            around = (*around, node)
        return mapped(node, lambda each: self.visit(each, around))

    def _block(self, block: c_ast.Compound, around: Sequence[c_ast.Node]) -> c_ast.Compound:
        items: list[c_ast.Node] = []
        for each in block.block_items or ():
            terms = self._terms_of(each, around)
            if terms:
                self.found = True
                for name in dict.fromkeys(term.name for term in terms):
                    self._add_up(items, [term for term in terms if term.name == name])
            else:
                items.append(self.visit(each, around))
        return c_ast.Compound(items, block.coord)

    def _terms_of(self, node: c_ast.Node, around: Sequence[c_ast.Node]) -> list[_Term]:
        """The terms that a loop over neighbours adds to variables, in their order; none if it is none."""
        if len(around) < 2 or not isinstance(node, c_ast.For):
            return []
        if not (_reads_changed(node, around[0]) or _leaves_out_steps(node)):
            return []
        terms = self._terms(node)
        if not terms or len(terms) > NEIGHBOUR_TERMS:
            return []
        names = {each.name for each in terms}
        if any(names.intersection(names_in(each.value)) - {each.name} for each in terms):
            return []
        if not self._ambiguous.isdisjoint(names.union(*(names_in(each.value) for each in terms))):
            return []
        return terms if all(self._is_number(each) for each in names) else []

    def _terms(self, node: c_ast.Node) -> list[_Term] | None:
        """What ``node``, with numbers for counters, adds to variables; None if it does anything else."""
        if isinstance(node, c_ast.For):
            copies = self._copies(node)
            return None if copies is None else self._all([_folded(each) for each in copies])
        if isinstance(node, c_ast.Compound):
            return self._all(self._without_names(node.block_items or ()))
        if isinstance(node, c_ast.If):
            if has_side_effect(node.cond):
                return None
            condition = self._decided(node.cond)
            holds = constant_value(condition)
            chosen = node.iftrue if holds else node.iffalse
            if holds is None:
                return self._chosen_terms(node, condition)
            return [] if chosen is None else self._terms(chosen)
        if isinstance(node, c_ast.EmptyStatement):
            return []
        term = _term(node)
        return None if term is None else [term]

    def _copies(self, loop: c_ast.For) -> list[c_ast.Node] | None:
        """The bodies of the steps of ``loop``; None if these are not a few, or its counter is read later."""
        steps = constant_steps(loop, self._scope) or relative_steps(loop, self._scope, self._difference)
        if steps is None or (steps.after is not None and steps.name in self._kept):
            return None
        return steps.copies(loop)

    def _difference(self, one: c_ast.Node, other: c_ast.Node) -> int | None:
        """By what number ``one`` is more than ``other``; None if that is none."""
        sums = (sum_of(each, LONG_LONG, self._values.type_of) for each in (one, other))
        kinds = [self._values.type_of(each) for each in (one, other)]
        if not all(isinstance(each, IntegerType) and each.signed for each in kinds):
            return None
        return next(sums).plus(next(sums), -1).number

    def _decided(self, node: c_ast.Node) -> c_ast.Node:
        """The condition ``node`` without parts that numbers decide, of which it may be what is left."""
        if isinstance(node, c_ast.UnaryOp) and node.op == "!":
            inner = self._decided(node.expr)
            return node if inner is node.expr else c_ast.UnaryOp("!", inner, node.coord)
        if not isinstance(node, c_ast.BinaryOp):
            return node
        if node.op in COMPARISONS and constant_value(node) is None:
            way = self._difference(node.left, node.right)
            return node if way is None else number(int(INTEGER_OPERATIONS[node.op](way, 0)))
        if node.op not in {"&&", "||"}:
            return node
        left, right = self._decided(node.left), self._decided(node.right)
        for one, other in ((left, right), (right, left)):
            holds = constant_value(one)
            if holds is not None:
                return other if bool(holds) == (node.op == "&&") else number(int(bool(holds)))
        return c_ast.BinaryOp(node.op, left, right, node.coord)

    def _chosen_terms(self, node: c_ast.If, condition: c_ast.Node) -> list[_Term] | None:
        """What ``node`` adds where its ``condition`` holds; zero elsewhere, which changes no integer."""
        yes, no = ([] if each is None else self._terms(each) for each in (node.iftrue, node.iffalse))
        if yes is None or no is None or len(yes) + len(no) != 1:
            return None
        if no:
            condition = c_ast.UnaryOp("!", condition, node.coord)
        (term,) = yes or no
        if term.operator not in {"+", "-"} or term.name in names_in(condition):
            return None
        kinds = [self._values.type_of(each) for each in (c_ast.ID(term.name), term.value)]
        if not all(isinstance(each, IntegerType) for each in kinds):
            return None
        if constant_value(term.value) == 1:  # compilers find narrow vectors for what is compared
            truth = isinstance(condition, c_ast.BinaryOp) and condition.op in TRUTHS
            value = condition if truth else c_ast.BinaryOp("!=", condition, number(0), node.coord)
        else:
            value = c_ast.TernaryOp(condition, term.value, number(0), node.coord)
        return [replace(term, value=value)]

    def _all(self, nodes: Sequence[c_ast.Node]) -> list[_Term] | None:
        terms: list[_Term] = []
        for each in nodes:
            found = self._terms(each)
            if found is None or len(terms) + len(found) > NEIGHBOUR_TERMS:
                return None
            terms += found
        return terms

    def _without_names(self, items: Sequence[c_ast.Node]) -> list[c_ast.Node]:
        """``items`` with values in place of names that they declare first, as of the neighbour's place."""
        left = list(items)
        while left and isinstance(left[0], c_ast.Decl) and left[0].init is not None:
            named, left = left[0], left[1:]
            kind = self._values.type_of(c_ast.ID(named.name))
            known = named.name not in self._ambiguous
            same = known and isinstance(kind, IntegerType) and self._values.type_of(named.init) == kind
            changed = {getattr(changed_operand(each), "name", None) for one in left for each in walk(one)}
            if (
                not same
                or has_side_effect(named.init)
                or changed.intersection([named.name, *names_in(named.init)])
            ):
                return list(items)
            left = [renamed(each, {named.name: named.init}) for each in left]
        return left

    def _is_number(self, name: str) -> bool:
        return isinstance(self._values.type_of(c_ast.ID(name)), IntegerType | FloatingType)

    def _add_up(self, items: list[c_ast.Node], terms: Sequence[_Term]) -> None:
        """Add ``terms`` to what the last of ``items`` sets their variable to, or to what it holds."""
        name = c_ast.ID(terms[0].name)
        kind = self._values.type_of(name)
        last = items[-1] if items else None
        if isinstance(last, c_ast.Decl) and last.name == name.name and last.init is not None:
            new = mapped(last, lambda each: each)
            new.init = reduce(self._added, terms, self._converted(last.init, kind))
            items[-1] = new
        elif last is not None and _sets(last, name.name):
            value = reduce(self._added, terms, self._converted(last.rvalue, kind))
            items[-1] = c_ast.Assignment("=", name, value, last.coord)
        else:
            items.append(c_ast.Assignment("=", name, reduce(self._added, terms, name), terms[0].value.coord))

    def _added(self, value: c_ast.Node, term: _Term) -> c_ast.Node:
        """What the variable of ``term`` holds after it, where it held ``value``."""
        if term.operator:
            new: c_ast.Node = c_ast.BinaryOp(term.operator, value, term.value, term.value.coord)
        else:
            new = replaced(term.value, key(c_ast.ID(term.name)), value)
        return self._converted(new, self._values.type_of(c_ast.ID(term.name)))

    def _converted(self, value: c_ast.Node, kind: Type) -> c_ast.Node:
        """``value`` as a variable of type ``kind`` keeps it, rounded before anything is added to it."""
        rounded = isinstance(value, c_ast.BinaryOp) and value.op in {"*", "/"}
        if self._values.type_of(value) == kind and not rounded:
            return value
        assert isinstance(kind, IntegerType | FloatingType)  # noqa: S101 - only numbers are added up
        return c_ast.Cast(type_name(kind), value, value.coord)


def _read_behind_loops(region: Region) -> frozenset[str]:
    """The names that are read, or may be, other than in loops which count with them from a start."""
    live = read_after(region.function, region.index) if region.index >= 0 else frozenset[str]()
    inside = (name for each in region.statements for name in _outside_own_loops(each, frozenset()))
    return live.union(region.visible.lvalues, inside)


def _outside_own_loops(node: c_ast.Node, counted: frozenset[str]) -> Iterator[str]:
    """The names in ``node`` but for those that loops count with, in these loops; some are ``counted``."""
    if isinstance(node, c_ast.For) and isinstance(node.init, c_ast.Assignment):
        name = getattr(node.init.lvalue, "name", "")
        if name in counted:  # a loop around counts with it, too, and goes on from there
            yield name
        yield from _outside_own_loops(node.init.rvalue, counted)
        counted = counted | {name}
        for each in (node.cond, node.next, node.stmt):
            if each is not None:
                yield from _outside_own_loops(each, counted)
        return
    if isinstance(node, c_ast.ID) and node.name not in counted:
        yield node.name
    for each in node:
        yield from _outside_own_loops(each, counted)


def ambiguous_names(region: Region) -> set[str]:
    """The names that are declared with several types: what type each has is another question for each use."""
    nodes = [each for statement in region.statements for each in walk(statement)]
    types: dict[str, set[object]] = {}
    for each in nodes:
        if isinstance(each, c_ast.Decl):
            types.setdefault(each.name, set()).add(region.visible.scope.resolve(each))
    for name, symbol in region.visible.symbols.items():
        if name in types:
            types[name].add(symbol.type)
    return {name for name, found in types.items() if len(found) > 1}


def _term(node: c_ast.Node) -> _Term | None:
    """The term that the assignment ``node`` adds to a variable; None if it is none."""
    if isinstance(node, c_ast.UnaryOp) and node.op[-2:] in {"++", "--"} and isinstance(node.expr, c_ast.ID):
        return _Term(str(node.expr.name), node.op[-1], number(1))
    if not isinstance(node, c_ast.Assignment) or not isinstance(node.lvalue, c_ast.ID):
        return None
    name, value = str(node.lvalue.name), node.rvalue
    if has_side_effect(value):
        return None
    own = sum(each == name for each in names_in(value))
    if node.op != "=":
        return None if own else _Term(name, node.op[:-1], value)
    sums = isinstance(value, c_ast.BinaryOp) and key(c_ast.ID(name)) in {key(value.left), key(value.right)}
    return _Term(name, "", value) if own == 1 and sums else None


def _sets(node: c_ast.Node, name: str) -> bool:
    """Whether ``node`` sets the variable ``name`` to something else."""
    return (
        isinstance(node, c_ast.Assignment)
        and node.op == "="
        and isinstance(node.lvalue, c_ast.ID)
        and bool(node.lvalue.name == name)
        and name not in names_in(node.rvalue)
        and not has_side_effect(node.rvalue)
    )


def _reads_changed(loop: c_ast.For, around: c_ast.Node) -> bool:
    """Whether steps of ``loop`` read neighbours in arrays or pointers that the loop ``around`` changes."""
    changed = {root_of(target) for each in walk(around) if (target := changed_operand(each)) is not None}
    changed.discard(None)
    own, places = _names_of(loop)
    elements = (each for each in walk(loop.stmt) if isinstance(each, c_ast.ArrayRef))
    return any(root_of(each) in changed and _is_beside(each, own, places) for each in elements)


def _leaves_out_steps(loop: c_ast.For) -> bool:
    """Whether conditions on what ``loop`` and those inside count leave out steps, as at the point itself.

    What such steps touch is no box, nor is what they depend on.
    """
    nodes = list(walk(loop))
    loops = [each for each in nodes if isinstance(each, c_ast.For)]
    counters = {getattr(changed_operand(each.next), "name", None) for each in loops if each.next is not None}
    starts = {name for each in loops if each.init is not None for name in names_in(each.init)}
    terms = (term for each in nodes if isinstance(each, c_ast.If) for term in _conjuncts(each.cond))
    called = {getattr(each.name, "name", None) for each in nodes if isinstance(each, c_ast.FuncCall)}
    found = (set(names_in(each)) - _ABSOLUTE for each in terms)
    return called <= _ABSOLUTE and any(each & counters and each <= counters | starts for each in found)


def _conjuncts(node: c_ast.Node) -> list[c_ast.Node]:
    """The conditions that all have to hold for ``node`` to hold."""
    if isinstance(node, c_ast.BinaryOp) and node.op == "&&":
        return [*_conjuncts(node.left), *_conjuncts(node.right)]
    return [node]


def _names_of(loop: c_ast.For) -> tuple[set[str], set[str]]:
    """What ``loop`` and loops inside count with or declare; of these, the names of places of neighbours."""
    declared = [each for each in walk(loop) if isinstance(each, c_ast.Decl)]
    counted = {each.name for each in map(changed_operand, walk(loop)) if isinstance(each, c_ast.ID)}
    own = counted.union(each.name for each in declared)
    places = {each.name for each in declared if each.init is not None and _adds_to_place(each.init, own)}
    return own, places


def _is_beside(element: c_ast.Node, own: set[str], places: set[str]) -> bool:
    """Whether a subscript of ``element`` is the place of a point and what the loops' ``own`` names add to it.

    Places that these tell alone are those of a row that is read as a whole: it is best left in loops.
    """
    while isinstance(element, c_ast.ArrayRef):
        if _adds_to_place(element.subscript, own) or not places.isdisjoint(names_in(element.subscript)):
            return True
        element = element.name
    return False


def _adds_to_place(node: c_ast.Node, own: set[str]) -> bool:
    """Whether ``node`` has a sum of a variable of a point and what a loop over its neighbours counts."""
    sums = (each for each in walk(node) if isinstance(each, c_ast.BinaryOp) and each.op in {"+", "-"})
    for each in sums:
        terms = _terms_in(each)
        variables = {str(term.name) for term in terms if isinstance(term, c_ast.ID)}
        if variables.difference(own) and not all(own.isdisjoint(names_in(term)) for term in terms):
            return True
    return False


def _terms_in(node: c_ast.Node) -> list[c_ast.Node]:
    """What ``node`` adds up."""
    if isinstance(node, c_ast.BinaryOp) and node.op in {"+", "-"}:
        return [*_terms_in(node.left), *_terms_in(node.right)]
    return [node]


def root_of(node: c_ast.Node) -> str | None:
    """The variable of which the lvalue ``node`` is an element, or what it points to; None for others."""
    while isinstance(node, c_ast.ArrayRef):
        node = node.name
    if isinstance(node, c_ast.UnaryOp) and node.op == "*":
        return root_of(node.expr)
    return str(node.name) if isinstance(node, c_ast.ID) else None


def _folded(node: c_ast.Node) -> c_ast.Node:
    """``node`` with numbers for absolute values of numbers, and for subscripts of numbers alone."""
    new = mapped(node, _folded)
    if isinstance(new, c_ast.FuncCall) and isinstance(new.name, c_ast.ID) and new.name.name in _ABSOLUTE:
        (argument,) = new.args.exprs
        value = constant_value(argument)
        return new if value is None else number(abs(value))
    if isinstance(new, c_ast.ArrayRef) and not isinstance(new.subscript, c_ast.Constant):
        place = constant_value(new.subscript)
        if place is not None:
            new.subscript = number(place)
    return new
