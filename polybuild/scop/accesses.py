"""What a C expression reads and writes when it is evaluated."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import islpy as isl
from pycparser import c_ast

from polybuild.c import types
from polybuild.c.dialects import FAILED, OPAQUE
from polybuild.c.pure_functions import is_pure_function
from polybuild.c.syntax_tree import location, values_of_literal
from polybuild.c.synthetic import AnySubscript, PointerTest
from polybuild.diagnostics import Unsupported
from polybuild.normalise.names import Variable
from polybuild.poly import spaces
from polybuild.scop.arrays import Arrays, key_of
from polybuild.scop.assumptions import Assumptions, Violation
from polybuild.scop.delinearise.flat_subscripts import bounds
from polybuild.scop.delinearise.subscripts import FlatSubscript, read_subscript
from polybuild.scop.expressions import Expressions, is_affinity_refusal
from polybuild.scop.facts import Facts
from polybuild.scop.model import AccessKind, Array
from polybuild.scop.program_point import ProgramPoint
from polybuild.scop.ranges import Ranges
from polybuild.scop.references import LvalueReference, read_reference, resolve_reference, union_of
from polybuild.values import dataclass

_dim = isl.dim_type

_REFUSED: dict[type, tuple[str, str, str]] = {
    c_ast.CompoundLiteral: (
        "compound-literal",
        "a compound literal",
        "give the value a name before the region",
    ),
    c_ast.InitList: ("initialiser-list", "an initialiser list", "assign the elements one by one"),
    c_ast.GenericSelection: ("generic-selection", "_Generic", "call the chosen function directly"),
}


@dataclass(frozen=True, slots=True)
class AccessDraft:
    """An access before its spaces are final: ``relation`` leaves the unnamed space of its point."""

    base: LvalueReference
    array: Array
    relation: isl.Map
    kind: AccessKind
    node: c_ast.Node
    exact: bool = True
    within: int | None = None
    certain: bool = False

    def only_within(self, depth: int) -> AccessDraft:
        """The same in ``depth`` loops of which the last is dynamic: it may not run at all."""
        if self.kind is not AccessKind.WRITE:
            return self
        return dataclasses.replace(self, kind=AccessKind.MAY_WRITE, within=depth)


class AccessReader:
    """Collects the accesses of one expression, in an order in which reads precede the write they feed.

    ``inner`` are variables that live in one instance only and are no data of the
    region. ``guarded`` says that the expression is evaluated under a condition
    that the point does not know: what it needs to be in bounds is then taken to
    hold where it runs, and nothing is assumed of the parameters.
    """

    def __init__(
        self,
        facts: Facts,
        arrays: Arrays,
        assumptions: Assumptions,
        *,
        inner: frozenset[Variable] = frozenset(),
        guarded: bool = False,
    ) -> None:
        self._facts = facts
        self._arrays = arrays
        self._assumptions = assumptions
        self._inner = inner
        self._guarded = guarded
        self.found: list[AccessDraft] = []

    def read(self, node: c_ast.Node, point: ProgramPoint, *, certain: bool = True) -> None:
        """Collect the accesses of evaluating ``node``; ``certain`` is false if it might not be evaluated."""
        if isinstance(node, c_ast.Constant):
            return
        if isinstance(node, c_ast.ID):
            self._identifier(node, point)
        elif isinstance(node, c_ast.ArrayRef | c_ast.StructRef):
            values = values_of_literal(node)
            if values is None:
                self._access(node, point, AccessKind.READ, certain)
            else:
                self._read_all(values, point, certain=certain)
        elif isinstance(node, c_ast.Assignment):
            self._assignment(node, point, certain)
        elif isinstance(node, c_ast.UnaryOp):
            self._unary(node, point, certain)
        elif isinstance(node, PointerTest):
            self._test(node, point)
        elif isinstance(node, c_ast.BinaryOp):
            self.read(node.left, point, certain=certain)
            if node.op in {"&&", "||"}:
                self._perhaps(node.right, point)
            else:
                self.read(node.right, point, certain=certain)
        elif isinstance(node, c_ast.TernaryOp):
            self._ternary(node, point, certain)
        elif isinstance(node, c_ast.ExprList):
            for each in node.exprs:
                self.read(each, point, certain=certain)
        elif isinstance(node, c_ast.FuncCall):
            self._call(node, point, certain)
        elif isinstance(node, c_ast.Cast):
            self._cast(node, point, certain)
        else:
            code, what, hint = _REFUSED.get(type(node), ("expression", "this expression", "simplify it"))
            raise Unsupported(code, f"{what} is not modelled", location(node), hint)

    @property
    def _here(self) -> Facts:
        """The facts for an expression that is evaluated now, which may not be certain."""
        return dataclasses.replace(self._facts, eager=False) if self._guarded else self._facts

    def _identifier(self, node: c_ast.ID, point: ProgramPoint) -> None:
        variable = self._facts.names.variables.get(node)
        if variable is None:
            if node.name not in self._facts.region.visible.enumerators:
                raise Unsupported(
                    "unknown-name", f"'{node.name}' is not a known variable", location(node), ""
                )
            return
        if variable in point.counters:
            return
        if self._facts.names.only_counts(variable):
            raise Unsupported(
                "iterator-used-outside-loop",
                f"'{node.name}' counts a loop of the region and is read where that loop is not running",
                location(node),
                "use a variable of its own for the loop",
            )
        self._access(node, point, AccessKind.READ)

    def _test(self, node: PointerTest, point: ProgramPoint) -> None:
        """A test of a pointer reads nothing that the region touches, if it is known on entry."""
        try:
            Expressions(self._here, "condition", []).affine(node, point)
        except Unsupported as error:
            if is_affinity_refusal(error):
                read_reference(node.left, self._facts.names)  # says that it is no value
            raise

    def _perhaps(self, node: c_ast.Node, point: ProgramPoint) -> None:
        """``node`` is evaluated, or not: that is known only when it runs."""
        guarded, self._guarded = self._guarded, True
        self.read(node, point, certain=False)
        self._guarded = guarded

    def _assignment(self, node: c_ast.Assignment, point: ProgramPoint, certain: bool) -> None:
        if node.op != "=":
            self._access(node.lvalue, point, AccessKind.READ, certain)
        self.read(node.rvalue, point, certain=certain)
        self._access(node.lvalue, point, _write(certain), certain)

    def _unary(self, node: c_ast.UnaryOp, point: ProgramPoint, certain: bool) -> None:
        if node.op == "sizeof":
            return
        if node.op == "&":
            raise Unsupported(
                "address-of", "an address is taken inside the region", location(node), "use subscripts"
            )
        if node.op == "*":
            self._access(node, point, AccessKind.READ, certain)
        elif node.op in {"++", "p++", "--", "p--"}:
            self._access(node.expr, point, AccessKind.READ, certain)
            self._access(node.expr, point, _write(certain), certain)
        else:
            self.read(node.expr, point, certain=certain)

    def _ternary(self, node: c_ast.TernaryOp, point: ProgramPoint, certain: bool) -> None:
        self.read(node.cond, point, certain=certain)
        violations: list[Violation] = []
        chosen: isl.Set | None = None
        try:
            chosen = Expressions(self._facts, "condition", violations).condition(node.cond, point)
        except Unsupported as error:
            if not is_affinity_refusal(error):
                raise
        if chosen is None or not all(each.instances.is_empty() for each in violations):
            self._perhaps(node.iftrue, point)
            self._perhaps(node.iffalse, point)
        else:
            self.read(node.iftrue, point.within(chosen), certain=certain)
            self.read(node.iffalse, point.without(chosen), certain=certain)

    def _call(self, node: c_ast.FuncCall, point: ProgramPoint, certain: bool) -> None:
        name = node.name.name if isinstance(node.name, c_ast.ID) else ""
        if name in {OPAQUE, FAILED}:
            raise Unsupported(
                "opaque-statement",
                "a statement expression or inline assembly is not modelled",
                location(node),
                "end the region before it",
            )
        own = self._facts.region.callees.get(name)
        defined = own is not None and own.body is not None  # by the file, whatever the library's does
        if not is_pure_function(name) or defined or node.name in self._facts.names.variables:
            self.found += self._facts.calls.read(
                node, point, self._here, inner=self._inner, guarded=self._guarded, certain=certain
            )
            return
        for each in node.args.exprs if node.args is not None else ():
            self.read(each, point, certain=certain)

    def _cast(self, node: c_ast.Cast, point: ProgramPoint, certain: bool) -> None:
        kind = self._facts.region.visible.scope.resolve(node.to_type)
        if not isinstance(kind, types.IntegerType | types.FloatingType | types.VoidType):
            raise Unsupported(
                "pointer-cast",
                "a cast to a type that is not arithmetic",
                location(node),
                "use plain subscripts",
            )
        self.read(node.expr, point, certain=certain)

    def touch(self, node: c_ast.Node, point: ProgramPoint, kind: AccessKind) -> None:
        """An access to elements that ``node`` stands for, whatever else evaluating it would read."""
        before = len(self.found)
        while isinstance(resolve_reference(node, self._facts.names).type, types.ArrayType):
            node = AnySubscript.below(node)
        self._access(node, point, kind)
        own = [each for each in self.found[before:] if each.node is node]
        self.found[before:] = own

    def _access(self, node: c_ast.Node, point: ProgramPoint, kind: AccessKind, certain: bool = True) -> None:
        union = union_of(node, self._facts.names)
        if union is not None and union[0] in self._inner:  # whatever its bits are, they concern nobody else
            self._read_all(union[1], point, certain=certain)
            return
        reference = read_reference(node, self._facts.names)
        if reference.variable in self._inner:
            self._read_all(reference.subscripts, point, certain=certain)
            return
        if reference.variable in point.counters:
            raise Unsupported(
                "iterator-written",
                f"the loop counter '{reference.variable.name}' is assigned inside its loop",
                location(node),
                "use another variable for that value",
            )
        array = self._arrays.of(reference, node)
        subscripts = self._subscripts(reference, array, point, written=kind is not AccessKind.READ)
        exact = all(each is not None for each in subscripts)
        # the domain comes last: of one in many pieces each would be intersected with each
        relation = isl.Map.from_domain(isl.Set.universe(point.domain.get_space()))
        for position, subscript in enumerate(subscripts):
            if subscript is None:
                within = opaque_dimension(point.depth, array, position)
                if position not in array.view[1:]:
                    self.read(reference.subscripts[_written(array, position)], point, certain=certain)
                    if position not in array.view or array.flat == 1:
                        source = reference.subscripts[_written(array, position)]
                        within = within.intersect(self._range(source, point))
            else:
                within = isl.Map.from_pw_aff(subscript)
                if self._guarded and position not in {0, *array.view}:
                    within = within.intersect(opaque_dimension(point.depth, array, position))
            relation = relation.flat_range_product(within)
        if not self._guarded:
            self._require_bounds(array, reference, subscripts, point)
        relation = relation.intersect_domain(point.domain).coalesce().set_tuple_name(_dim.out, array.name)
        if kind is AccessKind.WRITE and not exact:
            kind = AccessKind.MAY_WRITE
        certain = certain and exact and not self._guarded
        self.found.append(AccessDraft(reference, array, relation, kind, node, exact, certain=certain))

    def _read_all(self, nodes: Sequence[c_ast.Node], point: ProgramPoint, *, certain: bool) -> None:
        for each in nodes:
            self.read(each, point, certain=certain)

    def _subscripts(
        self, reference: LvalueReference, array: Array, point: ProgramPoint, *, written: bool
    ) -> list[isl.PwAff | None]:
        """One subscript for each dimension of ``array``, None if any may be meant."""
        if not reference.subscripts:
            return []
        found = [self._subscript(each, point) for each in reference.subscripts]
        plain = [None if isinstance(each, FlatSubscript) else each for each in found]
        base = array.row_subscripts
        first, source = found[base], reference.subscripts[base]
        flat = self._arrays.flat
        unbounded = array.extents[base] is None and not array.local
        pointed = array.provenance.by_pointer and not array.provenance.restrict
        flat.note(
            key_of(reference),
            first,
            point,
            in_rows=not array.local,
            movable=unbounded,
            may_overlap=pointed,
            written=written,
        )
        if array.flat == 1:
            return plain
        view: Sequence[isl.PwAff | None] | None = None
        if first is not None:
            view = flat.split(key_of(reference), first, point, source, self._assumptions)
        if view is None:
            flat.require_sizes(key_of(reference), point, source, self._assumptions)
            view = [None] * array.flat
        return [*plain[:base], *view, *plain[base + 1 :]]

    def _range(self, node: c_ast.Node, point: ProgramPoint) -> isl.Map:
        """``{ [i0, ...] -> [x] }`` for any ``x`` that the subscript ``node`` may be."""
        anything = isl.Map.universe(isl.Space.alloc(isl.DEFAULT_CONTEXT, 0, point.depth, 1))
        found = Ranges(self._here, self._assumptions, point).of(node)
        if found is None:
            return anything
        low, high = (isl.Map.from_pw_aff(end) for end in (found.low, found.high))
        space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, 1)
        return low.apply_range(isl.Map.lex_le(space)).intersect(high.apply_range(isl.Map.lex_ge(space)))

    def _subscript(self, node: c_ast.Node, point: ProgramPoint) -> isl.PwAff | FlatSubscript | None:
        """The value of a subscript, None if it is not affine: any element may then be meant."""
        violations: list[Violation] = []
        try:
            value = read_subscript(node, point, self._here, self._arrays.flat.atoms, violations)
        except Unsupported as error:
            if not is_affinity_refusal(error):
                raise
            return None
        for violation in violations:
            if self._guarded:
                if self._assumptions.is_possible(violation):
                    return None
            else:
                self._assumptions.require(violation)
        return value

    def _require_bounds(
        self,
        array: Array,
        reference: LvalueReference,
        subscripts: list[isl.PwAff | None],
        point: ProgramPoint,
    ) -> None:
        """Inner subscripts must stay in their extents: beyond them lie elements with other subscripts."""
        for position in range(1, len(subscripts)):
            extent, subscript = array.extents[position], subscripts[position]
            if extent is None or subscript is None or position in array.view:
                continue
            written = _written(array, position)
            for outside, demand in bounds(subscript, extent, point.depth):
                self._assumptions.require(
                    Violation(
                        outside,
                        point.domain,
                        "out-of-bounds",
                        f"subscript {written + 1} of '{reference.variable.name}' {demand}",
                        location(reference.subscripts[written]),
                        "keep every subscript but the first within the declared extents",
                    )
                )


def any_element(draft: AccessDraft, point: ProgramPoint, node: c_ast.Node) -> AccessDraft:
    """A read, by ``node`` at ``point``, of all elements of the array of ``draft``."""
    array = draft.array
    relation = isl.Map.from_domain(point.domain)
    for position in range(len(array.extents)):
        relation = relation.flat_range_product(opaque_dimension(point.depth, array, position))
    relation = relation.intersect_domain(point.domain).set_tuple_name(_dim.out, array.name)
    return AccessDraft(draft.base, array, relation, AccessKind.READ, node, exact=False)


def opaque_dimension(depth: int, array: Array, position: int) -> isl.Map:
    """``{ [i0, ...] -> [x] }`` for any ``x`` that a subscript of ``array`` may have at ``position``."""
    anything = isl.Map.universe(isl.Space.alloc(isl.DEFAULT_CONTEXT, 0, depth, 1))
    extent = array.extents[position]
    starts = position in {0, *array.provenance.followed}
    if starts and (array.provenance.by_pointer or extent is None):
        return anything
    start = array.start(position)
    subscript = spaces.dimension(1, 0).sub(spaces.deepen(start))
    anything = isl.Map.from_domain_and_range(spaces.universe(depth), subscript.nonneg_set())
    if extent is None:
        return anything
    beyond = isl.Map.from_pw_aff(spaces.deepen(extent.add(start), depth))
    below = isl.Map.lex_gt(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, 1))
    return anything.intersect(beyond.apply_range(below))


def _written(array: Array, position: int) -> int:
    """Which subscript as written gives the one of dimension ``position`` of ``array``."""
    view = array.view
    return position if position < view.start else max(view.start, position - array.flat + 1)


def _write(certain: bool) -> AccessKind:
    return AccessKind.WRITE if certain else AccessKind.MAY_WRITE
