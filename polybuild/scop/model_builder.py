"""The draft of a model, from a walk over a region: what runs where, in which order, and what it touches."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce

import islpy as isl
from pycparser import c_ast

from polybuild.c import types
from polybuild.c.numbers_in_bytes import number_into_bytes
from polybuild.c.syntax_tree import conjuncts, has_side_effect, location, walk
from polybuild.c.synthetic import LEFT, NEVER, ElementPointer, LastValue
from polybuild.diagnostics import Diagnostic, Severity, Unsupported
from polybuild.effort import BLOCK_PARTS
from polybuild.normalise.names import Names, Variable, resolve
from polybuild.normalise.structure import loop_depth, without_continue
from polybuild.normalise.upward_exposed import mentioned_after, read_after
from polybuild.patterns import pattern
from polybuild.poly import spaces
from polybuild.scop import order
from polybuild.scop.accesses import AccessDraft, AccessReader
from polybuild.scop.arrays import Arrays
from polybuild.scop.assumptions import Assumptions, Violation
from polybuild.scop.bounds import affine_condition
from polybuild.scop.calls import CallReader
from polybuild.scop.checks import check_counters, check_parameters, with_reads_of_everything
from polybuild.scop.delinearise.flat_subscripts import FlatSubscripts
from polybuild.scop.delinearise.row_counts import RowCount
from polybuild.scop.draft import RegionDraft, RegionPart, StatementDraft
from polybuild.scop.dynamic import read_dynamic_loop
from polybuild.scop.expressions import Expressions, is_affinity_refusal
from polybuild.scop.facts import Facts
from polybuild.scop.final_values import FinalValues, NotFollowed, check_unnormalised
from polybuild.scop.loops import first_value, read_loop
from polybuild.scop.model import AccessKind, DynamicLoop, WholeMultiple
from polybuild.scop.opaque import REFUSED, OpaqueReader, may_be_kept_whole
from polybuild.scop.parameters import Parameters
from polybuild.scop.program_point import ProgramPoint, later_values
from polybuild.scop.quotients import not_whole
from polybuild.scop.skipped_instances import without_one_iteration
from polybuild.source.model import Region

_dim = isl.dim_type

# Statements that are not modelled: code, what to call it, hint. Those of _WHOLE are kept whole if possible.
_WHOLE = (c_ast.While, c_ast.DoWhile, c_ast.Switch)
# Expressions that do something; two in a row may be one statement.
_EXPRESSIONS = (c_ast.Assignment, c_ast.UnaryOp, c_ast.FuncCall)
_REFUSED: dict[type, tuple[str, str, str]] = {
    c_ast.While: ("while", "a while loop", "write it as a for loop with affine bounds"),
    c_ast.DoWhile: ("do-while", "a do loop", "write it as a for loop with affine bounds"),
    c_ast.Switch: ("switch", "a switch", "write it as if and else with affine conditions"),
    **REFUSED,
}

# Pragmas that say nothing about meaning: what they ask for is decided anew.
_DROPPED_PRAGMAS = (
    "ivdep", "GCC ivdep", "GCC unroll", "unroll", "nounroll", "vector", "novector", "simd", "clang loop",
    "omp", "polybuild",
)  # fmt: skip
_PRIVATE = pattern(r"\b(?:first)?private\s*\((?P<names>[^)]*)\)")


@dataclass(slots=True)
class _Enclosing:
    """What stands around the statement at hand, outermost first.

    ``dynamic`` are those of ``loops`` whose bounds depend on data; ``guards`` are
    conditions on data that the statements must test themselves.
    """

    loops: list[c_ast.For] = field(default_factory=list)
    dynamic: list[DynamicLoop] = field(default_factory=list)
    guards: list[c_ast.Node] = field(default_factory=list)

    @property
    def is_conditional(self) -> bool:
        """Whether it depends on data if a statement runs here."""
        return bool(self.guards or self.dynamic)

    @contextmanager
    def loop(self, node: c_ast.For, dynamic: DynamicLoop | None = None) -> Iterator[None]:
        """The body of a loop."""
        self.loops.append(node)
        if dynamic is not None:
            self.dynamic.append(dynamic)
        try:
            yield
        finally:
            self.loops.pop()
            if dynamic is not None:
                self.dynamic.pop()

    @contextmanager
    def guard(self, condition: c_ast.Node) -> Iterator[None]:
        """What runs under a condition on data."""
        self.guards.append(condition)
        try:
            yield
        finally:
            self.guards.pop()

    def guarded(self, body: c_ast.Node) -> c_ast.Node:
        """``body`` in ``if``s on the conditions around it."""
        for guard in reversed(self.guards):
            body = c_ast.If(guard, body, None, body.coord)
        return body


class ModelBuilder:
    """One walk over a region; the tables it fills become its draft."""

    def __init__(
        self, region: Region, flat: FlatSubscripts, *, wrapping: bool, blocks_from: int | None
    ) -> None:
        self._blocks_from = blocks_from
        parameters = Parameters()
        for each in flat.row_counts:
            parameters.reserve(each.name)
        self._assumptions = Assumptions(parameters)
        facts = Facts(
            region,
            resolve(region),
            parameters,
            lambda: self._assumptions.context,
            wrapping=wrapping,
            units=flat.units,
        )
        self._arrays = Arrays(facts, self._assumptions, flat)
        self._calls = CallReader(region, self._arrays, self._assumptions)
        self._facts = dataclasses.replace(facts, calls=self._calls)
        self._read_after = read_after(region.function, region.index) | region.visible.lvalues.keys()
        self._tracked = frozenset(each for each in self._names.iterators.values() if self._is_tracked(each))
        self._enclosing = _Enclosing()
        self._drafts: list[StatementDraft] = []
        # why each statement that is kept whole is outside the model, and its line
        self._refusals: list[tuple[Unsupported, int]] = []
        self._last_values = FinalValues(region.visible.lvalues)

    def with_views(self) -> FlatSubscripts | None:
        """What another walk should know of flat subscripts, None if no other walk is needed."""
        parameters = {each.name: each for each in self._facts.parameters.all()}
        return self._arrays.flat.for_next_walk(self._assumptions.context, parameters)

    def contiguous(self) -> frozenset[str]:
        """The parameters that are strides of last axes of arrays, where those are in bytes."""
        return self._arrays.flat.contiguous({each.name: each for each in self._facts.parameters.all()})

    def factors_without_view(self, viewed: FlatSubscripts | None) -> tuple[str, ...]:
        """The parameters that may be in the way of a view, or of one more than those of ``viewed``."""
        return self._arrays.flat.factors_without_view(() if viewed is None else viewed.views)

    def run(self) -> RegionDraft:
        """Walk the region once."""
        region = self._facts.region
        mentioned = mentioned_after(region.function, region.index)
        self._require(_other_than_one(each, region) for each in sorted(self._facts.units))
        for statement in region.statements:
            if isinstance(statement, c_ast.Decl) and statement.name in mentioned:
                raise Unsupported(
                    "declaration",
                    f"'{statement.name}' is declared inside the region and used after it",
                    location(statement),
                    "move the declaration before the region",
                )
        part = self._sequence(region.statements, ProgramPoint())
        if part.tree is None or all(each.is_exit_test for each in self._drafts):
            raise Unsupported(
                "empty-region",
                "the region has no statement that runs",
                region.begin,
                "remove the pragmas",
            )
        return self._draft(part.tree, part.values)

    def _draft(self, tree: order.Tree, values: Mapping[Variable, isl.PwAff]) -> RegionDraft:
        """The outcome. Raises Unsupported if nothing is gained by what was kept whole, or if checks fail."""
        if self._refusals and not any(draft.loops for draft in self._drafts):
            raise self._refusals[0][0]
        for count in self._arrays.flat.row_counts:
            self._facts.parameters.quotient(count.name, count.outer, count.inner)
            self._assumptions.limits.append(_whole_planes(count, self._facts.region))
        self._require(not_whole(self._facts))
        check_parameters(self._drafts, self._names, self._facts.parameters)
        needed = {each for each in self._names.demoted if self._is_live(each)}
        check_counters(self._drafts, self._names, values, needed)
        return RegionDraft(
            self._facts.region,
            self._names,
            self._facts.parameters,
            self._assumptions,
            self._arrays,
            tree,
            tuple(with_reads_of_everything(self._drafts, self._calls.everything)),
            {
                variable: value
                for variable, value in values.items()
                if self._is_live(variable) or variable in self._last_values
            },
            self._last_values,
            tuple(_remark(*each) for each in self._refusals),
        )

    # Facts about names

    @property
    def _names(self) -> Names:
        return self._facts.names

    def _is_tracked(self, variable: Variable) -> bool:
        """Whether the value of this loop counter after its loops is needed."""
        return variable in self._names.escaping or self._is_live(variable)

    def _is_live(self, variable: Variable) -> bool:
        outlives = variable.storage.is_static or variable.name in self._read_after
        return not variable.local and outlives

    def _require(self, violations: Iterable[Violation]) -> None:
        for violation in violations:
            self._assumptions.require(violation)

    # The walk

    def _sequence(self, nodes: Sequence[c_ast.Node], point: ProgramPoint) -> RegionPart:
        trees: list[order.Tree | None] = []
        values: dict[Variable, isl.PwAff] = {}
        joined = self._blocks_from is not None and len(self._enclosing.loops) >= self._blocks_from
        flat = self._expressions_of if joined else _without_commas
        nodes = [each for node in nodes for each in flat(node)]
        for run in self._blocks(nodes) if joined else ([each] for each in nodes):
            part = self._block(run, point) if len(run) > 1 else self._statement(run[0], point)
            trees.append(part.tree)
            if part.values:
                values = later_values(values, part.values)
                point = point.after(part.values)
        return RegionPart(order.block(trees), values)

    def _statement(self, node: c_ast.Node, point: ProgramPoint) -> RegionPart:
        if number_into_bytes(node) is not None:
            return self._expression(node, node, point)
        if isinstance(node, c_ast.Compound):
            union = next(filter(self._is_union, node.block_items or ()), None)
            if union is not None:  # numbers are taken to bits: only all of it together says what it does
                return self._whole(node, point, _special(union))
            return self._sequence(node.block_items or (), point)
        if isinstance(node, (c_ast.For, c_ast.If, *_WHOLE)):
            return self._structured(node, point)
        if isinstance(node, LastValue):
            return self._last_value_of(node, point)
        if isinstance(node, c_ast.EmptyStatement):
            return RegionPart()
        if isinstance(node, c_ast.Pragma):
            return self._pragma(node)
        if isinstance(node, c_ast.Decl):
            return self._declaration(node, point)
        if type(node) in _REFUSED:
            raise _refused(node)
        if _is_exit_test(node):
            return self._exit_test(node, point)
        return self._expression(node, node, point)

    def _is_union(self, node: c_ast.Node) -> bool:
        """Whether ``node`` declares a union."""
        variable = self._names.variables.get(node) if isinstance(node, c_ast.Decl) else None
        kind = variable.type if variable is not None else None
        return isinstance(kind, types.RecordType) and kind.kind == "union"

    def _expressions_of(self, node: c_ast.Node) -> Iterator[c_ast.Node]:
        """``node`` as expressions, as far as it is blocks of these and of variables with values."""
        if isinstance(node, c_ast.Compound):
            for each in node.block_items or ():
                yield from self._expressions_of(each)
        elif isinstance(node, c_ast.Decl):
            assignment = self._initialisation(node)
            yield from () if assignment is None else (assignment,)
        else:
            yield from _without_commas(node)

    def _blocks(self, nodes: Sequence[c_ast.Node]) -> Iterator[list[c_ast.Node]]:
        """``nodes`` in runs, each to be one statement.

        What sets scalars that live on has statements of its own: their last values may be computed apart from
        the loops then, where nothing else is done beside.
        """
        for run in _runs(nodes):
            parts = [(alone, list(part)) for alone, part in itertools.groupby(run, self._sets_live_scalar)]
            if len(parts) > BLOCK_PARTS:
                yield run
                continue
            for alone, part in parts:
                yield from ([each] for each in part) if alone else [part]

    def _sets_live_scalar(self, node: c_ast.Node) -> bool:
        if not (isinstance(node, c_ast.Assignment) and node.op == "=" and isinstance(node.lvalue, c_ast.ID)):
            return False
        return all(map(self._is_live, self._names.variables_in(node.lvalue)))

    def _block(self, run: Sequence[c_ast.Node], point: ProgramPoint) -> RegionPart:
        """One statement for expressions that follow each other."""
        body = c_ast.Compound(list(run), run[0].coord)
        return self._expression(body, body, point)

    def _structured(self, node: c_ast.Node, point: ProgramPoint) -> RegionPart:
        """A statement with statements inside: modelled if possible, else kept whole as one statement."""
        drafts, refusals = len(self._drafts), len(self._refusals)
        assumptions = self._assumptions.snapshot()
        try:
            if isinstance(node, c_ast.For):
                return self._for(node, point)
            if isinstance(node, c_ast.If):
                return self._if(node, point)
            raise _refused(node)
        except Unsupported as refusal:
            if not may_be_kept_whole(refusal):
                raise
            del self._drafts[drafts:], self._refusals[refusals:]
            self._assumptions.restore(assumptions)
            return self._whole(node, point, refusal)

    def _whole(self, node: c_ast.Node, point: ProgramPoint, refusal: Unsupported) -> RegionPart:
        """One statement for all of ``node``, which is outside the model for the reason of ``refusal``."""
        if point.domain.is_empty():
            return RegionPart()
        check_unnormalised(node)
        body = self._enclosing.guarded(node)
        self._facts = dataclasses.replace(self._facts, names=self._names.demote(walk(node)))
        accesses = self._opaque_accesses(dataclasses.replace(self._facts, eager=False), body, point)
        self._refusals.append((refusal, location(node).line))
        return self._add(point, body, node, accesses)

    def _add(
        self, point: ProgramPoint, body: c_ast.Node, source: c_ast.Node, accesses: Sequence[AccessDraft]
    ) -> RegionPart:
        """A statement for ``body``, which itself tests whether the dynamic loops around run there."""
        dynamic = self._enclosing.dynamic
        if dynamic:
            reader = AccessReader(self._facts, self._arrays, self._assumptions, guarded=True)
            for loop in reversed(dynamic):
                body = c_ast.If(loop.predicate, body, None, body.coord)
                reader.read(loop.start, point)
                reader.read(loop.limit, point)
            accesses = (*reader.found, *accesses)
        self._drafts.append(
            StatementDraft(point, tuple(self._enclosing.loops), body, source, tuple(accesses), tuple(dynamic))
        )
        return RegionPart(order.OrderLeaf(len(self._drafts) - 1))

    def _opaque_accesses(self, facts: Facts, body: c_ast.Node, point: ProgramPoint) -> list[AccessDraft]:
        """The accesses of ``body``, under conditions on data or in dynamic loops."""
        dynamic = self._enclosing.dynamic
        found = OpaqueReader(facts, self._arrays, self._assumptions, assume=not dynamic).read(body, point)
        return [each.only_within(dynamic[-1].position + 1) for each in found] if dynamic else found

    def _for(self, node: c_ast.For, point: ProgramPoint) -> RegionPart:
        violations: list[Violation] = []
        counter = self._names.iterators.get(node)
        try:
            loop = read_loop(node, point, self._facts, violations, want_final=counter in self._tracked)
        except Unsupported as refusal:
            unknown = is_affinity_refusal(refusal) or refusal.diagnostic.code == "non-constant-stride"
            if self._enclosing.guards or counter in self._tracked or not unknown:
                raise
            return self._dynamic_for(node, point, refusal)
        if self._enclosing.is_conditional:
            self._check_guarded(node, counter, violations)
        self._require(violations)
        inner = self._forget(point, node.stmt).inside(loop.counter, loop.domain)
        with self._enclosing.loop(node):
            body = self._statement(without_continue(node.stmt), inner)
        values: dict[Variable, isl.PwAff] = {
            variable: _last_value(value, loop.step) for variable, value in body.values.items()
        }
        if loop.final is not None:
            values = later_values(values, {loop.counter: loop.final})
        if body.tree is None:
            return RegionPart(None, values)
        return RegionPart(order.OrderBand(point.depth, loop.step < 0, body.tree, loop.start), values)

    def _dynamic_for(self, node: c_ast.For, point: ProgramPoint, refusal: Unsupported) -> RegionPart:
        """A loop that counts between bounds that are data: raises ``refusal`` if it is another loop."""
        violations: list[Violation] = []
        loop = read_dynamic_loop(node, point, self._facts, self._assumptions, violations)
        if loop is None or (self._enclosing.dynamic and any(map(self._assumptions.is_possible, violations))):
            raise refusal
        self._require(violations)
        first = len(self._drafts)
        bounds = AccessReader(self._facts, self._arrays, self._assumptions, guarded=True)
        bounds.read(loop.start, point)
        bounds.read(loop.limit, point)
        inner = self._forget(point, node.stmt).inside(self._names.iterators[node], loop.domain)
        with self._not_eager(), self._enclosing.loop(node, loop):
            body = self._statement(without_continue(node.stmt), inner)
        if {each.array.name for each in bounds.found} & self._written_since(first):
            raise refusal  # the bounds change while the loop runs
        return RegionPart(
            None if body.tree is None else order.OrderBand(point.depth, loop.step < 0, body.tree)
        )

    def _written_since(self, first: int) -> set[str]:
        """The arrays that the drafts from ``first`` on write."""
        return {
            each.array.name
            for draft in self._drafts[first:]
            for each in draft.accesses
            if each.kind is not AccessKind.READ
        }

    def _forget(self, point: ProgramPoint, body: c_ast.Node) -> ProgramPoint:
        """``point`` without the values of counters that an earlier iteration of ``body`` may have changed."""
        if not point.values:
            return point
        changed = {self._names.iterators.get(each) for each in walk(body) if isinstance(each, c_ast.For)}
        kept = {variable: value for variable, value in point.values.items() if variable not in changed}
        return dataclasses.replace(point, values=kept)

    def _if(self, node: c_ast.If, point: ProgramPoint) -> RegionPart:
        plain = without_one_iteration(node, self._enclosing.loops, self._names)
        if plain is not None:
            left_out = Unsupported("non-affine-condition", "one iteration is left out", location(node), "")
            return self._whole(plain, point, left_out)
        violations: list[Violation] = []
        try:
            chosen = Expressions(self._facts, "condition", violations).condition(node.cond, point)
        except Unsupported as refusal:
            if not is_affinity_refusal(refusal):
                raise
            parts = self._parts_of_condition(node, point)
            if parts is not None:
                chosen, inner = parts
                return self._statement(inner, point.within(chosen))
            if loop_depth(node) <= point.depth or has_side_effect(node.cond):
                raise
            return self._guarded(node, point, refusal)
        self._require(violations)
        yes = self._statement(node.iftrue, point.within(chosen))
        no = (
            self._statement(node.iffalse, point.without(chosen)) if node.iffalse is not None else RegionPart()
        )
        values = dict(yes.values)
        for variable, value in no.values.items():
            values[variable] = value.union_add(values[variable]) if variable in values else value
        return RegionPart(order.block([yes.tree, no.tree]), values)

    def _parts_of_condition(self, node: c_ast.If, point: ProgramPoint) -> tuple[isl.Set, c_ast.If] | None:
        """Where the conditions of ``if (0 <= x && x < n && a[x] > m)`` hold that are affine, and the rest.

        None if there are no such conditions, or others are all that matters. They are tested first, which
        nobody sees: nothing that is not affine is asked more often.
        """
        conditions = list(conjuncts(node.cond))
        if node.iffalse is not None or len(conditions) < 2 or has_side_effect(node.cond):
            return None
        chosen, left = isl.Set.universe(point.domain.get_space()), []
        for each in conditions:
            holds = affine_condition(each, point.within(chosen), self._facts, self._assumptions)
            # what leaves out a part in the middle makes two loops: lanes have masks for that
            if holds is not None and holds.coalesce().n_basic_set() == 1:
                chosen = chosen.intersect(holds)
            else:
                left.append(each)
        if not left or len(left) == len(conditions):
            return None
        rest = reduce(lambda one, other: c_ast.BinaryOp("&&", one, other, node.cond.coord), left)
        return chosen, c_ast.If(rest, node.iftrue, None, node.coord)

    def _guarded(self, node: c_ast.If, point: ProgramPoint, refusal: Unsupported) -> RegionPart:
        """An ``if`` on data around loops: each statement inside tests the condition itself."""
        first = len(self._drafts)
        tested = self._tested_arrays(
            AccessReader(self._facts, self._arrays, self._assumptions), node.cond, point
        )
        trees = []
        for branch, guard in ((node.iftrue, node.cond), (node.iffalse, c_ast.UnaryOp("!", node.cond))):
            if branch is not None:
                with self._not_eager(), self._enclosing.guard(guard):
                    trees.append(self._statement(branch, point).tree)
        if tested & self._written_since(first):  # the statements would see a condition that has changed
            raise refusal
        return RegionPart(order.block(trees))

    @staticmethod
    def _tested_arrays(reader: AccessReader, condition: c_ast.Node, point: ProgramPoint) -> set[str]:
        reader.read(condition, point, certain=False)
        return {each.array.name for each in reader.found}

    def _check_guarded(
        self, node: c_ast.For, counter: Variable | None, violations: Sequence[Violation]
    ) -> None:
        """Under a condition on data, nothing may be assumed, and no counter may be needed afterwards."""
        if counter in self._tracked or any(self._assumptions.is_possible(each) for each in violations):
            raise Unsupported(
                "loop-header",
                "what this loop needs is not known under a condition that depends on data",
                location(node),
                "",
            )

    @contextmanager
    def _not_eager(self) -> Iterator[None]:
        """Code that may not run where its domain says so: nothing is to be read ahead of it."""
        before = self._facts.eager
        self._facts = dataclasses.replace(self._facts, eager=False)
        try:
            yield
        finally:
            self._facts = dataclasses.replace(self._facts, eager=before)

    def _last_value_of(self, node: LastValue, point: ProgramPoint) -> RegionPart:
        if self._enclosing.is_conditional:
            raise NotFollowed(node.lvalue.name)
        if point.domain.is_empty():
            return RegionPart()
        violations: list[Violation] = []
        value = self._last_values.read(node, point, self._facts, violations)
        self._require(violations)
        return (
            RegionPart() if value is None else RegionPart(None, {self._names.variables[node.lvalue]: value})
        )

    def _pragma(self, node: c_ast.Pragma) -> RegionPart:
        text = " ".join((node.string or "").split())
        if not text.startswith(_DROPPED_PRAGMAS):
            raise Unsupported(
                "pragma",
                f"'#pragma {text}' inside the region is not understood",
                location(node),
                "remove it, or end the region before it",
            )
        self._check_private(text, node)
        return RegionPart()

    def _check_private(self, pragma: str, node: c_ast.Pragma) -> None:
        """Refuse a directive of OpenMP by which a variable has its old value after the loop."""
        for clause in _PRIVATE.finditer(pragma):
            for name in clause["names"].replace(",", " ").split():
                variable = self._names.outer.get(name)
                changed = variable in self._names.written or variable in self._names.iterators.values()
                if variable is not None and changed and self._is_live(variable):
                    raise Unsupported(
                        "openmp-private",
                        f"'{name}' is private to the loop, and read after the region as it was before",
                        location(node),
                        f"declare '{name}' inside the loop",
                    )

    def _declaration(self, node: c_ast.Decl, point: ProgramPoint) -> RegionPart:
        assignment = self._initialisation(node)
        return RegionPart() if assignment is None else self._expression(assignment, node, point)

    def _initialisation(self, node: c_ast.Decl) -> c_ast.Assignment | None:
        """The assignment that initialises what ``node`` declares; None for a variable without a value."""
        if node.name is None or node not in self._names.variables:
            raise Unsupported(
                "declaration",
                "a type or function is declared here",
                location(node),
                "move it before the region",
            )
        variable = self._names.variables[node]
        if not isinstance(_element(variable.type), types.IntegerType | types.FloatingType):
            raise _special(node)
        if node.init is None:
            return None
        target = c_ast.ID(node.name, node.coord)
        self._names.variables[target] = variable
        return c_ast.Assignment("=", target, node.init, node.coord)

    def _exit_test(self, node: c_ast.FuncCall, point: ProgramPoint) -> RegionPart:
        """A test whether the region is left here."""
        if point.domain.is_empty():
            return RegionPart()
        condition, *reasons = node.args.exprs
        reason = next((each.value.strip('"') for each in reasons), "no loop is left early")
        if self._never_leaves(condition, point, reason):
            return RegionPart()
        accesses = self._accesses(condition, point)
        leave = c_ast.If(condition, c_ast.Goto(LEFT, node.coord), None, node.coord)
        part = self._add(point, self._enclosing.guarded(leave), node, accesses)
        self._drafts[-1] = dataclasses.replace(self._drafts[-1], is_exit_test=True)
        return part

    def _never_leaves(self, condition: c_ast.Node, point: ProgramPoint, reason: str) -> bool:
        """Whether sizes alone say when ``condition``, of leaving the region, holds: it is required not to.

        That is told as ``reason``.
        """
        if self._enclosing.is_conditional:
            return False
        assumptions = self._assumptions.snapshot()
        violations: list[Violation] = []
        try:
            left = Expressions(self._facts, "condition", violations).condition(condition, point)
            self._require(violations)
            self._require([Violation(left, point.domain, "early-exit", reason, location(condition), "")])
        except Unsupported:  # data say it, or it is certain
            self._assumptions.restore(assumptions)
            return False
        return True

    def _accesses(self, body: c_ast.Node, point: ProgramPoint) -> list[AccessDraft]:
        """The accesses of evaluating ``body``, and the conditions around it."""
        if self._enclosing.is_conditional or isinstance(body, c_ast.Compound):
            return self._opaque_accesses(self._facts, self._enclosing.guarded(body), point)
        reader = AccessReader(self._facts, self._arrays, self._assumptions)
        reader.read(body, point)
        return [each for each in reader.found if not each.relation.is_empty()]

    def _expression(self, body: c_ast.Node, source: c_ast.Node, point: ProgramPoint) -> RegionPart:
        if point.domain.is_empty():
            return RegionPart()
        accesses = self._accesses(body, point)
        return self._add(point, self._enclosing.guarded(body), source, accesses)


def _without_commas(node: c_ast.Node) -> Sequence[c_ast.Node]:
    return node.exprs if isinstance(node, c_ast.ExprList) else [node]


def _runs(nodes: Sequence[c_ast.Node]) -> Iterator[list[c_ast.Node]]:
    """``nodes`` one by one, but expressions that follow each other together."""

    def is_expression(node: c_ast.Node) -> bool:
        return isinstance(node, _EXPRESSIONS) and not isinstance(node, LastValue) and not _is_exit_test(node)

    for together, run in itertools.groupby(nodes, is_expression):
        nodes = list(run)
        yield from [nodes] if together else ([each] for each in nodes)


def _is_exit_test(node: c_ast.Node) -> bool:
    named = isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID)
    return named and bool(node.name.name == NEVER)


def _refused(node: c_ast.Node) -> Unsupported:
    code, what, hint = _REFUSED[type(node)]
    return Unsupported(code, f"{what} is not modelled", location(node), hint)


def _special(node: c_ast.Decl) -> Unsupported:
    if isinstance(node, ElementPointer):
        return Unsupported(
            "pointer-reassigned",
            f"how far the pointer '{node.original}' moves is not known before the region",
            location(node),
            "let it move by as many bytes in each iteration, whatever the data are, or use subscripts",
        )
    return Unsupported(
        "declaration",
        f"'{node.name}' is declared inside the region and is neither arithmetic nor an array of it",
        location(node),
        "move the declaration before the region",
    )


def _remark(refusal: Unsupported, line: int) -> Diagnostic:
    """That a statement is kept whole, and why."""
    message = f"{refusal.diagnostic.message}; the statement on line {line} is kept whole"
    return dataclasses.replace(refusal.diagnostic, severity=Severity.REMARK, message=message)


def _last_value(value: isl.PwAff, step: int) -> isl.PwAff:
    """``value`` (of a loop's body) in the last iteration for which it is defined."""
    domain = value.domain()
    depth = int(domain.dim(_dim.set))
    last = first_value(domain, -step)
    outer = isl.PwMultiAff.identity_on_domain_space(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, depth - 1))
    whole = outer.flat_range_product(isl.PwMultiAff.from_pw_aff(last))
    return value.pullback_pw_multi_aff(whole).coalesce()


def _element(kind: types.Type) -> types.Type:
    while isinstance(kind, types.ArrayType):
        kind = kind.element
    return kind


def _whole_planes(count: RowCount, region: Region) -> WholeMultiple:
    """That the outer stride of ``count`` is a multiple of the inner one."""
    outer, inner = (spaces.parameter(0, each) for each in (count.outer, count.inner))
    reason = "of two strides of an array, the larger must be a multiple of the other"
    return WholeMultiple(outer, inner, reason, region.begin)


def _other_than_one(parameter: str, region: Region) -> Violation:
    """That a ``parameter`` is not 1, wherever it is read."""
    other = spaces.parameter(0, parameter).ne_set(spaces.constant(0, 1))
    reason = "what multiplies loop counters in subscripts must be 1"
    return Violation(other, spaces.universe(0), "unknown-footprint", reason, region.begin, "")
