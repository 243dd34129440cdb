"""How the loops of a band move each access through memory: the linear part of its subscripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

import islpy as isl

from polybuild.poly.integers import integer_of
from polybuild.poly.memory import Itself, remembered
from polybuild.poly.relations import maps_of
from polybuild.poly.spaces import stride_of
from polybuild.poly.trees import prefix_schedule
from polybuild.scop.model import Access, Scop, Statement
from polybuild.targets.cpu.indirect_steps import Steps, indirect_steps
from polybuild.values import dataclass

Matrix = tuple[Steps, ...]
"""The steps of each subscript of an access per step of each counter, or of each member of a band."""


class Stride(Enum):
    """What one step of a loop does to the address of an access."""

    NONE = "none"  # the same element
    UNIT = "unit"  # the next element, in either direction
    FAR = "far"  # anything else


@dataclass(frozen=True, slots=True)
class Reference:
    """An access below a band.

    ``matrix[d][m]`` is what array subscript ``d`` moves where the value of band member ``m``
    grows by one; None where a subscript is not linear. Member ``m`` goes from one value to the
    next in ``steps[m]``.
    """

    statement: Statement
    access: Access
    matrix: Matrix
    steps: tuple[int, ...]

    def stride(self, member: int) -> Stride:
        """The stride along one member, the others and all inner loops fixed."""
        column = [row[member] for row in self.matrix]
        if all(step == 0 for step in column):
            return Stride.NONE
        if column[-1] in {1, -1} and self.steps[member] == 1 and all(step == 0 for step in column[:-1]):
            return Stride.UNIT
        return Stride.FAR

    def is_adjacent(self, member: int) -> bool:
        """Whether steps along one member go to the next element in memory, not to the next structure."""
        inside = self.access.array.suffixes[-1:]
        return self.stride(member) is Stride.UNIT and not any(inside)

    def distance(self, member: int) -> int | None:
        """How many elements in memory a step along one member goes on; None if that is not known."""
        *others, last = [row[member] for row in self.matrix] or [None]
        if last is None or any(others):
            return None
        last *= self.steps[member]
        if not any(self.access.array.suffixes[-1:]):
            return last
        interleaving = self.access.array.provenance.interleaving
        return last * interleaving.count if interleaving is not None else None

    def goes_back_far(self, member: int) -> bool:
        """Whether steps along one member go back in memory, by more than to the element before."""
        *others, last = [row[member] for row in self.matrix] or [None]
        if last is None or any(others):
            return False
        far = self.steps[member] > 1 or any(self.access.array.suffixes[-1:])
        return last < -1 or (last < 0 and far)

    def extent(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """The box of elements touched by a tile of ``sizes`` points, per array dimension."""
        return tuple(
            1
            + sum(
                (size if step is None else abs(step)) * (size - 1)
                for step, size in zip(row, sizes, strict=True)
            )
            for row in self.matrix
        )


def references(scop: Scop, band: isl.ScheduleNode) -> list[Reference]:
    """The accesses below ``band`` as functions of its members."""
    return list(_references(Itself(scop), Itself(band)))


@remembered  # whoever looks at a band asks several questions about it
def _references(scop: Itself[Scop], node: Itself[isl.ScheduleNode]) -> list[Reference]:
    band = node.value
    prefix = prefix_schedule(band)
    first = band.get_schedule_depth()
    members = range(first, first + band.band_n_member())
    prefixes = {
        each.get_tuple_name(isl.dim_type.in_): each
        for each in maps_of(prefix.flat_range_product(band.get_subtree_schedule_union_map()))
    }
    return references_at(scop.value, prefixes, members)


def moving_counters(scop: Scop, band: isl.ScheduleNode) -> dict[str, frozenset[str]]:
    """The counters, by name, of each statement below ``band`` that its first member moves, or may move."""
    prefix = prefix_schedule(band)
    member = range(band.get_schedule_depth(), band.get_schedule_depth() + 1)
    statements = {each.name: each for each in scop.statements}
    found: dict[str, frozenset[str]] = {}
    for each in maps_of(prefix.flat_range_product(band.get_subtree_schedule_union_map())):
        statement = statements[each.get_tuple_name(isl.dim_type.in_)]
        stamps = each.intersect_domain(statement.domain.intersect_params(scop.context))
        instance = isl.PwMultiAff.from_map(stamps.reverse())
        steps = [_row(instance.get_pw_aff(place), member)[0] for place in range(len(statement.iterators))]
        found[statement.name] = frozenset(
            iterator.name for iterator, step in zip(statement.iterators, steps, strict=True) if step != 0
        )
    return found


def references_at(scop: Scop, prefixes: Mapping[str, isl.Map], members: range) -> list[Reference]:
    """The accesses of the statements in ``prefixes`` as functions of some dimensions of their time stamps.

    A time stamp must tell the instances of its statement apart.
    """
    found: list[Reference] = []
    for statement in scop.statements:
        stamps = prefixes.get(statement.name)
        if stamps is not None:
            found += _references_of(Itself(scop), Itself(statement), stamps, members)
    return found


@remembered  # candidates have most bands in common, and a band is looked at more than once
def _references_of(
    scop: Itself[Scop], of: Itself[Statement], stamps: isl.Map, members: range
) -> tuple[Reference, ...]:
    """The accesses of a statement as functions of the ``members`` of its time ``stamps``."""
    statement, found = of.value, []
    # a schedule need only tell instances apart where the context holds
    here = statement.domain.intersect_params(scop.value.context)
    stamped = stamps.intersect_domain(here)
    steps = _steps_between(stamped.range(), members)
    instance = isl.PwMultiAff.from_map(stamped.reverse())
    moved = tuple(_row(instance.get_pw_aff(place), members) for place in range(len(statement.iterators)))
    for access in statement.accesses:
        element, rows = _subscripts(access.relation)
        if element is None:
            rows = _chosen_by_data(Itself(access), of, scop)
            matrix: Matrix = tuple(_composed(row, moved, len(members)) for row in rows)
        elif element.n_piece() > 1 or instance.n_piece() > 1 or (_is_linear(rows) and _is_linear(moved)):
            matrix = tuple(_composed(row, moved, len(members)) for row in rows)
        else:  # divisions may cancel
            matrix = _matrix(element.pullback_pw_multi_aff(instance), members)
        found.append(Reference(statement, access, matrix, steps))
    return tuple(found)


def _steps_between(stamps: isl.Set, members: range) -> tuple[int, ...]:
    """The steps between the values that ``members`` of time stamps take, as over every other point."""
    if not any(each.dim(isl.dim_type.div) for each in stamps.get_basic_sets()):
        return (1,) * len(members)
    return tuple(integer_of(stride_of(stamps, each)) for each in members)


def goes_along_windows(access: Access) -> bool:
    """Whether several counters of its statement move ``access`` along a row, as those of a convolution do."""
    _, steps = _subscripts(access.relation)
    return bool(steps) and sum(1 for step in steps[-1] if step) > 1


@remembered
def _subscripts(relation: isl.Map) -> tuple[isl.PwMultiAff | None, Matrix]:
    """The element that an access touches, and the step of each subscript per step of each counter.

    None where it may be one of several.
    """
    if not relation.is_single_valued():  # what is written either way is one element, too
        return None, ()
    element = isl.PwMultiAff.from_map(relation)
    return element, _matrix(element, range(element.dim(isl.dim_type.in_)))


@remembered
def _chosen_by_data(access: Itself[Access], statement: Itself[Statement], scop: Itself[Scop]) -> Matrix:
    """The same of an ``access`` that may be to one of several elements, as far as anything is known.

    Data may choose the row alone, or where it begins.
    """
    relation, counters = access.value.relation, len(statement.value.iterators)
    dims = relation.dim(isl.dim_type.out)
    found: list[tuple[int | None, ...]] = []
    for dim, said in enumerate(indirect_steps(access.value, statement.value, scop.value)):
        own = relation.project_out(isl.dim_type.out, dim + 1, dims - dim - 1)
        own = own.project_out(isl.dim_type.out, 0, dim)
        if own.is_single_valued():
            found.append(_row(isl.PwMultiAff.from_map(own).get_pw_aff(0), range(counters)))
        else:
            found.append((None,) * counters if said is None else said)
    return tuple(found)


@remembered
def parametric_offset(relation: isl.Map) -> Matrix:
    """How much of each parameter is in each subscript of an access; none where that differs.

    Accesses that are alike but for that, as ``a[i]`` and ``a[i + n]``, are to other elements.
    """
    element, _ = _subscripts(relation)
    parameters, dims = range(relation.dim(isl.dim_type.param)), range(relation.dim(isl.dim_type.out))
    if element is None or element.n_piece() != 1:
        return tuple((0,) * len(parameters) for _ in dims)
    found: list[tuple[int | None, ...]] = []
    for dim in dims:
        ((_, affine),) = element.get_pw_aff(dim).get_pieces()
        steps = (affine.get_coefficient_val(isl.dim_type.param, each) for each in parameters)
        found.append(tuple(integer_of(each) if each.is_int() else None for each in steps))
    return tuple(found)


def _matrix(element: isl.PwMultiAff, members: range) -> Matrix:
    """The steps of each subscript of an element per step of each of the ``members``."""
    return tuple(_row(element.get_pw_aff(dim), members) for dim in range(element.dim(isl.dim_type.out)))


def _is_linear(rows: Matrix) -> bool:
    """Whether all steps are known."""
    return all(step is not None for row in rows for step in row)


def _composed(steps: Sequence[int | None], moved: Matrix, members: int) -> tuple[int | None, ...]:
    """The steps of a subscript per step of each member, which moves counters by its column of ``moved``."""
    return tuple(
        _sum(tuple(_product(step, row[member]) for step, row in zip(steps, moved, strict=True)))
        for member in range(members)
    )


def _product(step: int | None, moved: int | None) -> int | None:
    """What a subscript moves with a counter; what does not move has no say."""
    if step == 0 or moved == 0:
        return 0
    return None if step is None or moved is None else step * moved


def _sum(parts: Sequence[int | None]) -> int | None:
    known = [each for each in parts if each is not None]
    return sum(known) if len(known) == len(parts) else None


def _row(subscript: isl.PwAff, members: range) -> tuple[int | None, ...]:
    """Coefficients of the band's members in one subscript, None where that is a fraction.

    None, too, for what integer divisions ask for, as ``t`` in ``t % 2``, and for what chooses between pieces,
    as ``i`` in ``i == 0 ? n - 1 : i - 1``, or moves them differently.
    """
    pieces = subscript.get_pieces()
    if not pieces:
        return (0,) * len(members)
    steps = [_steps(affine, members) for _, affine in pieces]
    first = pieces[0][1]
    if all(first.plain_is_equal(affine) for _, affine in pieces):  # another subscript is what has pieces
        return steps[0]
    conditions = [piece.gist(subscript.domain()) for piece, _ in pieces]
    return tuple(
        None
        if len(set(found)) > 1 or any(each.involves_dims(isl.dim_type.set, member, 1) for each in conditions)
        else found[0]
        for member, found in zip(members, zip(*steps, strict=True), strict=True)
    )


def _steps(affine: isl.Aff, members: range) -> tuple[int | None, ...]:
    """Coefficients of ``members`` that are whole numbers and in no division, None for others."""
    divisions = [affine.get_div(each) for each in range(affine.dim(isl.dim_type.div))]
    steps = (affine.get_coefficient_val(isl.dim_type.in_, member) for member in members)
    # a member that only takes multiples of 5 may move a subscript by a fifth
    return tuple(
        integer_of(step)
        if step.is_int() and not any(each.involves_dims(isl.dim_type.in_, member, 1) for each in divisions)
        else None
        for step, member in zip(steps, members, strict=True)
    )
