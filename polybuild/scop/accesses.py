"""What a C expression reads and writes when it is evaluated."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl
from pycparser import c_ast

from polybuild.diagnostics import Unsupported
from polybuild.scop import spaces
from polybuild.scop.arrays import Arrays
from polybuild.scop.assumptions import Assumptions, Violation
from polybuild.scop.expressions import Expressions, is_affinity_refusal
from polybuild.scop.facts import Facts
from polybuild.scop.model import AccessKind, Array
from polybuild.scop.nodes import location
from polybuild.scop.place import Place
from polybuild.scop.references import Reference, read_reference
from polybuild.source import types
from polybuild.source.neutral import OPAQUE
from polybuild.source.typing import type_of_name

_dim = isl.dim_type

_REAL = """acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs
    fdim floor fma fmax fmin fmod hypot ldexp llrint llround log log10 log1p log2 logb lrint lround nearbyint
    nextafter pow remainder rint round scalbln scalbn sin sinh sqrt tan tanh tgamma trunc
    cabs carg cexp cimag clog conj cpow creal csqrt"""
_PURE = frozenset(name + suffix for name in _REAL.split() for suffix in ("", "f", "l")) | {
    "abs", "labs", "llabs", "isnan", "isinf", "isfinite", "signbit",
}  # fmt: skip

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
    """An access before its spaces are final: ``relation`` leaves the unnamed space of its place."""

    base: Reference
    array: Array
    relation: isl.Map
    kind: AccessKind
    node: c_ast.Node


class AccessReader:
    """Collects the accesses of one statement, in an order in which reads precede the write they feed."""

    def __init__(self, facts: Facts, arrays: Arrays, assumptions: Assumptions) -> None:
        self._facts = facts
        self._arrays = arrays
        self._assumptions = assumptions
        self.found: list[AccessDraft] = []

    def read(self, node: c_ast.Node, place: Place, *, certain: bool = True) -> None:
        """Collect the accesses of evaluating ``node``; ``certain`` is false if it might not be evaluated."""
        if isinstance(node, c_ast.Constant):
            return
        if isinstance(node, c_ast.ID):
            self._identifier(node, place)
        elif isinstance(node, c_ast.ArrayRef | c_ast.StructRef):
            self._access(node, place, AccessKind.READ)
        elif isinstance(node, c_ast.Assignment):
            self._assignment(node, place, certain)
        elif isinstance(node, c_ast.UnaryOp):
            self._unary(node, place, certain)
        elif isinstance(node, c_ast.BinaryOp):
            self.read(node.left, place, certain=certain)
            self.read(node.right, place, certain=certain and node.op not in {"&&", "||"})
        elif isinstance(node, c_ast.TernaryOp):
            self._ternary(node, place, certain)
        elif isinstance(node, c_ast.ExprList):
            for each in node.exprs:
                self.read(each, place, certain=certain)
        elif isinstance(node, c_ast.FuncCall):
            self._call(node, place, certain)
        elif isinstance(node, c_ast.Cast):
            self._cast(node, place, certain)
        else:
            code, what, hint = _REFUSED.get(type(node), ("expression", "this expression", "simplify it"))
            raise Unsupported(code, f"{what} is not modelled", location(node), hint)

    def _identifier(self, node: c_ast.ID, place: Place) -> None:
        variable = self._facts.names.variables.get(node)
        if variable is None:
            if node.name not in self._facts.region.enumerators:
                raise Unsupported(
                    "unknown-name", f"'{node.name}' is not a known variable", location(node), ""
                )
            return
        if variable in place.counters:
            return
        if variable in self._facts.names.iterators.values():
            raise Unsupported(
                "iterator-used-outside-loop",
                f"'{node.name}' counts a loop of the region and is read where that loop is not running",
                location(node),
                "use a variable of its own for the loop",
            )
        self._access(node, place, AccessKind.READ)

    def _assignment(self, node: c_ast.Assignment, place: Place, certain: bool) -> None:
        if node.op != "=":
            self._access(node.lvalue, place, AccessKind.READ)
        self.read(node.rvalue, place, certain=certain)
        self._access(node.lvalue, place, _write(certain))

    def _unary(self, node: c_ast.UnaryOp, place: Place, certain: bool) -> None:
        if node.op == "sizeof":
            return
        if node.op == "&":
            raise Unsupported(
                "address-of", "an address is taken inside the region", location(node), "use subscripts"
            )
        if node.op == "*":
            self._access(node, place, AccessKind.READ)
        elif node.op in {"++", "p++", "--", "p--"}:
            self._access(node.expr, place, AccessKind.READ)
            self._access(node.expr, place, _write(certain))
        else:
            self.read(node.expr, place, certain=certain)

    def _ternary(self, node: c_ast.TernaryOp, place: Place, certain: bool) -> None:
        self.read(node.cond, place, certain=certain)
        violations: list[Violation] = []
        chosen: isl.Set | None = None
        try:
            chosen = Expressions(self._facts, "condition", violations).condition(node.cond, place)
        except Unsupported as error:
            if not is_affinity_refusal(error):
                raise
        if chosen is None or not all(each.instances.is_empty() for each in violations):
            # known only when it runs: either side may be evaluated
            self.read(node.iftrue, place, certain=False)
            self.read(node.iffalse, place, certain=False)
        else:
            self.read(node.iftrue, place.within(chosen), certain=certain)
            self.read(node.iffalse, place.without(chosen), certain=certain)

    def _call(self, node: c_ast.FuncCall, place: Place, certain: bool) -> None:
        name = node.name.name if isinstance(node.name, c_ast.ID) else ""
        if name == OPAQUE:
            raise Unsupported(
                "opaque-statement",
                "a statement expression or inline assembly is not modelled",
                location(node),
                "end the region before it",
            )
        is_pure = name.removeprefix("__builtin_") in _PURE
        if not is_pure or node.name in self._facts.names.variables:
            raise Unsupported(
                "call",
                f"the function '{name}' may have side effects" if name else "a function is called by pointer",
                location(node),
                "only the functions of math.h can be called in a region; write others as expressions",
            )
        for each in node.args.exprs if node.args is not None else ():
            self.read(each, place, certain=certain)

    def _cast(self, node: c_ast.Cast, place: Place, certain: bool) -> None:
        kind = type_of_name(node.to_type, self._facts.region)
        if not isinstance(kind, types.Integer | types.Floating | types.Void):
            raise Unsupported(
                "pointer-cast",
                "a cast to a type that is not arithmetic",
                location(node),
                "use plain subscripts",
            )
        self.read(node.expr, place, certain=certain)

    def _access(self, node: c_ast.Node, place: Place, kind: AccessKind) -> None:
        reference = read_reference(node, self._facts.names)
        if reference.variable in place.counters:
            raise Unsupported(
                "iterator-written",
                f"the loop counter '{reference.variable.name}' is assigned inside its loop",
                location(node),
                "use another variable for that value",
            )
        array = self._arrays.of(reference, node)
        violations: list[Violation] = []
        reader = Expressions(self._facts, "subscript", violations)
        subscripts = [reader.subscript(each, place) for each in reference.subscripts]
        for violation in violations:
            self._assumptions.require(violation)
        self._require_bounds(array, reference, subscripts, place)
        relation = isl.Map.from_domain(place.domain)
        for subscript in subscripts:
            relation = relation.flat_range_product(isl.Map.from_pw_aff(subscript))
        relation = relation.intersect_domain(place.domain).coalesce().set_tuple_name(_dim.out, array.name)
        self.found.append(AccessDraft(reference, array, relation, kind, node))

    def _require_bounds(
        self, array: Array, reference: Reference, subscripts: list[isl.PwAff], place: Place
    ) -> None:
        """Inner subscripts must stay in their extents: beyond them lie elements with other subscripts."""
        for position in range(1, len(subscripts)):
            extent = array.extents[position]
            if extent is None:
                continue
            subscript = subscripts[position]
            for outside, side in (
                (subscript.neg().pos_set(), "must not be negative"),
                (subscript.ge_set(spaces.deepen(extent, place.depth)), "must be less than its extent"),
            ):
                self._assumptions.require(
                    Violation(
                        outside,
                        place.domain,
                        "out-of-bounds",
                        f"subscript {position + 1} of '{reference.variable.name}' {side}",
                        location(reference.subscripts[position]),
                        "keep every subscript but the first within the declared extents",
                    )
                )


def _write(certain: bool) -> AccessKind:
    return AccessKind.WRITE if certain else AccessKind.MAY_WRITE
