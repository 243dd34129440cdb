"""Loops that walk over the same elements again and again: how much they walk over, and how often."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import islpy as isl

from polybuild.effort import FIXED_SIZE
from polybuild.poly.memory import remembered
from polybuild.scop.model import AccessKind, Statement
from polybuild.values import dataclass

Counts = tuple[tuple[isl.PwAff, ...], ...]
_params = isl.dim_type.param


@dataclass(frozen=True, slots=True)
class Walk:
    """Loops along elements, and loops around them that come to the same elements again.

    ``along`` and ``again`` are the parameters that bound them, ``dims`` the positions of those along
    elements, and ``loops`` the number of all, by statement. ::

        for (t < steps) for (i < n) u[(t + 1) % 2][i] = u[t % 2][i - 1] + u[t % 2][i + 1];   n, again steps
        for (i < n) for (j < n) f[i] += g(x[i], x[j]);                                       n, none

    Tables with an element for each time, as ``f[t]`` beside them, are not what is walked over.
    """

    along: frozenset[str]
    again: frozenset[str]
    dims: tuple[frozenset[int], ...]
    loops: tuple[int, ...]

    @property
    def dimensions(self) -> int:
        """How many loops along elements a statement has, at most."""
        return max(map(len, self.dims), default=0)

    @property
    def returns(self) -> bool:
        """Whether some loops come to the same elements again, whatever bounds them."""
        return any(dims and len(dims) < loops for dims, loops in zip(self.dims, self.loops, strict=True))

    @property
    def repeats(self) -> bool:
        """Whether parameters of their own bound the loops that come to the same elements again."""
        return bool(self.along and self.again) and not self.along & self.again

    def points(self, trips: Sequence[Sequence[isl.PwAff]]) -> Counts:
        """The ``trips`` of loops along elements, of the statements with the most of them."""
        return self._counts(trips, along=True)

    def passes(self, trips: Sequence[Sequence[isl.PwAff]]) -> Counts:
        """The ``trips`` of the other loops of the same statements."""
        return self._counts(trips, along=False)

    def _counts(self, trips: Sequence[Sequence[isl.PwAff]], *, along: bool) -> Counts:
        return tuple(
            tuple(each for dim, each in enumerate(counts) if (dim in dims) == along)
            for counts, dims in zip(trips, self.dims, strict=True)
            if len(dims) == self.dimensions
        )


def walk_of(statements: Sequence[Statement]) -> Walk:
    """What the loops of ``statements`` walk over, and what makes them come to it again."""
    walked = tuple(map(_walked, statements))
    steps = _bounds_of_steps(statements, walked)
    walked = tuple(
        dims - {dim for dim in dims if _bounding(each.domain, dim) & steps}
        for each, dims in zip(statements, walked, strict=True)
    )
    along: set[str] = set()
    again = set(steps)
    for statement, dims in zip(statements, walked, strict=True):
        for dim in range(statement.domain.dim(isl.dim_type.set)) if dims else ():
            (along if dim in dims else again).update(_bounding(statement.domain, dim))
    loops = tuple(each.domain.dim(isl.dim_type.set) for each in statements)
    return Walk(frozenset(along), frozenset(again), walked, loops)


def _walked(statement: Statement) -> frozenset[int]:
    """The loops of ``statement`` that subscripts depend on, but for those of dimensions of a few elements.

    Nor those over steps of a stencil that has values for each of them: what is set is the same in all steps,
    and no subscript depends on them and on a point. ::

        for (t < steps) for (i < n) u[(t + 1) % 2][i] = u[t % 2][i - 1] + u[t % 2][i + 1] + f[t];        {1}
    """
    moving = [(access, _moving(access.relation)) for access in statement.accesses]
    walked = frozenset[int]().union(*(dims for _, dims in moving))
    points = frozenset[int]().union(*(dims for access, dims in moving if access.kind is not AccessKind.READ))
    steps = frozenset(dim for dim in walked if points and dim < min(points))
    if not steps or any(dims & steps and dims - steps for _, dims in moving):
        return walked
    read = [each for each, dims in moving if dims & points and each.kind is AccessKind.READ]
    several = any(
        one.array is other.array and not one.relation.is_equal(other.relation)
        for one, other in itertools.combinations(read, 2)
    )
    return walked - steps if several else walked


def _bounds_of_steps(statements: Sequence[Statement], walked: Sequence[frozenset[int]]) -> frozenset[str]:
    """The parameters that bound loops which come again to what the statements with the most loops walk over.

    But for those that bound loops along that, too: others with less loops walk over tables of such steps.
    """
    loops = [_loops_of(each.domain) for each in statements]
    deepest = max(map(len, loops), default=0)
    along: set[str] = set()
    again: set[str] = set()
    for statement, dims, own in zip(statements, walked, loops, strict=True):
        for dim in own if dims and len(own) == deepest else ():
            (along if dim in dims else again).update(_bounding(statement.domain, dim))
    return frozenset(again - along)


@remembered
def _loops_of(domain: isl.Set) -> tuple[int, ...]:
    """The dimensions of ``domain`` but for those of one value each, as that of points at a border."""
    count = domain.dim(isl.dim_type.set)
    equal = [each for each in domain.affine_hull().get_constraints() if each.is_equality()]
    used = [
        [dim for dim in range(count) if each.involves_dims(isl.dim_type.set, dim, 1)]
        for each in equal
        if not each.get_aff().dim(isl.dim_type.div)
    ]
    return tuple(dim for dim in range(count) if [dim] not in used)


@remembered  # whoever wants to know of sizes asks
def _moving(relation: isl.Map) -> frozenset[int]:
    """The loops that the subscripts of ``relation`` depend on, but for those of a few elements."""
    values = [each.gist_domain(each.domain()) for each in _large_dimensions(relation)]
    return frozenset(
        loop
        for loop in range(relation.dim(isl.dim_type.in_))
        if any(each.involves_dims(isl.dim_type.in_, loop, 1) for each in values)
    )


def _large_dimensions(relation: isl.Map) -> Iterator[isl.Map]:
    """The subscripts of an array that take more than a few values, each as a function of the instances."""
    count = relation.dim(isl.dim_type.out)
    for dim in range(count):
        subscript = relation.project_out(isl.dim_type.out, dim + 1, count - dim - 1)
        subscript = subscript.project_out(isl.dim_type.out, 0, dim)
        values = subscript.range()
        values = values.project_out(_params, 0, values.dim(_params))
        low, high = values.dim_min_val(0), values.dim_max_val(0)
        if not (low.is_int() and high.is_int()) or high.sub(low).ge(isl.Val(FIXED_SIZE)):
            yield subscript


@remembered
def _bounding(domain: isl.Set, dim: int) -> frozenset[str]:
    """The parameters in the limits of a dimension of ``domain``."""
    return frozenset(
        str(affine.get_dim_name(_params, each))
        for limit in (domain.dim_min(dim), domain.dim_max(dim))
        for _, affine in limit.get_pieces()
        for each in range(affine.dim(_params))
        if affine.involves_dims(_params, each, 1)
    )
