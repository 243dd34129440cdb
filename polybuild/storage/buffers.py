"""Temporary arrays of a mapped schedule tree, contracted to small buffers.

A buffer has an allocation scope, a node of the tree: each iteration of the loops above has one of
its own. So threads never share one, if that node is below the loop that they share.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import islpy as isl

from polybuild.c.explicit_conversions import bytes_of
from polybuild.c.types import FloatingType, IntegerType
from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.trees import descendants, is_mark, member, node_kind, prefix_schedule
from polybuild.scop.model import Array
from polybuild.storage.contraction import StorageMapping, along, contract
from polybuild.storage.liveness import ExecutionOrder, LiveValues, conflicts
from polybuild.values import dataclass

_out, _set = isl.dim_type.out, isl.dim_type.set


class IllegalStorage(Exception):
    """A buffer would lose a value that is still needed; a fault of this package."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """A small array that holds what is live of ``array`` below ``mark``.

    ``layout`` maps ``[time stamp -> cell]`` to the element of the buffer; ``prefix`` gives the
    time stamp of each instance in the loops above the mark (their prefix schedule), ``extents`` its sizes.
    ``flow`` relates the instances that write a value to those that read it, ``mapping`` is
    what ``layout`` was made from. Of a buffer of ``scalars`` each element is a variable of its own.
    ``written`` are the elements of the array that it replaces.
    """

    mark: Mark
    array: Array
    prefix: isl.UnionMap
    layout: isl.MultiAff
    extents: tuple[int, ...]
    flow: isl.UnionMap
    mapping: StorageMapping
    written: isl.Set
    scalars: bool = False

    @property
    def cells(self) -> int:
        """The number of elements."""
        return math.prod(self.extents)

    @property
    def size(self) -> int:
        """In bytes."""
        return element_size(self.array) * self.cells


def element_size(array: Array) -> int:
    """The size of an element of ``array``, which has numbers, in bytes."""
    element = array.element
    assert isinstance(element, IntegerType | FloatingType)  # noqa: S101 - arrays of others are no temporaries
    return bytes_of(element)


@dataclass(frozen=True, slots=True)
class _LiveCells:
    """The time stamps at which cells are used, and which cells conflict; ``conflicting`` may be none."""

    prefix: isl.UnionMap
    conflicting: isl.Map | None


def _lives_at(node: isl.ScheduleNode, values: LiveValues) -> _LiveCells | None:
    """What is live of an array at ``node``; None if its values leave an iteration of the loops above.

    None, too, of an array that nothing writes where the context holds.
    """
    written, flow = values.written, values.flow
    if written.is_empty():
        return None
    users = written.domain().union(flow.range())
    prefix = prefix_schedule(node).intersect_domain(users)
    same = prefix.apply_range(prefix.reverse())
    if not users.is_subset(node.get_domain()) or not flow.is_subset(same):
        return None
    dated = prefix.range_product(written)
    return _LiveCells(prefix, conflicts(LiveValues(dated, flow), _order_below(node, same)))


def mapping_at(
    node: isl.ScheduleNode, array: Array, values: LiveValues, context: isl.Set
) -> StorageMapping | None:
    """How ``array`` may be contracted along its own dimensions at ``node``, with sizes that may grow."""
    lives = _lives_at(node, values)
    if lives is None:
        return None
    distances = None if lives.conflicting is None else lives.conflicting.factor_range().deltas()
    found = contract(distances, len(array.extents), context, diagonals=False)
    return found[0] if found else None


def contract_at(
    node: isl.ScheduleNode,
    array: Array,
    values: LiveValues,
    context: isl.Set,
    mark: Mark,
    *,
    scalars: bool = False,
) -> Buffer | None:
    """The buffer for ``array``, which holds ``values``, at ``node``; None if its size is no constant.

    Everything that touches the array has to be below ``node``, and no value of it may go
    from one iteration of the loops above to another. Loops below that run their iterations
    together are those under marks of the vector unit. Where elements are to be ``scalars``, their
    subscripts are remainders of the array's, which unrolling makes constant. Elsewhere mappings with few
    remainders are preferred: skewed strips keep a window of a diagonal, though not of a row.
    """
    lives = _lives_at(node, values)
    if lives is None:
        return None
    distances = None if lives.conflicting is None else lives.conflicting.factor_range().deltas()
    mappings = contract(distances, len(array.extents), context, diagonals=not scalars)
    if not mappings or (scalars and mappings[0].footprint is None):
        return None
    cells = isl.Map.from_union_map(lives.prefix.reverse().apply_range(values.written)).intersect_params(
        context
    )
    found = [(each, _subscripts(cells, each, scalars=scalars)) for each in mappings[: 1 if scalars else None]]
    possible = [(mapping, subscripts) for mapping, subscripts in found if subscripts is not None]
    if not possible:
        return None
    mapping, subscripts = min(possible, key=lambda each: _remainders(each[1]))
    layout = isl.MultiAff.zero(_element_space(cells, mark.name, len(subscripts)))
    for position, (subscript, _) in enumerate(subscripts):
        layout = layout.set_aff(position, subscript)
    if lives.conflicting is not None:
        _prove(layout, lives.conflicting)
    extents = tuple(extent for _, extent in subscripts)
    written = cells.range()
    return Buffer(mark, array, lives.prefix, layout, extents, values.flow, mapping, written, scalars)


def uncontracted_at(
    node: isl.ScheduleNode, array: Array, values: LiveValues, context: isl.Set, mark: Mark
) -> Buffer | None:
    """A buffer with an element for each cell that is used in an iteration of the loops above ``node``.

    None where ``contract_at`` finds none, and where the cells do not lie in a box of constant size.
    Whatever order the instances below ``node`` have, it loses no value.
    """
    written, flow = values.written, values.flow
    if written.is_empty():
        return None
    users = written.domain().union(flow.range())
    prefix = prefix_schedule(node).intersect_domain(users)
    if not users.is_subset(node.get_domain()) or not flow.is_subset(prefix.apply_range(prefix.reverse())):
        return None
    cells = isl.Map.from_union_map(prefix.reverse().apply_range(written)).intersect_params(context)
    count = len(array.extents)
    rows = [tuple(int(row == column) for column in range(count)) for row in range(count)]
    found = [(row, _subscript(cells, row, None)) for row in rows]
    known = [(row, each) for row, each in found if each is not None]
    if len(known) < count:
        return None
    # one cell along a dimension is told apart by none
    kept = [(row, each) for row, each in known if each[1] > 1] or known[:1]
    layout = isl.MultiAff.zero(_element_space(cells, mark.name, len(kept)))
    for position, (_, (subscript, _)) in enumerate(kept):
        layout = layout.set_aff(position, subscript)
    places = isl.Map.from_multi_aff(layout).intersect_domain(cells.wrap())
    if not cells.domain_map().range_product(places).is_injective():
        raise IllegalStorage(f"the buffer at {layout} does not keep all cells apart")
    extents = tuple(extent for _, (_, extent) in kept)
    sizes = tuple(_number(extent, context) for extent in extents)
    mapping = StorageMapping(tuple(row for row, _ in kept), sizes)
    return Buffer(mark, array, prefix, layout, extents, flow, mapping, cells.range())


def _number(value: int, context: isl.Set) -> isl.PwAff:
    """``value`` as an expression of the parameters."""
    return isl.PwAff.from_aff(
        isl.Aff.zero_on_domain(isl.LocalSpace.from_space(context.get_space())).add_constant_val(
            isl.Val(value)
        )
    )


def _subscripts(
    cells: isl.Map, mapping: StorageMapping, *, scalars: bool
) -> list[tuple[isl.Aff, int]] | None:
    """The subscripts of a buffer and their extents; None if one of these is not a constant."""
    make = _remainder if scalars else _subscript
    found = [make(cells, *each) for each in zip(mapping.rows, mapping.sizes, strict=True)]
    subscripts = [each for each in found if each is not None]
    return subscripts if len(subscripts) == len(found) else None


def _remainders(subscripts: list[tuple[isl.Aff, int]]) -> int:
    """How many subscripts of a buffer have to be computed by divisions."""
    return sum(subscript.dim(isl.dim_type.div) > 0 for subscript, _ in subscripts)


def _prove(layout: isl.MultiAff, conflicting: isl.Map) -> None:
    """Raise IllegalStorage if two cells that are needed at the same time share an element of a buffer."""
    elements = isl.Map.from_multi_aff(layout)
    if not conflicting.is_disjoint(elements.apply_range(elements.reverse())):
        raise IllegalStorage(
            f"the buffer at {layout} lets values share an element that are needed at the same time"
        )


def _element_space(cells: isl.Map, name: str, count: int) -> isl.Space:
    """``{ [time stamp -> cell] -> name[...] }`` with ``count`` subscripts."""
    elements = cells.get_space().params().add_unnamed_tuple_ui(count).set_tuple_name(_set, name)
    return cells.get_space().wrap().map_from_domain_and_range(elements)


def _order_below(node: isl.ScheduleNode, sharing: isl.UnionMap) -> ExecutionOrder:
    """The order of the instances below ``node``; ``sharing`` relates those with equal time stamps above."""
    schedule = _without_redundant_dimensions(node.get_subtree_schedule_union_map())
    together = isl.UnionMap.empty(schedule.get_space())
    for each in descendants(node):
        if is_mark(each, MarkKind.SIMD):
            place = each.child(0)
            ordered = [isl.UnionMap.from_multi_union_pw_aff(member(place, 0))]
        elif node_kind(each) == isl.schedule_node_type.set:  # its children may come in any order
            place = each
            filters = [each.child(index).filter_get_filter() for index in range(each.n_children())]
            ordered = [isl.UnionMap.from_domain(chosen) for chosen in filters]
        else:
            continue
        outer = prefix_schedule(place)
        unordered = outer.apply_range(outer.reverse())
        for value in ordered:
            unordered = unordered.subtract(value.apply_range(value.reverse()))
        together = together.union(unordered)
    return ExecutionOrder(schedule, sharing, together)


def _without_redundant_dimensions(schedule: isl.UnionMap) -> isl.UnionMap:
    """``schedule`` without the dimensions that add nothing to the order: tiles just around their points."""
    ran = isl.Set.from_union_set(schedule.range())
    for position in reversed(range(ran.dim(_set) - 1)):
        count = ran.dim(_set)
        pair = ran.project_out(_set, position + 2, count - position - 2).project_out(_set, 0, position)
        if _follows(pair):
            keep = isl.Map.identity(ran.get_space().map_from_set()).project_out(_out, position, 1)
            schedule = schedule.apply_range(isl.UnionMap.from_map(keep))
            ran = ran.apply(keep)
    return schedule


def _follows(pair: isl.Set) -> bool:
    """Whether, in ``{ [outer, inner] }``, outer is a function of inner that never decreases."""
    both = isl.Map.identity(pair.get_space().map_from_set()).intersect_domain(pair)
    outer_of = both.project_out(_out, 0, 1).reverse().apply_range(both.project_out(_out, 1, 1))
    if not outer_of.is_single_valued():
        return False
    space = outer_of.get_space().domain().map_from_set()
    later = isl.Map.lex_lt(space.domain())
    moved = outer_of.reverse().apply_range(later).apply_range(outer_of)
    return bool(moved.is_disjoint(isl.Map.lex_gt(space.domain())))


def _subscript(cells: isl.Map, row: tuple[int, ...], modulus: int | None) -> tuple[isl.Aff, int] | None:
    """A cell's subscript along one dimension of a buffer, over ``[time stamp -> cell]``, and the extent.

    ``cells`` maps time stamps to the cells that are used then. Where these lie within a window no larger
    than ``modulus`` (or at all, if there is none), the subscript is the distance from the start, which
    costs less than a remainder. None if the extent is not a constant.
    """
    space = cells.get_space()
    value = along(space.range(), row)
    position = value.pullback_multi_aff(isl.MultiAff.range_map(space))
    found = min(windows(cells.apply_range(isl.Map.from_aff(value))), key=lambda each: each[1], default=None)
    if found is not None and (modulus is None or found[1] <= modulus):
        return position.sub(found[0].pullback_multi_aff(isl.MultiAff.domain_map(space))), found[1]
    return None if modulus is None else _remainder(cells, row, modulus)


def _remainder(cells: isl.Map, row: tuple[int, ...], modulus: int | None) -> tuple[isl.Aff, int] | None:
    """The subscript ``row . c mod modulus`` of a cell ``c`` over ``[time stamp -> cell]``, and its extent."""
    if modulus is None:
        return None
    space = cells.get_space()
    position = along(space.range(), row).pullback_multi_aff(isl.MultiAff.range_map(space))
    return position.mod_val(isl.Val(modulus)), modulus


def windows(values: isl.Map) -> Iterator[tuple[isl.Aff, int]]:
    """Windows ``[start, start + extent)`` of constant extent for all values ``{ time stamp -> [value] }``."""
    pieces: list[isl.MultiAff] = []
    values.lexmin_pw_multi_aff().foreach_piece(lambda _where, first: pieces.append(first))
    for piece in pieces:
        start = piece.get_aff(0)
        distances = values.sum(isl.Map.from_aff(start.neg())).range()
        minimum, maximum = distances.dim_min_val(0), distances.dim_max_val(0)
        if minimum.is_nonneg() and maximum.is_int():
            yield start, int(maximum.to_python()) + 1
