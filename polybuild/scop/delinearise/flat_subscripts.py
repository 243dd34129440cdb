"""Flat subscripts: noted while a region is walked, then given a multi-dimensional view for each array.

The first walk over a region notes the first subscript of every access. If one
of them is flat, or steps over rows of a constant length, ``for_next_walk`` chooses the views, and a second
walk reads those subscripts by ``split``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

import islpy as isl
from pycparser import c_ast

from polybuild.c.syntax_tree import location
from polybuild.diagnostics import Unsupported
from polybuild.poly import spaces
from polybuild.scop.assumptions import Assumptions, Violation
from polybuild.scop.delinearise.byte_strides import axes, last_axis
from polybuild.scop.delinearise.clamped_sizes import Plain, plain_sizes, unlike, with_plain_sizes
from polybuild.scop.delinearise.polynomials import Atoms, Polynomial, from_affine
from polybuild.scop.delinearise.row_counts import RowCount, is_grid, row_counts, with_row_counts
from polybuild.scop.delinearise.subscripts import FlatSubscript
from polybuild.scop.delinearise.views import FlatAccess, Rows, View, find_rows, find_view, fitted, outside
from polybuild.scop.model import Parameter, ProductLimit
from polybuild.scop.program_point import ProgramPoint

# The declaration of a variable and the members below it.
Key = tuple[c_ast.Node, tuple[str, ...]]


@dataclass(slots=True)
class FlatSubscripts:
    """The first subscripts of one walk; ``views`` gives the inner sizes found by an earlier one.

    Parameters whose names are ``units`` are taken to be 1.
    """

    views: Mapping[Key, View] = field(default_factory=dict)
    atoms: Atoms = field(default_factory=Atoms)
    units: frozenset[str] = frozenset()
    _met: dict[Key, list[FlatAccess]] = field(default_factory=dict)
    _flat: set[Key] = field(default_factory=set)
    _not_in_rows: set[Key] = field(default_factory=set)
    _not_movable: set[Key] = field(default_factory=set)
    _may_overlap: set[Key] = field(default_factory=set)
    _written: set[Key] = field(default_factory=set)
    _wrapping: set[Key] = field(default_factory=set)

    def note(
        self,
        key: Key,
        subscript: isl.PwAff | FlatSubscript | None,
        point: ProgramPoint,
        *,
        in_rows: bool,
        movable: bool,
        may_overlap: bool,
        written: bool,
    ) -> None:
        """Remember one access; without a ``subscript`` it may touch any element.

        Only if all are ``in_rows`` the array may be one of rows of a constant length. Its rows may start
        at other elements than those of its memory if they are ``movable``. Where arrays ``may_overlap``, what
        they touch has to be known, and which elements are ``written``.
        """
        if written:
            self._written.add(key)
        if not movable:
            self._not_movable.add(key)
        if may_overlap:
            self._may_overlap.add(key)
        if subscript is None or not in_rows:
            self._not_in_rows.add(key)
        if subscript is None:
            return
        self._met.setdefault(key, []).append(FlatAccess(self._polynomial(subscript, point), point.domain))
        if isinstance(subscript, FlatSubscript):
            self._flat.add(key)
            if subscript.wraps:
                self._wrapping.add(key)

    def for_next_walk(self, context: isl.Set, parameters: Mapping[str, Parameter]) -> FlatSubscripts | None:
        """With the views of the arrays that have flat subscripts; None if no array has a view.

        ``context`` holds the values that the ``parameters`` can have. Counters that are bounded by the limits
        of their types alone may have any value: no length is known of rows that they walk along.
        """
        found: dict[Key, View] = {}
        limits = _limits(parameters)
        context = _without(context, limits)
        for key, met in self._met.items():
            accesses = [replace(each, domain=_without(each.domain, limits)) for each in met]
            view = None
            if key in self._flat:
                view = find_view(accesses, self.atoms, context, self._rows(key))
                if view is None and (plain := plain_sizes([each.polynomial for each in met], self.atoms)):
                    accesses = [_plain(each, plain) for each in accesses]
                    view = find_view(accesses, self.atoms, context, self._rows(key))
                    view = None if view is None else replace(view, plain=plain)
            elif key not in self._not_in_rows:
                view = find_rows(accesses, self.atoms, context)
            if view is not None:
                found[key] = view
        found |= self._grids(found, context, parameters)
        return FlatSubscripts(found, self.atoms, self.units) if found else None

    def _grids(
        self, viewed: Collection[Key], context: isl.Set, parameters: Mapping[str, Parameter]
    ) -> dict[Key, View]:
        """Views of arrays without one whose strides are some of the ``parameters`` alone.

        What is only read, through ``restrict`` pointers, has no such view unless others have the same.
        """
        written = [each.polynomial for key in self._written for each in self._met.get(key, ())]
        found = {
            key: view
            for key in self._flat
            if key not in viewed
            and is_grid([each.polynomial for each in self._met[key]], written)
            and (view := self._counted(key, context, parameters)) is not None
        }
        needed = [view.counts for key, view in found.items() if key in self._written | self._may_overlap]
        return {key: view for key, view in found.items() if view.counts in needed}

    def _counted(self, key: Key, context: isl.Set, parameters: Mapping[str, Parameter]) -> View | None:
        """The view of ``key`` where strides are multiples of each other, None if there is none."""
        limits = _limits(parameters)
        accesses = [replace(each, domain=_without(each.domain, limits)) for each in self._met[key]]
        for counts in row_counts([each.polynomial for each in accesses], parameters):
            for each in counts:
                self.atoms.parameter(each.name)
            counted = [
                replace(each, polynomial=with_row_counts(each.polynomial, counts)) for each in accesses
            ]
            view = find_view(counted, self.atoms, context, self._rows(key))
            if view is not None:
                return replace(view, counts=counts)
        return None

    def _rows(self, key: Key) -> Rows:
        """Where the rows of a view of ``key`` may start; with negative subscripts none wraps around."""
        if key in self._not_movable:
            return Rows.FIXED
        return Rows.FROM_ONE if key in self._wrapping else Rows.ANYWHERE

    @property
    def row_counts(self) -> tuple[RowCount, ...]:
        """What the views take for the numbers of rows in planes."""
        return tuple(dict.fromkeys(each for view in self.views.values() for each in view.counts))

    def contiguous(self, parameters: Mapping[str, Parameter]) -> frozenset[str]:
        """The strides of last axes, where those of the arrays are in bytes."""
        order = axes(parameters)
        met = ([each.polynomial for each in self._met[key]] for key in self._flat) if order else ()
        found = (last_axis(polynomials, order) for polynomials in met)
        return frozenset(each for each in found if each is not None)

    def factors_without_view(self, viewed: Collection[Key]) -> tuple[str, ...]:
        """The parameters that multiply loop counters in what is not ``viewed``, but has to be known.

        One of them may be in the way of a view, as the stride ``s`` of a convolution in
        ``a[(i * s + k) * w + j * s + l]``.
        """
        keys = [key for key in self._met if key in self._flat & self._may_overlap and key not in viewed]
        return tuple(
            dict.fromkeys(
                form.atom
                for key in keys
                for access in self._met[key]
                for product, coefficient in access.polynomial.expanded().terms.items()
                if spaces.constant_value(coefficient) is None
                for form in product
                if form.atom is not None
            )
        )

    def split(
        self,
        key: Key,
        subscript: isl.PwAff | FlatSubscript,
        point: ProgramPoint,
        node: c_ast.Node,
        assumptions: Assumptions,
    ) -> tuple[isl.PwAff, ...] | None:
        """The subscripts of the view of ``key``, assumed to be in range; None if they cannot be.

        ``node`` is the subscript as written.
        """
        view = self.views[key]
        written = FlatAccess(self._polynomial(subscript, point), point.domain)
        access = _plain(written, view.plain)
        access = replace(access, polynomial=with_row_counts(access.polynomial, view.counts))
        subscripts = fitted(access, view, self.atoms, assumptions.context)
        if subscripts is None:
            return None
        before = assumptions.snapshot()
        try:
            for violation in self._violations(key, subscripts, point, node):
                assumptions.require(violation)
            clamped = unlike(written.polynomial, view.plain)
            if clamped is not None:
                reason = f"sizes by which '{key[0].name}' is walked along must not be negative"
                beyond = spaces.universe(point.depth).intersect_params(clamped)
                assumptions.require(
                    Violation(beyond, point.domain, "array-extent", reason, location(node), "")
                )
            if isinstance(subscript, FlatSubscript) and subscript.wraps:
                self._limit(subscript.wraps, key, subscripts[0], point, node=node, assumptions=assumptions)
        except Unsupported:
            assumptions.restore(before)
            return None
        return subscripts

    def require_sizes(
        self, key: Key, point: ProgramPoint, node: c_ast.Node, assumptions: Assumptions
    ) -> None:
        """Assume positive sizes where any element may be touched: else the view has no elements."""
        for position, extent in enumerate(self.extents(key), 2):
            assumptions.require(
                Violation(
                    spaces.deepen(extent, point.depth).neg().nonneg_set(),
                    point.domain,
                    "array-extent",
                    f"dimension {position} of '{key[0].name}', taken as an array, must have a positive size",
                    location(node),
                    "declare the array with its dimensions",
                )
            )

    def _violations(
        self, key: Key, subscripts: tuple[isl.PwAff, ...], point: ProgramPoint, node: c_ast.Node
    ) -> Iterator[Violation]:
        """Instances that leave a row of the view: beyond it lie elements with other subscripts."""
        for position, extent in enumerate(self.extents(key), 1):
            start = self.views[key].starts[position - 1]
            subscript = subscripts[position].sub(spaces.deepen(start, point.depth))
            far = subscript.domain().complement(), "must be near its row"
            for beyond, demand in (far, *bounds(subscript, extent, point.depth)):
                yield Violation(
                    beyond,
                    point.domain,
                    "out-of-bounds",
                    f"subscript {position + 1} of '{key[0].name}', taken as an array of"
                    f" {len(subscripts)} dimensions, {demand}",
                    location(node),
                    "",
                )

    def _limit(
        self,
        bits: int,
        key: Key,
        rows: isl.PwAff,
        point: ProgramPoint,
        *,
        node: c_ast.Node,
        assumptions: Assumptions,
    ) -> None:
        """Assume that a flat subscript fits an unsigned type of so many bits."""
        reason = f"a subscript of '{key[0].name}' must fit {bits} bits"
        below = rows.neg().pos_set()
        assumptions.require(Violation(below, point.domain, "integer-wrap", reason, location(node), ""))
        values = isl.Map.from_pw_aff(rows).intersect_domain(point.domain).range()
        values = values.intersect_params(assumptions.context)
        if not values.dim_has_upper_bound(isl.dim_type.set, 0):
            raise Unsupported("integer-wrap", reason, location(node))
        beyond = 2 if self.views[key].is_moved else 1  # rows that start later end in the next
        count = values.dim_max(0).add_constant_val(isl.Val(beyond)).coalesce()
        sizes = (each.project_domain_on_params() for each in self.extents(key))
        assumptions.limits.append(ProductLimit((count, *sizes), 1 << bits, reason, location(node)))

    def extents(self, key: Key) -> tuple[isl.PwAff, ...]:
        """The inner extents of the view of ``key``; none if it has no view."""
        view = self.views.get(key)
        return () if view is None else tuple(self.atoms.value(size) for size in view.sizes)

    def starts(self, key: Key) -> tuple[isl.PwAff, ...]:
        """The smallest inner subscripts of the view of ``key``."""
        return self.views[key].starts

    def _polynomial(self, subscript: isl.PwAff | FlatSubscript, point: ProgramPoint) -> Polynomial:
        if isinstance(subscript, FlatSubscript):
            return subscript.polynomial
        return from_affine(subscript, point.depth, self.atoms)


def _plain(access: FlatAccess, plain: Plain) -> FlatAccess:
    return replace(access, polynomial=with_plain_sizes(access.polynomial, plain))


def _limits(parameters: Mapping[str, Parameter]) -> list[str]:
    """Those of ``parameters`` that are limits of types."""
    return [name for name, each in parameters.items() if each.is_limit]


def _without(values: isl.Set, parameters: Collection[str]) -> isl.Set:
    """``values`` for any values of ``parameters``."""
    for name in parameters:
        position = values.find_dim_by_name(isl.dim_type.param, name)
        if position >= 0:
            values = values.project_out(isl.dim_type.param, position, 1)
    return values


def bounds(subscript: isl.PwAff, extent: isl.PwAff, depth: int) -> Iterator[tuple[isl.Set, str]]:
    """Where an inner subscript leaves its extent, on either side, and what it must do."""
    below, above = outside(subscript, spaces.deepen(extent, depth))
    yield below, "must not be negative"
    yield above, "must be less than its extent"
