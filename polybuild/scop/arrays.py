"""Variables as arrays: what a C reference like ``p->a[i].x`` names, its subscripts and extents."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence

import islpy as isl
from pycparser import c_ast

from polybuild.c.syntax_tree import key, location, walk
from polybuild.diagnostics import Unsupported
from polybuild.normalise.names import Variable
from polybuild.poly import spaces
from polybuild.scop.assumptions import Assumptions, Violation
from polybuild.scop.delinearise.flat_subscripts import FlatSubscripts, Key
from polybuild.scop.expressions import Expressions
from polybuild.scop.facts import Facts
from polybuild.scop.interleaving import interleaving_of
from polybuild.scop.model import Array, Provenance
from polybuild.scop.parameters import IslNames
from polybuild.scop.program_point import ProgramPoint
from polybuild.scop.references import LvalueReference

_WRITING_UNARY = {"++", "p++", "--", "p--", "&"}


class ExtentInvalidation:
    """Whether a variable still has the value it had when an array's extents were computed from it.

    That is told from the writes of a function in textual order.

    A jump backwards does not matter: it either repeats the declaration with the
    write before it, or the write comes after the declaration in the text, too.
    """

    def __init__(self, function: c_ast.FuncDef) -> None:
        self._declared: dict[c_ast.Node, int] = {}
        self._writes: dict[str, int] = {}
        self._calls = -1
        for position, node in enumerate(walk(function.body)):
            target = None
            if isinstance(node, c_ast.Decl):
                self._declared[node] = position
            elif isinstance(node, c_ast.Assignment):
                target = node.lvalue
            elif isinstance(node, c_ast.UnaryOp) and node.op in _WRITING_UNARY:
                target = node.expr
            elif isinstance(node, c_ast.FuncCall):
                self._calls = position
            if isinstance(target, c_ast.ID):
                self._writes[target.name] = position

    def changed_since(self, array: Variable, extent: Variable) -> bool:
        """Whether ``extent`` may have been changed, or be another variable, since ``array`` was declared."""
        declared = self._declared.get(array.declaration, -1)
        if self._declared.get(extent.declaration, -1) > declared:
            return True
        shared = extent.is_reachable
        last = max(self._writes.get(extent.name, -1), self._calls if shared else -1)
        return last > declared


class Arrays:
    """The arrays met so far, one for each variable and member path; ``flat`` knows which are views."""

    def __init__(
        self,
        facts: Facts,
        assumptions: Assumptions,
        flat: FlatSubscripts,
    ) -> None:
        self._facts = facts
        self._assumptions = assumptions
        self._names = IslNames()
        self.flat = flat
        self._known: dict[tuple[Variable, tuple[str, ...]], Array] = {}

    @property
    def outer(self) -> Mapping[str, Variable]:
        """The variables visible where the region starts."""
        return self._facts.names.outer

    @functools.cached_property
    def _invalidation(self) -> ExtentInvalidation:
        return ExtentInvalidation(self._facts.region.function)

    def all(self) -> tuple[Array, ...]:
        """The arrays, in the order in which they were met."""
        return tuple(self._known.values())

    def find(self, variable: Variable) -> Array | None:
        """The array that is ``variable`` itself, if it was met."""
        return self._known.get((variable, ()))

    def of(self, reference: LvalueReference, node: c_ast.Node) -> Array:
        """The array that ``reference`` touches an element of."""
        place = reference.variable, reference.members
        known = self._known.get(place)
        if known is None:
            known = self._known[place] = self._new(reference, node)
        elif known.element != reference.type or _is_cast_otherwise(known, reference):
            raise Unsupported(
                "pointer-cast",
                f"'{reference.variable.name}' leads to numbers of two types, or to arrays of two kinds",
                location(node),
                "use one type for what is in this memory",
            )
        elif _without(known.suffixes, known.view[:-1]) != reference.suffixes:
            raise Unsupported(
                "mixed-access",
                f"'{reference.variable.name}' is accessed both with and without a subscript",
                location(node),
                "write the same form everywhere",
            )
        return known

    def _new(self, reference: LvalueReference, node: c_ast.Node) -> Array:
        variable = reference.variable
        extents = tuple(self._extent(reference, position, node) for position in range(len(reference.extents)))
        inner = self.flat.extents(key_of(reference)) if extents else ()
        base = reference.followed[-1] if reference.followed else 0
        if inner:
            extents = (*extents[:base], _rows(extents[base], inner), *inner, *extents[base + 1 :])
        return Array(
            name=self._names.unique(
                "_".join((variable.name, *reference.members)), self._other_names() if variable.local else ()
            ),
            expression=reference.expression,
            element=reference.type,
            extents=extents,
            provenance=Provenance(
                variable.storage,
                by_pointer=reference.by_pointer,
                restrict=reference.restrict,
                target=reference.target,
                address_taken=variable.address_taken,
                followed=reference.followed,
                interleaving=interleaving_of(reference),
                starts=self.flat.starts(key_of(reference)) if inner else (),
            ),
            location=variable.location,
            local=variable.local,
            declared=variable.declaration if variable.local else None,
            suffixes=(*reference.suffixes[:base], *[""] * len(inner), *reference.suffixes[base:]),
            flat=len(inner) + 1,
        )

    def _other_names(self) -> set[str]:
        """Names of counters and of what is outside the region: no other declaration may hide them."""
        names = self._facts.names
        counters = set(names.iterators.values())
        return {each.name for each in names.variables.values() if not each.local or each in counters}

    def _extent(self, reference: LvalueReference, position: int, node: c_ast.Node) -> isl.PwAff | None:
        extent = reference.extents[position]
        inner = position > 0 and position not in reference.followed
        name = reference.variable.name
        if extent is None:
            if inner:
                raise Unsupported(
                    "array-extent", f"an inner extent of '{name}' is not known", location(node), ""
                )
            return None
        try:
            value = self._evaluate(extent, reference.variable)
        except Unsupported as error:
            if inner or reference.variable.local:
                raise Unsupported(
                    "array-extent",
                    f"the extents of '{name}' are not affine: {error.diagnostic.message}",
                    location(node),
                    "declare the array with extents that are constants or parameters",
                ) from None
            return None
        if inner and spaces.constant_value(value) is None:
            reached = spaces.universe(0)
            self._assumptions.require(
                Violation(
                    value.neg().nonneg_set(),
                    reached,
                    "array-extent",
                    f"the extents of '{name}' must be positive",
                    location(node),
                    "declare the array with positive extents",
                )
            )
        return value

    def _evaluate(self, extent: c_ast.Node, variable: Variable) -> isl.PwAff:
        """The extent as a parameter expression, if its value is still what it was at the declaration."""
        if not variable.local:
            for each in walk(extent):
                outer = self._facts.names.outer.get(each.name) if isinstance(each, c_ast.ID) else None
                if outer is not None and (
                    self._invalidation.changed_since(variable, outer) or outer in self._facts.names.written
                ):
                    raise Unsupported(
                        "array-extent",
                        f"'{outer.name}' may have changed since the declaration",
                        location(variable.declaration),
                        "",
                    )
        violations: list[Violation] = []
        value = Expressions(self._facts, "extent", violations).value(extent, ProgramPoint())
        for violation in violations:
            self._assumptions.require(violation)
        return value


def _is_cast_otherwise(known: Array, reference: LvalueReference) -> bool:
    """Whether the pointer of ``reference`` is cast, or was where the array was met, and not as it was."""
    one, other = known.expression, reference.expression
    return (isinstance(one, c_ast.Cast) or isinstance(other, c_ast.Cast)) and key(one) != key(other)


def _without(suffixes: tuple[str, ...], dropped: range) -> tuple[str, ...]:
    return suffixes[: dropped.start] + suffixes[dropped.stop :]


def _rows(extent: isl.PwAff | None, inner: Sequence[isl.PwAff]) -> isl.PwAff | None:
    """How many rows of the extents ``inner`` an array of ``extent`` elements has, None in doubt."""
    numbers = [None if each is None else spaces.constant_value(each) for each in (extent, *inner)]
    known = [each for each in numbers if each is not None]
    if len(known) < len(numbers):
        return None
    total, *lengths = known
    count, left = divmod(total, math.prod(lengths))
    return None if left else spaces.constant(0, count)


def key_of(reference: LvalueReference) -> Key:
    """What names the array of ``reference`` in every walk over the region."""
    return reference.variable.declaration, reference.members
