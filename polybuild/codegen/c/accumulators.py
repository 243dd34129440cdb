"""Variables that loops accumulate in, instead of one element of an array or a variable of the user."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.reductions import Selection
from polybuild.c.syntax_tree import walk, with_parts
from polybuild.c.synthetic import type_name
from polybuild.c.types import FloatingType, IntegerType
from polybuild.codegen.file.names import fresh
from polybuild.poly.marks import Mark
from polybuild.poly.relations import maps_of
from polybuild.scop.model import Statement
from polybuild.targets.model import Accumulator, LoopDirective
from polybuild.values import dataclass

_in, _set, _param = isl.dim_type.in_, isl.dim_type.set, isl.dim_type.param
# Minima and maxima in OpenMP start from a value of their own, which floating-point numbers
# that are no numbers make visible; ours start from the value that there is.
_COMBINATIONS = {
    "min": "polybuild_lower",
    "max": "polybuild_upper",
    "fmin": "polybuild_fmin",
    "fmax": "polybuild_fmax",
}


@dataclass(frozen=True, slots=True)
class AccumulatorScope:
    """An accumulator in one block of the generated code.

    ``element`` is what it stands for. The time stamps at which something is accumulated have their outer
    dimensions in ``time_stamps``; None if the element may be touched where nothing is.
    """

    accumulator: Accumulator
    element: isl.AstExpr
    time_stamps: isl.Set | None

    def runs(self, counters: Collection[str]) -> isl.AstExpr:
        """Whether something is accumulated here, whatever the loops around have made sure of.

        isl's build knows less: it takes for true what loops further in make sure of by running not at all.
        ``counters`` are the names, as isl gives them, of the loops around; the other dimensions
        have one value each, for which isl writes no loop.
        """
        stamps = self.time_stamps
        assert stamps is not None  # noqa: S101 - who asks has looked
        names = [f"c{dimension}" for dimension in range(stamps.dim(_set))]
        for dimension in reversed(range(len(names))):
            if names[dimension] not in counters:
                stamps = stamps.project_out(_set, dimension, 1)
                del names[dimension]
        count = stamps.dim(_param)
        here = stamps.move_dims(_param, count, _set, 0, len(names)).params()
        for position, name in enumerate(names, count):
            here = here.set_dim_name(_param, position, name)
        context = isl.Set.universe(here.get_space())
        return isl.AstBuild.from_context(context).expr_from_set(here.coalesce())


class AccumulatorScopes:
    """The blocks of ``accumulators`` in an AST, found while isl builds it.

    ``enter`` and ``leave`` are told of each mark; the latter annotates those of accumulators.
    """

    def __init__(self, accumulators: Sequence[Accumulator]) -> None:
        self._accumulators = {each.mark: each for each in accumulators}
        self._open: list[str] = []
        self._found: dict[str, AccumulatorScope | None] = {}

    def enter(self, mark: Mark, build: isl.AstBuild) -> None:
        """Begin what is below ``mark``."""
        if mark in self._accumulators:
            name = f"accumulator{len(self._found)}"
            self._open.append(name)
            self._found[name] = None
            self._found[name] = _scope(self._accumulators[mark], build)

    def leave(self, node: isl.AstNode) -> isl.AstNode:
        """End what is below a mark, which isl made ``node`` of."""
        if Mark.of_id(node.mark_get_id()) in self._accumulators:
            return node.set_annotation(isl.Id(self._open.pop()))
        return node

    def at(self, node: isl.AstNode) -> AccumulatorScope | None:
        """What accumulates below ``node``, None if nothing does."""
        return self._found[node.get_annotation().get_name()]


@dataclass(frozen=True, slots=True)
class OpenAccumulator:
    """An ``accumulator`` around the code at hand, and the ``variable`` that stands for it there.

    That which is called ``taken``, if one is, says whether a value was taken.
    """

    accumulator: Accumulator
    variable: str
    taken: str = ""

    @property
    def terms(self) -> frozenset[str]:
        """The statements that compute the terms of a scan."""
        scan = self.accumulator.scan
        return scan.terms if scan is not None else frozenset()

    def text(self, *, looked_at: bool) -> str:
        """The variable, or its value as one of the element where that is but ``looked_at``."""
        kind, element = self.accumulator.type, self.accumulator.array.element
        if self.accumulator.scan is None or not looked_at or kind == element:
            return self.variable
        assert isinstance(element, IntegerType | FloatingType)  # noqa: S101 - reductions are of numbers
        return f"({element.name}){self.variable}"

    @property
    def clause(self) -> str:
        """The clause of OpenMP for a loop that accumulates in it."""
        return f"reduction({combination(self.accumulator) or self.accumulator.operator}: {self.variable})"


class ActiveAccumulators:
    """The accumulators around the code at hand, which are called ``variables`` by their marks.

    ``elements`` are the arrays in which each thread has its own of the nodes of these identities. Where
    ``terms`` are given, nothing but these statements is computed.
    """

    def __init__(self, variables: Mapping[Mark, str], scopes: AccumulatorScopes) -> None:
        self.variables = variables
        self.scopes = scopes
        self.open: Mapping[Mark, OpenAccumulator] = {}
        self.elements: Mapping[int, str] = {}
        self.terms: frozenset[str] | None = None

    def enter(self, *accumulators: OpenAccumulator) -> Mapping[Mark, OpenAccumulator]:
        """Begin what accumulates in ``accumulators``; returns what ``leave`` wants to know."""
        before = self.open
        self.open = {**before, **{each.accumulator.mark: each for each in accumulators}}
        return before

    def of(self, directive: LoopDirective) -> list[OpenAccumulator]:
        """Those that the loop of ``directive`` accumulates in."""
        one = [each for each in directive.accumulators if not each.elements]
        return [self.open[each.mark] for each in one if each.mark in self.open]

    def in_its_type(self, statement: Statement) -> c_ast.Node:
        """The body of ``statement``, terms converted where it accumulates in a variable of another type.

        Where it matters, the body tells that it takes a value.
        """
        body = statement.body
        for each in self.open.values():
            accumulator = each.accumulator
            own = self._own(accumulator, statement)
            if own and each.taken:
                body = _telling(accumulator.selection, each.taken)
            elif own and accumulator.type != accumulator.array.element:
                body = _converted(body, own, accumulator.type)
        return in_own_elements(body, self.elements) if self.elements else body

    @staticmethod
    def _own(accumulator: Accumulator, statement: Statement) -> set[int]:
        """The nodes of ``statement`` that stand for what accumulates."""
        return {node for each in accumulator.reductions if each.statement is statement for node in each.own}

    def leave(self, before: Mapping[Mark, OpenAccumulator]) -> None:
        """End what accumulates in the accumulators entered last."""
        self.open = before

    def nodes_of(self, statement: str) -> dict[int, str]:
        """The nodes, by identity, of a statement's body that a variable stands for."""
        return {
            node: each.text(looked_at=reduction.statement is not each.accumulator.reductions[0].statement)
            for each in self.open.values()
            for reduction in each.accumulator.reductions
            if reduction.statement.name == statement
            for node in reduction.own
        }

    def all_nodes(self) -> set[int]:
        """The nodes, by identity, that a variable stands for."""
        reductions = (one for each in self.open.values() for one in each.accumulator.reductions)
        return {node for each in reductions for node in each.own}


def in_own_elements(body: c_ast.Node, variables: Mapping[int, str]) -> c_ast.Node:
    """``body`` with the arrays ``variables`` for the nodes, of arrays, of these identities."""
    new = {
        id(each): c_ast.ArrayRef(c_ast.ID(variables[id(each)]), each.subscript, each.coord)
        for each in walk(body)
        if id(each) in variables
    }
    return with_parts(body, new)


def _telling(selection: Selection | None, taken: str) -> c_ast.Node:
    """What ``selection`` does, which sets the variable ``taken`` where it takes a value."""
    assert selection is not None  # noqa: S101 - others take every value
    tell = c_ast.Assignment("=", c_ast.ID(taken), c_ast.Constant("int", "1"))
    return c_ast.If(selection.condition, c_ast.Compound([*selection.assignments, tell]), None)


def _converted(body: c_ast.Node, own: Collection[int], kind: IntegerType | FloatingType) -> c_ast.Node:
    """``body`` with conversions to ``kind`` of what is combined with a part of ``own`` in it."""

    def term(node: c_ast.Node) -> c_ast.Node:
        if any(id(each) in own for each in walk(node)):
            return combined(node)
        return c_ast.Cast(type_name(kind), node)

    def combined(node: c_ast.Node) -> c_ast.Node:
        if not isinstance(node, c_ast.BinaryOp):
            return node
        return with_parts(node, {id(each): term(each) for each in (node.left, node.right)})

    updates = [each for each in walk(body) if isinstance(each, c_ast.Assignment) and id(each.lvalue) in own]
    new = {id(each.rvalue): (combined if each.op == "=" else term)(each.rvalue) for each in updates}
    return with_parts(body, new)


def _scope(accumulator: Accumulator, build: isl.AstBuild) -> AccumulatorScope | None:
    relations = {each.statement.name: each.relation for each in accumulator.reductions}
    element: isl.Map | None = None
    for schedule in maps_of(build.get_schedule()):
        relation = relations.get(schedule.get_tuple_name(_in))
        if relation is not None:
            here = schedule.reverse().apply_range(relation)
            element = here if element is None else element.union(here)
    if element is None or element.is_empty():
        return None
    text = build.access_from_pw_multi_aff(isl.PwMultiAff.from_map(element.coalesce()))
    array = accumulator.array
    sure = array.is_scalar and not array.provenance.by_pointer
    return AccumulatorScope(accumulator, text, None if sure else element.domain())


def accumulator_names(accumulators: Sequence[Accumulator], taken: Collection[str]) -> dict[Mark, str]:
    """A variable that is not ``taken`` for each of ``accumulators``, by their marks."""
    names: dict[Mark, str] = {}
    for each in accumulators:
        names[each.mark] = fresh(f"acc_{each.array.name}", {*taken, *names.values()})
    return names


def combination(accumulator: Accumulator) -> str | None:
    """Our own reduction for ``accumulator``, of the prologue; None where OpenMP's suits."""
    return _COMBINATIONS[accumulator.operator] if accumulator.selects else None
