"""Rows that the lanes of a loop go along, each its own: stretches of them, with the lanes side by side.

``for i: for j: a[i][j] = f(a[i][j - 1], b[i][j])`` in lanes over ``i`` accesses elements that are a row
apart, one after the other along it. Where rows are a power of two apart, their elements share few sets of
a cache and drive each other out before their neighbours are needed. Squares of elements that are loaded by
rows and transposed in registers, computed on in a buffer, and stored by rows again, do without both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from polybuild.c.types import FloatingType
from polybuild.machine.model import CacheLevel, Machine
from polybuild.poly.relations import largest, maps_of
from polybuild.poly.spaces import constant_value
from polybuild.poly.trees import descendants, is_band
from polybuild.scop.model import AccessKind, Scop
from polybuild.targets.cpu.lane_packing import time_of
from polybuild.targets.cpu.strides import Reference, references_at
from polybuild.targets.model import LaneOperand, RowWindow

_in, _out, _set = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


def find_row_windows(
    node: isl.ScheduleNode,
    scop: Scop,
    operands: Mapping[int, LaneOperand],
    lanes: int,
    machine: Machine,
) -> tuple[tuple[RowWindow, ...], ...]:
    """The windows of the innermost loops inside of the band ``node``, which runs in ``lanes``, loop by loop.

    ``operands`` are those of what lanes compute. There are none where a loop writes no rows, and reads so
    few, each as far from the next, that the first cache of ``machine`` keeps a line of each.
    """
    inside = (each for each in descendants(node.child(0)) if is_band(each))
    innermost = (each for each in inside if not any(map(is_band, descendants(each.child(0)))))
    lane = node.get_schedule_depth()
    found = (_windows_of(each, lane, scop, operands, lanes=lanes, few=machine.l1.ways) for each in innermost)
    return tuple(each for each in found if each)


def copies_with(windows: Sequence[Sequence[RowWindow]], copies: int) -> int:
    """How many vectors run together, of as many as ``copies``, where loops have ``windows``.

    Moving rows leaves less to wait for. Where one array is read, and none is written, what counts is how many
    rows prefetchers follow: those of one vector.
    """
    return 1 if _is_one_read(windows) else (copies + 1) // 2


def stretch_of(windows: Sequence[Sequence[RowWindow]], lanes: int, column: int, cache: CacheLevel) -> int:
    """How many iterations of a loop ``windows`` are filled for, a ``column`` of each taking so many bytes.

    Whole squares of ``lanes``; 0 if the first ``cache`` has no room for one for each window of a loop.
    Where a row is only read, short stretches let the next one be loaded while this is computed on.
    """
    buffers = max(map(len, windows), default=1)
    room = cache.bytes // cache.ways if _is_one_read(windows) else cache.bytes
    return room // (buffers * column) // lanes * lanes


def _is_one_read(windows: Sequence[Sequence[RowWindow]]) -> bool:
    """Whether each loop reads one row, and writes none."""
    return all(len(each) == 1 and each[0].written is None for each in windows)


def _windows_of(
    band: isl.ScheduleNode,
    lane: int,
    scop: Scop,
    operands: Mapping[int, LaneOperand],
    *,
    lanes: int,
    few: int,
) -> tuple[RowWindow, ...]:
    """The windows of the last loop of ``band``, inside of that in ``lanes`` at depth ``lane``.

    A cache keeps a line of a ``few`` rows for certain.
    """
    time = time_of(band)
    stamps = isl.Set.from_union_set(time.range()).intersect_params(scop.context)
    by_statement = {each.get_tuple_name(_in): each for each in maps_of(time)}
    always = all(
        stamps.is_subset(each.intersect_params(scop.context).range()) for each in by_statement.values()
    )
    if not always or _has_few(stamps, lanes):  # a statement under a condition is in no stretch
        return ()
    loops = range(lane, band.get_schedule_depth() + band.band_n_member())
    by_array: dict[str, list[Reference]] = {}
    for each in references_at(scop, by_statement, loops):
        if each.access.array.extents:
            by_array.setdefault(each.access.array.name, []).append(each)
    windows: list[RowWindow] = []
    stores = False
    for found in by_array.values():
        fitting = [each for each in found if _goes_along(each, operands)]
        written = any(each.access.kind is not AccessKind.READ for each in found)
        stores = stores or (written and any(row[-1] != 0 for each in found for row in each.matrix))
        groups = _by_row(time, stamps, scop, fitting)
        if written and [len(each) for each in groups] != [len(found)]:
            continue  # what is written has to be in the buffer wherever it is accessed
        made = (_window(group) for group in groups)
        windows += [each for each in made if each is not None and each.span <= lanes]
    pointers = any(each.array.row_subscripts for each in windows)  # to gather, lanes would load these, too
    return tuple(windows) if stores or pointers or lanes * len(windows) > few else ()


def _goes_along(reference: Reference, operands: Mapping[int, LaneOperand]) -> bool:
    """Whether ``reference`` goes along the row of its lane in the loop inside, the last of its loops."""
    access, last = reference.access, len(reference.matrix[-1]) - 1
    operand = operands.get(id(access.node))
    if operand is None or not operand.is_distant or not access.exact:
        return False
    if not isinstance(operand.type, FloatingType) or any(row[0] is None for row in reference.matrix):
        return False
    return reference.is_adjacent(last) and (access.kind is AccessKind.WRITE or operand.loaded)


def _by_row(
    time: isl.UnionMap, stamps: isl.Set, scop: Scop, fitting: Sequence[Reference]
) -> list[list[tuple[Reference, int]]]:
    """References to the same row in each iteration, with how far each is from the first of them.

    Those that not all of the ``stamps`` make are left out.
    """
    groups: list[tuple[isl.PwMultiAff, list[tuple[Reference, int]]]] = []
    for each in fitting:
        relation = each.access.relation.intersect_domain(each.statement.domain)
        touched = isl.Map.from_union_map(time.reverse().apply_range(isl.UnionMap.from_map(relation)))
        touched = touched.intersect_params(scop.context)
        if not stamps.is_subset(touched.domain()):
            continue
        element = isl.PwMultiAff.from_map(touched)
        for first, group in groups:
            distance = _distance(first, element)
            if distance is not None:
                group.append((each, distance))
                break
        else:
            groups.append((element, [(each, 0)]))
    return [group for _, group in groups]


def _distance(one: isl.PwMultiAff, other: isl.PwMultiAff) -> int | None:
    """How many elements ``other`` is behind ``one`` in the same row, always; None if it is not."""
    between = other.sub(one)
    steps = [constant_value(between.get_pw_aff(dim).coalesce()) for dim in range(between.dim(_out))]
    return steps[-1] if steps and not any(steps[:-1]) and None not in steps else None


def _window(group: Sequence[tuple[Reference, int]]) -> RowWindow | None:
    """The window that the references of ``group`` need; None if they write several places of it.

    What is between elements that an iteration reads is loaded, too: it is part of the same row.
    """
    if len({reference.matrix[-1][-1] for reference, _ in group}) != 1:
        return None
    first = min(distance for _, distance in group)
    places = {id(reference.access.node): distance - first for reference, distance in group}
    span = max(places.values()) + 1
    reads = [reference for reference, _ in group if reference.access.kind is AccessKind.READ]
    written = {
        places[id(reference.access.node)]
        for reference, _ in group
        if reference.access.kind is not AccessKind.READ
    }
    if len(written) > 1:
        return None  # what is between them may be another lane's in the last iterations
    array, upwards = group[0][0].access.array, group[0][0].matrix[-1][-1] == 1
    last = span - 1 if upwards else 0  # iterations after read what is written there
    carried = (
        bool(reads)
        and written == {last}
        and all(places[id(each.access.node)] != last for each in reads)
        and not any(each.access.kind is AccessKind.MAY_WRITE for each, _ in group)
    )
    return RowWindow(array, places, span, upwards, bool(reads), next(iter(written), None), carried)


def _has_few(stamps: isl.Set, lanes: int) -> bool:
    """Whether the last loop has fewer iterations than there are ``lanes``, whatever the parameters."""
    around = int(stamps.dim(_set)) - 1
    values = isl.Map.from_range(stamps).move_dims(_in, 0, _out, 0, around)
    more = largest(values.dim_max(0).sub(values.dim_min(0)))
    return bool(more.is_int()) and more.to_python() + 1 < lanes
