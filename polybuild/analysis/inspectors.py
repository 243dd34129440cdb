"""Subscripts to look at before a region runs, where data say which elements it touches.

An inspector (CC 2018, "program analysis") finds the minimum and the maximum value of
a subscript over all instances of its statement, by evaluating it as they would. It
reads what the region reads, as long as the region changes nothing on which the
subscript or the bounds of dynamic loops depend.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.counted_subscripts import REPEATED, NumberTypes, counted_subscript
from polybuild.analysis.privatisable_definitions import DefinedValue, PrivatisableDefinitions
from polybuild.c.basic_types import LONG_LONG
from polybuild.c.syntax_tree import always_evaluates, key, walk
from polybuild.c.synthetic import number, type_name
from polybuild.scop.model import Access, AccessKind, Scop, Statement
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Inspector:
    """Evaluates ``expression`` in all instances of ``statement`` that run, over which its ``reads`` are.

    And the ``others``, which with it are the ends of what a loop inside counts. It does so where all
    ``conditions`` hold, each evaluated where those before it do. ``needs`` are the arrays that say which
    instances run, and where the expression reads: that the region leaves these as they are must be certain
    before it is evaluated.
    """

    statement: Statement
    expression: c_ast.Node
    reads: tuple[Access, ...]
    needs: frozenset[str]
    conditions: tuple[c_ast.Node, ...] = ()
    others: tuple[c_ast.Node, ...] = ()


class Inspectors:
    """Finds inspectors, one for each statement and expression.

    With ``bounds`` also those that find the ends of what loops inside of statements count, and may not reach.
    """

    def __init__(self, scop: Scop, *, bounds: bool = False) -> None:
        self._bounds = bounds
        self._written = {
            access.array.name
            for statement in scop.statements
            for access in statement.accesses
            if access.kind is not AccessKind.READ
        }
        self._definitions = PrivatisableDefinitions(scop)
        self._parameters = scop.parameters
        self._found: dict[tuple[object, ...], Inspector] = {}
        self._bounded: dict[str, Statement | None] = {}

    def of(self, statement: Statement, access: Access) -> Inspector | None:
        """The inspector of the outermost subscript of ``access``, None if it cannot be evaluated before."""
        body = statement.body
        for _ in statement.dynamic:
            body = body.iftrue
        certain = (each for each in statement.accesses_to(access.array) if always_evaluates(body, each.node))
        access = next((each for each in certain if key(each.node) == key(access.node)), access)
        outermost = self._outermost(access, statement)
        if outermost is None:
            return None
        ends, guards = (outermost,), self._guards(body, access.node, statement)
        if guards is None:
            counted = self._counted(outermost, access, statement, body)
            if counted is None:
                return None
            ends, guards = counted
        values = [self._definitions.value(each, statement) for each in ends]
        found = [each for each in values if each is not None]
        return self._inspector(statement, found, guards) if len(found) == len(values) else None

    def _counted(
        self, subscript: c_ast.Node, access: Access, statement: Statement, body: c_ast.Node
    ) -> tuple[tuple[c_ast.Node, ...], list[DefinedValue]] | None:
        """The ends of ``subscript`` in a loop inside of ``statement``, and when it is evaluated."""
        if not self._bounds or access.array.provenance.followed or access.array.flat > 1:
            return None
        known = NumberTypes.of(statement, self._parameters)
        counted = counted_subscript(subscript, access.node, statement, body, known)
        outside = None if counted is None else self._guards(body, counted.inside, statement)
        if counted is None or outside is None:
            return None
        inside = [self._definitions.value(each, statement) for each in counted.conditions]
        guards = [each for each in (*outside, *inside) if each is not None]
        return (counted.ends, guards) if len(guards) == len(outside) + len(inside) else None

    def _inspector(
        self, statement: Statement, values: list[DefinedValue], guards: list[DefinedValue]
    ) -> Inspector | None:
        """What looks at ``values`` where ``guards`` hold; None if data that the region changes say where."""
        around = self._read_in_bounds(statement)
        if any(each.array.name in self._written for each in around):
            known = self._with_bounds_of_data(statement)
            if known is None:
                return None
            statement, around = known, self._read_in_bounds(known)
        reads = {id(each.node): each for value in values for each in value.reads}
        deeper = [
            reads[id(node)]
            for each in reads.values()
            for subscript in _subscripts(each.node)
            for node in walk(subscript)
            if id(node) in reads
        ]
        asked = [each for guard in guards for each in guard.reads]
        expressions = [each.expression for each in values]
        asked += [reads[id(node)] for each in expressions for node in _choosing(each) if id(node) in reads]
        needs = frozenset(each.array.name for each in (*around, *deeper, *asked))
        conditions = tuple(each.expression for each in guards)
        looked_at = (*reads.values(), *asked)
        found = Inspector(statement, expressions[0], looked_at, needs, conditions, tuple(expressions[1:]))
        return self._found.setdefault((statement.name, *map(key, (*expressions, *conditions))), found)

    def _read_in_bounds(self, statement: Statement) -> list[Access]:
        """What the bounds of the dynamic loops of ``statement`` read."""
        bounds = [each for loop in statement.dynamic for each in (loop.start, loop.limit)]
        own = {id(each.node): each for each in statement.accesses if each.kind is AccessKind.READ}
        return [own[id(node)] for bound in bounds for node in walk(bound) if id(node) in own]

    def _with_bounds_of_data(self, statement: Statement) -> Statement | None:
        """``statement`` in loops whose bounds are in terms of what the region does not change; None if none.

        So ``int first = row[i]; for (int k = first; ...)`` is looked at without the variable.
        """
        if statement.name not in self._bounded:
            self._bounded[statement.name] = self._bounded_by_data(statement)
        return self._bounded[statement.name]

    def _bounded_by_data(self, statement: Statement) -> Statement | None:
        loops, reads = [], list(statement.accesses)
        for loop in statement.dynamic:
            ends = (loop.start, loop.limit, loop.predicate, loop.header.cond)
            values = [self._definitions.value(each, statement) for each in ends]
            known = [each for each in values if each is not None]
            if len(known) < len(values) or loop.stride is not None:
                return None
            start, limit, predicate, condition = (each.expression for each in known)
            if any(node.name in self._written for part in known for node in _names(part.expression)):
                return None
            reads += [read for each in known for read in each.reads]
            old = loop.header
            header = c_ast.For(old.init, condition, old.next, old.stmt, old.coord)
            loops.append(replace(loop, header=header, start=start, limit=limit, predicate=predicate))
        return replace(statement, dynamic=tuple(loops), accesses=tuple(reads))

    def _outermost(self, access: Access, statement: Statement) -> c_ast.Node | None:
        """The outermost subscript of ``access``, None if it is not told.

        Of an array that is a view, which C reaches by one subscript, it is what the relation says it is.
        """
        if access.array.flat > 1:
            return None if access.array.row_subscripts else self._row(access, statement)
        subscripts = list(_subscripts(access.node))
        return subscripts[-1] if len(subscripts) == len(access.array.extents) else None

    def _row(self, access: Access, statement: Statement) -> c_ast.Node | None:
        """The first subscript of a view as a sum of counters and parameters; None if it is none."""
        if not access.exact:
            return None
        pieces = access.relation.as_pw_multi_aff().get_pw_aff(0).get_pieces()
        if len(pieces) != 1 or pieces[0][1].dim(isl.dim_type.div):
            return None
        row = pieces[0][1]
        known = {each.name: each for each in self._parameters}
        value = number(row.get_constant_val().to_python())
        for kind in (isl.dim_type.in_, isl.dim_type.param):
            for position in range(row.dim(kind)):
                factor = row.get_coefficient_val(kind, position).to_python()
                if not factor:
                    continue
                term: c_ast.Node = c_ast.ID(statement.iterators[position].name)
                if kind is isl.dim_type.param:
                    parameter = known[str(row.get_dim_name(kind, position))]
                    if parameter.is_limit or parameter.reached is not None:
                        return None
                    term = parameter.expression
                wide = c_ast.Cast(type_name(LONG_LONG), term)
                value = c_ast.BinaryOp("+", value, c_ast.BinaryOp("*", number(factor), wide))
        return value

    def _guards(
        self, body: c_ast.Node, wanted: c_ast.Node, statement: Statement
    ) -> list[DefinedValue] | None:
        """When ``body`` evaluates ``wanted``; None if that cannot be told before."""
        if always_evaluates(body, wanted):
            return []
        conditions = _conditions(body, wanted)
        if conditions is None:
            return None
        found = [self._definitions.value(each, statement) for each in conditions]
        known = [each for each in found if each is not None]
        return known if len(known) == len(found) else None


def _conditions(body: c_ast.Node, wanted: c_ast.Node) -> list[c_ast.Node] | None:
    """The conditions, outermost first, under which ``body`` evaluates its part ``wanted``.

    None where loops, or whatever else, say how often.
    """
    if body is wanted:
        return []
    inside = next((each for each in body if any(part is wanted for part in walk(each))), None)
    if inside is None or isinstance(body, REPEATED):
        return None
    found = _conditions(inside, wanted)
    if found is None:
        return None
    if isinstance(body, c_ast.If | c_ast.TernaryOp) and inside is not body.cond:
        return [_truth(body.cond, holds=inside is body.iftrue), *found]
    if isinstance(body, c_ast.BinaryOp) and body.op in {"&&", "||"} and inside is body.right:
        return [_truth(body.left, holds=body.op == "&&"), *found]
    return found


def _names(expression: c_ast.Node) -> Iterator[c_ast.ID]:
    return (each for each in walk(expression) if isinstance(each, c_ast.ID))


def _choosing(expression: c_ast.Node) -> Iterator[c_ast.Node]:
    """The parts of conditions in ``expression`` that say which elements it reads."""
    for node in walk(expression):
        if isinstance(node, c_ast.TernaryOp) and any(map(_reads_elements, (node.iftrue, node.iffalse))):
            yield from walk(node.cond)
        if isinstance(node, c_ast.BinaryOp) and node.op in {"&&", "||"} and _reads_elements(node.right):
            yield from walk(node.left)


def _reads_elements(expression: c_ast.Node) -> bool:
    return any(isinstance(each, c_ast.ArrayRef) for each in walk(expression))


def _truth(condition: c_ast.Node, *, holds: bool) -> c_ast.Node:
    return condition if holds else c_ast.UnaryOp("!", condition, condition.coord)


def is_dynamic(access: Access, scop: Scop) -> bool:
    """Whether the parameters do not tell the elements of ``access``."""
    # isl takes even numbers to have bounds
    elements = scop.without_limits(access.relation.intersect_params(scop.context).range()).remove_divs()
    bounded_below = elements.dim_has_lower_bound(isl.dim_type.set, 0)
    return not (bounded_below and elements.dim_has_upper_bound(isl.dim_type.set, 0))


def _subscripts(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """The subscripts of ``a[i][j].x``, innermost first."""
    while isinstance(node, c_ast.ArrayRef | c_ast.StructRef):
        if isinstance(node, c_ast.ArrayRef):
            yield node.subscript
        node = node.name
