"""From a region to its model: the walk over statements, and the assembly of the result."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import islpy as isl
from pycparser import c_ast

from polybuild.diagnostics import Diagnostic, Severity, Unsupported
from polybuild.scop import order
from polybuild.scop.accesses import AccessDraft, AccessReader, any_element
from polybuild.scop.aliasing import check_fixed_values
from polybuild.scop.arrays import Arrays
from polybuild.scop.assumptions import Assumptions, Violation
from polybuild.scop.calls import CallReader
from polybuild.scop.delinearise import FlatSubscripts
from polybuild.scop.expressions import Expressions, is_affinity_refusal
from polybuild.scop.facts import Facts
from polybuild.scop.history import History
from polybuild.scop.inlining import inline_calls
from polybuild.scop.lastvalues import LastValues, NotFollowed, check_unnormalised
from polybuild.scop.loops import first_value, read_loop
from polybuild.scop.model import Access, AccessKind, Array, FinalValue, Iterator, Parameter, Scop, Statement
from polybuild.scop.names import Names, Variable, resolve
from polybuild.scop.nodes import last_line, location, used_after, walk
from polybuild.scop.normalise import normalise
from polybuild.scop.opaque import REFUSED, OpaqueReader, is_cured
from polybuild.scop.parameters import IslNames, Parameters
from polybuild.scop.place import Place, later_values
from polybuild.scop.structure import has_side_effect, loop_depth, without_continue
from polybuild.scop.synthetic import LastValue
from polybuild.scop.uses import read_after
from polybuild.source import types
from polybuild.source.model import Region, Storage

_dim = isl.dim_type

# Statements that are not modelled: code, what to call it, hint. Those of _WHOLE are kept whole if possible.
_WHOLE = (c_ast.While, c_ast.DoWhile, c_ast.Switch)
_REFUSED: dict[type, tuple[str, str, str]] = {
    c_ast.While: ("while", "a while loop", "write it as a for loop with affine bounds"),
    c_ast.DoWhile: ("do-while", "a do loop", "write it as a for loop with affine bounds"),
    c_ast.Switch: ("switch", "a switch", "write it as if and else with affine conditions"),
    **REFUSED,
}

_SHARED = {Storage.GLOBAL, Storage.STATIC}

# Pragmas that say nothing about meaning: what they ask for is decided anew.
_DROPPED_PRAGMAS = (
    "ivdep", "GCC ivdep", "GCC unroll", "unroll", "nounroll", "vector", "novector", "simd", "clang loop",
    "omp simd", "omp parallel for", "polybuild",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Part:
    """What a piece of the region contributes: its order, and the values its loops leave in counters."""

    tree: order.Tree | None = None
    values: Mapping[Variable, isl.PwAff] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Draft:
    """A statement before all parameters are known."""

    place: Place
    loops: tuple[c_ast.For, ...]
    body: c_ast.Node
    source: c_ast.Node
    accesses: tuple[AccessDraft, ...]


def extract_scop(region: Region) -> Scop:
    """The polyhedral model of ``region``.

    Raises Unsupported, naming the construct, if the region is outside the model.
    """
    try:
        return _normalised(inline_calls(region))
    except RecursionError:
        raise Unsupported(
            "too-complex",
            "the region is nested too deeply",
            region.begin,
            "split long expressions or the region",
        ) from None


def _normalised(region: Region) -> Scop:
    """The model of ``region`` in normal form, or as it is where that is refused."""
    excluded: frozenset[str] = frozenset()
    while True:
        normal = normalise(region, excluded)
        try:
            return _extract(normal)
        except NotFollowed as failure:
            excluded |= failure.names
        except Unsupported as refusal:
            if normal is not region:
                with contextlib.suppress(Unsupported):
                    return _extract(region)
            if refusal.diagnostic.code in {"integer-wrap", "endless-loop"}:
                with contextlib.suppress(Unsupported, NotFollowed):
                    return _extract(normalise(region, excluded, wrapping=True), wrapping=True)
            raise


def _extract(region: Region, *, wrapping: bool = False) -> Scop:
    """The model of a region; raises NotFollowed for variables that must not be normalised.

    With ``wrapping``, unsigned values that leave their type whatever the parameters are wrap around.
    """
    first = _Extractor(region, FlatSubscripts(), wrapping)
    tree, values = first.walk()
    viewed = first.with_views()
    if viewed is None:
        return first.assemble(tree, values)
    second = _Extractor(region, viewed, wrapping)
    return second.assemble(*second.walk())


class _Extractor:
    """One extraction: the tables that grow while the region is walked."""

    def __init__(self, region: Region, flat: FlatSubscripts, wrapping: bool) -> None:
        self._region = region
        self._names: Names = resolve(region)
        self._parameters = Parameters()
        self._assumptions = Assumptions(self._parameters)
        self._facts = Facts(
            region, self._names, self._parameters, lambda: self._assumptions.known, wrapping=wrapping
        )
        self._arrays = Arrays(self._facts, self._assumptions, self._is_stale, flat)
        self._calls = CallReader(region, self._arrays, self._assumptions)
        self._facts = dataclasses.replace(self._facts, calls=self._calls)
        self._used_after = used_after(region.function, region.index)
        self._read_after = read_after(region.function, region.index)
        self._tracked = frozenset(
            variable for variable in self._names.iterators.values() if self._is_tracked(variable)
        )
        self._drafts: list[_Draft] = []
        self._loops: list[c_ast.For] = []
        self._remarks: list[Diagnostic] = []
        # conditions on data that the statements at hand must test themselves, outermost first
        self._guards: list[c_ast.Node] = []
        self._refusals: list[Unsupported] = []
        self._last_values = LastValues()

    def with_views(self) -> FlatSubscripts | None:
        """What another walk should know of flat subscripts, None if no other walk is needed."""
        return self._arrays.flat.for_next_walk(self._assumptions.known)

    def walk(self) -> tuple[order.Tree, Mapping[Variable, isl.PwAff]]:
        """Walk the region; its order, and what its loops leave in their counters."""
        for statement in self._region.statements:
            if isinstance(statement, c_ast.Decl) and statement.name in self._used_after:
                raise Unsupported(
                    "declaration",
                    f"'{statement.name}' is declared inside the region and used after it",
                    location(statement),
                    "move the declaration before the region",
                )
        part = self._sequence(self._region.statements, Place())
        if part.tree is None:
            raise Unsupported(
                "empty-region",
                "the region has no statement that runs",
                self._region.begin,
                "remove the pragmas",
            )
        self._check_whole()
        return part.tree, part.values

    # Facts about names

    @functools.cached_property
    def _history(self) -> History:
        return History(self._region.function)

    def _check_parameters(self) -> None:
        """Refuse if a called function changes what the model took for a parameter."""
        counters = {counter for draft in self._drafts for counter in draft.place.counters}
        for draft in self._drafts:
            for each in draft.accesses:
                key = each.base.variable, each.base.members
                counts = each.base.variable in counters and each.base.variable not in self._names.demoted
                changed = counts or self._parameters.has(*key) or self._parameters.has_element(*key)
                if each.kind is not AccessKind.READ and changed:
                    raise Unsupported(
                        "call",
                        f"a called function changes '{each.base.variable.name}', on which the region relies",
                        location(each.node),
                        "copy it to a local variable before the region",
                    )

    def _add_reads_of_everything(self) -> None:
        """Functions that may read any memory read all that the region writes and others can reach."""
        if not self._calls.everything:
            return
        written = {
            each.array.name: each
            for draft in self._drafts
            for each in draft.accesses
            if each.kind is not AccessKind.READ
            and not each.array.restrict
            and (each.array.by_pointer or each.array.address_taken or each.array.storage in _SHARED)
        }
        for position, draft in enumerate(self._drafts):
            call = next((node for node in walk(draft.body) if node in self._calls.everything), None)
            if call is not None:
                more = tuple(any_element(each, draft.place, call) for each in written.values())
                self._drafts[position] = dataclasses.replace(draft, accesses=(*more, *draft.accesses))

    def _is_stale(self, array: Variable, extent: Variable) -> bool:
        return self._history.changed_since(array, extent)

    def _is_tracked(self, variable: Variable) -> bool:
        """Whether the value of this loop counter after its loops is needed."""
        return variable in self._names.escaping or self._is_live(variable)

    def _is_live(self, variable: Variable) -> bool:
        outlives = variable.storage in {Storage.GLOBAL, Storage.STATIC} or variable.name in self._read_after
        return not variable.local and outlives

    def _require(self, violations: Iterable[Violation]) -> None:
        for violation in violations:
            self._assumptions.require(violation)

    # The walk

    def _sequence(self, nodes: Sequence[c_ast.Node], place: Place) -> _Part:
        trees: list[order.Tree | None] = []
        values: dict[Variable, isl.PwAff] = {}
        for node in nodes:
            part = self._statement(node, place)
            trees.append(part.tree)
            if part.values:
                values = later_values(values, part.values)
                place = place.after(part.values)
        return _Part(order.block(trees), values)

    def _statement(self, node: c_ast.Node, place: Place) -> _Part:
        if isinstance(node, c_ast.Compound):
            return self._sequence(node.block_items or (), place)
        if isinstance(node, (c_ast.For, c_ast.If, *_WHOLE)):
            return self._structured(node, place)
        if isinstance(node, LastValue):
            return self._last_value_of(node, place)
        if isinstance(node, c_ast.EmptyStatement):
            return _Part()
        if isinstance(node, c_ast.Pragma):
            return self._pragma(node)
        if isinstance(node, c_ast.Decl):
            return self._declaration(node, place)
        if type(node) in _REFUSED:
            raise _refused(node)
        return self._expression(node, node, place)

    def _structured(self, node: c_ast.Node, place: Place) -> _Part:
        """A statement with statements inside: modelled if possible, else kept whole as one statement."""
        loops, drafts, remarks = len(self._loops), len(self._drafts), len(self._remarks)
        guards, eager = len(self._guards), self._facts.eager
        assumptions = self._assumptions.snapshot()
        try:
            if isinstance(node, c_ast.For):
                return self._for(node, place)
            if isinstance(node, c_ast.If):
                return self._if(node, place)
            raise _refused(node)
        except Unsupported as refusal:
            if not is_cured(refusal):
                raise
            del self._loops[loops:], self._drafts[drafts:], self._remarks[remarks:]
            del self._guards[guards:], self._refusals[remarks:]
            self._assumptions.restore(assumptions)
            self._facts = dataclasses.replace(self._facts, eager=eager)
            return self._whole(node, place, refusal)

    def _whole(self, node: c_ast.Node, place: Place, refusal: Unsupported) -> _Part:
        """One statement for all of ``node``, which is outside the model for the reason of ``refusal``."""
        if place.domain.is_empty():
            return _Part()
        check_unnormalised(node)
        body = self._under_guards(node)
        self._names = self._names.demote(walk(node))
        self._facts = dataclasses.replace(self._facts, names=self._names)
        facts = dataclasses.replace(self._facts, eager=False)
        accesses = OpaqueReader(facts, self._arrays, self._assumptions).read(body, place)
        self._refusals.append(refusal)
        self._remarks.append(
            dataclasses.replace(
                refusal.diagnostic,
                severity=Severity.REMARK,
                message=f"{refusal.diagnostic.message}; the statement on line {location(node).line}"
                " is kept whole",
            )
        )
        self._drafts.append(_Draft(place, tuple(self._loops), body, node, tuple(accesses)))
        return _Part(order.Leaf(len(self._drafts) - 1))

    def _check_whole(self) -> None:
        """Refuse what was kept whole if nothing is gained, or if its counters mean two things."""
        if self._refusals and not any(draft.loops for draft in self._drafts):
            raise self._refusals[0]
        self._check_parameters()
        self._add_reads_of_everything()
        counted = {counter for draft in self._drafts for counter in draft.place.counters}
        for variable in self._names.demoted & counted:
            if variable in self._names.escaping or self._is_live(variable):
                raise Unsupported(
                    "iterator-used-outside-loop",
                    f"'{variable.name}' counts several loops of the region and is read outside of them",
                    variable.location,
                    "use a variable of its own for each loop",
                )

    def _for(self, node: c_ast.For, place: Place) -> _Part:
        violations: list[Violation] = []
        counter = self._names.iterators.get(node)
        loop = read_loop(node, place, self._facts, violations, want_final=counter in self._tracked)
        if self._guards:
            self._check_guarded(node, counter, violations)
        self._require(violations)
        self._loops.append(node)
        body = self._statement(
            without_continue(node.stmt), self._forget(place, node.stmt).inside(loop.counter, loop.domain)
        )
        self._loops.pop()

        values: dict[Variable, isl.PwAff] = {
            variable: _last_value(value, loop.step) for variable, value in body.values.items()
        }
        if loop.final is not None:
            values = later_values(values, {loop.counter: loop.final})
        if body.tree is None:
            return _Part(None, values)
        return _Part(order.Band(place.depth, loop.step < 0, body.tree), values)

    def _forget(self, place: Place, body: c_ast.Node) -> Place:
        """``place`` without the values of counters that an earlier iteration of ``body`` may have changed."""
        if not place.values:
            return place
        changed = {self._names.iterators.get(each) for each in walk(body) if isinstance(each, c_ast.For)}
        kept = {variable: value for variable, value in place.values.items() if variable not in changed}
        return dataclasses.replace(place, values=kept)

    def _if(self, node: c_ast.If, place: Place) -> _Part:
        violations: list[Violation] = []
        try:
            chosen = Expressions(self._facts, "condition", violations).condition(node.cond, place)
        except Unsupported as refusal:
            deep = loop_depth(node) > place.depth
            if not is_affinity_refusal(refusal) or not deep or has_side_effect(node.cond):
                raise
            return self._guarded(node, place, refusal)
        self._require(violations)
        yes = self._statement(node.iftrue, place.within(chosen))
        no = self._statement(node.iffalse, place.without(chosen)) if node.iffalse is not None else _Part()
        values = dict(yes.values)
        for variable, value in no.values.items():
            values[variable] = value.union_add(values[variable]) if variable in values else value
        return _Part(order.block([yes.tree, no.tree]), values)

    def _guarded(self, node: c_ast.If, place: Place, refusal: Unsupported) -> _Part:
        """An ``if`` on data around loops: each statement inside tests the condition itself."""
        first = len(self._drafts)
        tested = self._tested_arrays(
            AccessReader(self._facts, self._arrays, self._assumptions), node.cond, place
        )
        trees = []
        eager = self._facts.eager
        self._facts = dataclasses.replace(self._facts, eager=False)
        for branch, guard in ((node.iftrue, node.cond), (node.iffalse, c_ast.UnaryOp("!", node.cond))):
            if branch is not None:
                self._guards.append(guard)
                trees.append(self._statement(branch, place).tree)
                self._guards.pop()
        written = {
            each.array.name
            for draft in self._drafts[first:]
            for each in draft.accesses
            if each.kind is not AccessKind.READ
        }
        self._facts = dataclasses.replace(self._facts, eager=eager)
        if tested & written:  # the statements would see a condition that has changed
            raise refusal
        return _Part(order.block(trees))

    @staticmethod
    def _tested_arrays(reader: AccessReader, condition: c_ast.Node, place: Place) -> set[str]:
        reader.read(condition, place, certain=False)
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

    def _under_guards(self, node: c_ast.Node) -> c_ast.Node:
        """``node`` as the body of ``if``s on the conditions around it."""
        for guard in reversed(self._guards):
            node = c_ast.If(guard, node, None, node.coord)
        return node

    def _last_value_of(self, node: LastValue, place: Place) -> _Part:
        if self._guards:
            raise NotFollowed(node.lvalue.name)
        if place.domain.is_empty():
            return _Part()
        violations: list[Violation] = []
        value = self._last_values.read(node, place, self._facts, violations)
        self._require(violations)
        return _Part() if value is None else _Part(None, {self._names.variables[node.lvalue]: value})

    def _pragma(self, node: c_ast.Pragma) -> _Part:
        text = " ".join((node.string or "").split())
        if not text.startswith(_DROPPED_PRAGMAS):
            raise Unsupported(
                "pragma",
                f"'#pragma {text}' inside the region is not understood",
                location(node),
                "remove it, or end the region before it",
            )
        return _Part()

    def _declaration(self, node: c_ast.Decl, place: Place) -> _Part:
        if node.name is None or node not in self._names.variables:
            raise Unsupported(
                "declaration",
                "a type or function is declared here",
                location(node),
                "move it before the region",
            )
        variable = self._names.variables[node]
        if not isinstance(_element(variable.type), types.Integer | types.Floating):
            raise Unsupported(
                "declaration",
                f"'{node.name}' is declared inside the region and is neither arithmetic nor an array of it",
                location(node),
                "move the declaration before the region",
            )
        if node.init is None:
            return _Part()
        target = c_ast.ID(node.name, node.coord)
        self._names.variables[target] = variable
        return self._expression(c_ast.Assignment("=", target, node.init, node.coord), node, place)

    def _expression(self, body: c_ast.Node, source: c_ast.Node, place: Place) -> _Part:
        if place.domain.is_empty():
            return _Part()
        if self._guards:
            body = self._under_guards(body)
            accesses = OpaqueReader(self._facts, self._arrays, self._assumptions).read(body, place)
        else:
            reader = AccessReader(self._facts, self._arrays, self._assumptions)
            reader.read(body, place)
            accesses = [each for each in reader.found if not each.relation.is_empty()]
        self._drafts.append(_Draft(place, tuple(self._loops), body, source, tuple(accesses)))
        return _Part(order.Leaf(len(self._drafts) - 1))

    # Assembly

    def assemble(self, tree: order.Tree, values: Mapping[Variable, isl.PwAff]) -> Scop:
        """The scop of the walk that returned ``tree`` and ``values``."""
        accesses = [each for draft in self._drafts for each in draft.accesses]
        check_fixed_values(self._names.iterators.values(), accesses)
        space = self._space()
        context = self._assumptions.known.align_params(space)
        arrays = {array.name: _aligned(array, space) for array in self._used_arrays()}
        statements = [self._finish(index, draft, arrays, space) for index, draft in enumerate(self._drafts)]
        finals = [
            FinalValue(variable.name, c_ast.ID(variable.name), variable.type, value.align_params(space))
            for variable, value in values.items()
            if self._is_live(variable) and variable not in self._last_values
        ]
        finals += self._last_values.finals(values, space)
        return Scop(
            context=context,
            parameters=self._parameters.all(),
            arrays=tuple(arrays.values()),
            statements=tuple(statements),
            schedule=order.build_schedule(tree, [each.domain for each in statements]),
            assumptions=tuple(
                type(each)(each.condition.align_params(space), each.reason, each.location)
                for each in self._assumptions.all()
            ),
            final_values=tuple(finals),
            location=self._region.begin,
            remarks=tuple(self._remarks),
            limits=tuple(self._assumptions.limits),
        )

    def _used_arrays(self) -> list[Array]:
        """The arrays that the statements mention; others were met in constructs that were read again."""
        touched = {each.array.name for draft in self._drafts for each in draft.accesses}
        touched |= {array.name for draft in self._drafts for _, array in self._locals(draft.body)}
        return [array for array in self._arrays.all() if array.name in touched]

    def _locals(self, body: c_ast.Node) -> list[tuple[c_ast.Node, Array]]:
        """The names in ``body`` that are variables of the region, declared outside of ``body``."""
        found = []
        for node in walk(body):
            variable = self._names.variables.get(node) if isinstance(node, c_ast.ID) else None
            if variable is not None and variable.local:
                array = self._arrays.find(variable)
                if array is not None:
                    found.append((node, array))
        return found

    def _space(self) -> isl.Space:
        """The parameter space of the scop, parameters in the order in which they were met."""
        names = [each.name for each in self._parameters.all()]
        space = isl.Space.params_alloc(isl.DEFAULT_CONTEXT, len(names))
        for position, name in enumerate(names):
            space = space.set_dim_name(_dim.param, position, name)
        return space

    def _finish(self, index: int, draft: _Draft, arrays: Mapping[str, Array], space: isl.Space) -> Statement:
        name = f"S{index}"
        counters = draft.place.counters
        dimensions = _dimension_names(counters, self._parameters.all())

        def named(relation: isl.Map) -> isl.Map:
            relation = relation.align_params(space).set_tuple_name(_dim.in_, name)
            for position, dimension in enumerate(dimensions):
                relation = relation.set_dim_name(_dim.in_, position, dimension)
            return relation

        domain = draft.place.domain.coalesce().align_params(space).set_tuple_name(name)
        for position, dimension in enumerate(dimensions):
            domain = domain.set_dim_name(_dim.set, position, dimension)
        return Statement(
            name=name,
            domain=domain,
            iterators=tuple(
                Iterator(counter.name, counter.type, location(loop))
                for counter, loop in zip(counters, draft.loops, strict=True)
            ),
            body=draft.body,
            accesses=tuple(
                Access(arrays[each.array.name], named(each.relation), each.kind, each.node, each.exact)
                for each in draft.accesses
            ),
            locals=tuple((node, arrays[array.name]) for node, array in self._locals(draft.body)),
            location=location(draft.source),
            end_line=last_line(draft.source),
        )


def _refused(node: c_ast.Node) -> Unsupported:
    code, what, hint = _REFUSED[type(node)]
    return Unsupported(code, f"{what} is not modelled", location(node), hint)


def _dimension_names(counters: Sequence[Variable], parameters: Iterable[Parameter]) -> list[str]:
    """Names for the dimensions of a domain: those of the counters, made unique."""
    names = IslNames()
    for parameter in parameters:
        names.unique(parameter.name)
    return [names.unique(counter.name) for counter in counters]


def _last_value(value: isl.PwAff, step: int) -> isl.PwAff:
    """``value`` (of a loop's body) in the last iteration for which it is defined."""
    domain = value.domain()
    depth = int(domain.dim(_dim.set))
    last = first_value(domain, -step)
    outer = isl.PwMultiAff.identity_on_domain_space(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, depth - 1))
    whole = outer.flat_range_product(isl.PwMultiAff.from_pw_aff(last))
    return value.pullback_pw_multi_aff(whole).coalesce()


def _aligned(array: Array, space: isl.Space) -> Array:
    extents = tuple(None if each is None else each.align_params(space) for each in array.extents)
    return dataclasses.replace(array, extents=extents)


def _element(kind: types.Type) -> types.Type:
    while isinstance(kind, types.Array):
        kind = kind.element
    return kind
