"""Dataflow between accesses, array by array, each found once for a region.

Accesses of different arrays have nothing to do with each other, and isl compares each with each. Whole
regions, single arrays, and versions of a region of which a few arrays are new ask for the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import islpy as isl

from polybuild.effort import ACCESS_PIECES
from polybuild.poly.memory import remembered
from polybuild.poly.relations import maps_of, sets_of, union_of
from polybuild.scop.model import Scop
from polybuild.values import dataclass

_in, _out = isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True, slots=True)
class ArrayFlow:
    """What sinks see of the sources of one array, or of several.

    ``pairs`` is ``{ source -> sink }``, ``full`` is ``{ source -> [sink -> element] }``, for sources that a
    sink may see, and ``certain`` is like ``full`` for those it sees for certain; ``old`` are the sinks with
    the elements for which there is none for certain.
    """

    pairs: isl.UnionMap
    full: isl.UnionMap
    certain: isl.UnionMap
    old: isl.UnionMap


def flow_between(
    scop: Scop,
    sinks: isl.UnionMap,
    *,
    must: isl.UnionMap | None = None,
    may: isl.UnionMap | None = None,
    kills: isl.UnionMap | None = None,
) -> ArrayFlow:
    """What ``sinks`` see of sources, all of them relations of instances to elements (isl's ``compute_flow``).

    ``must`` sources hide older ones, ``may`` sources do not, and ``kills`` hide and are none.
    """
    nothing = isl.UnionMap.empty(sinks.get_space())
    sources = [by_array(nothing if each is None else each) for each in (must, may, kills)]
    found = []
    for array, own in by_array(sinks).items():
        accesses = own, *(each.get(array, nothing) for each in sources)
        found.append(_array_flow(order_of(scop.schedule, accesses), accesses, kills is not None))
    return _together(found, nothing)


def order_of(schedule: isl.Schedule, accesses: Sequence[isl.UnionMap]) -> isl.UnionMap:
    """When the statements of ``accesses``, which are not none, run."""
    stamps = _stamps(schedule)
    names = dict.fromkeys(each.get_tuple_name(_in) for union in accesses for each in maps_of(union))
    return union_of([stamps[each] for each in names if each in stamps], accesses[0].get_space())


def time_stamps(schedule: isl.Schedule, instances: isl.UnionSet) -> isl.UnionMap:
    """When the statements of ``instances`` run."""
    stamps = _stamps(schedule)
    names = dict.fromkeys(each.get_tuple_name() for each in sets_of(instances))
    return union_of([stamps[each] for each in names if each in stamps], instances.get_space())


@remembered
def _stamps(schedule: isl.Schedule) -> dict[str, isl.Map]:
    """When instances run, by the name of their statement."""
    return {each.get_tuple_name(_in): each for each in maps_of(schedule.get_map())}


@remembered
def _array_flow(order: isl.UnionMap, accesses: tuple[isl.UnionMap, ...], has_kills: bool) -> ArrayFlow:
    """The flow between ``accesses`` of one array, in ``order``: sinks, must and may sources, kills.

    Sinks of many pieces, as the neighbours across all borders of a periodic grid, are taken piece by piece:
    what each sees has nothing to do with the others, and isl compares what it finds for all of them.
    """
    sinks, *sources = accesses
    if max(map(_pieces, accesses)) <= ACCESS_PIECES:
        return _flow(order, (sinks, *sources), has_kills)
    parts = (part for each in maps_of(sinks.coalesce()) for part in each.get_basic_maps())
    sources = [each.coalesce() for each in sources]
    return _together(
        (_flow(order, (isl.UnionMap.from_basic_map(each), *sources), has_kills) for each in parts), sinks
    )


def _pieces(union: isl.UnionMap) -> int:
    return sum(each.n_basic_map() for each in maps_of(union))


def _together(found: Iterable[ArrayFlow], nothing: isl.UnionMap) -> ArrayFlow:
    """What several ``found`` of sinks of their own, or of arrays, say together."""
    parts = zip(*((each.pairs, each.full, each.certain, each.old) for each in found), strict=True)
    unions = (
        union_of((one for each in part for one in maps_of(each)), nothing.get_space()) for part in parts
    )
    return ArrayFlow(*(list(unions) or [nothing] * 4))


def _flow(order: isl.UnionMap, accesses: tuple[isl.UnionMap, ...], has_kills: bool) -> ArrayFlow:
    sinks, must, may, kills = accesses
    info = isl.UnionAccessInfo.from_sink(sinks).set_may_source(may).set_schedule_map(order)
    info = info.set_kill(kills) if has_kills else info.set_must_source(must)
    flow = info.compute_flow()
    return ArrayFlow(
        flow.get_may_dependence(),
        flow.get_full_may_dependence(),
        flow.get_full_must_dependence(),
        flow.get_may_no_source(),
    )


def by_array(accesses: isl.UnionMap) -> dict[str, isl.UnionMap]:
    """The ``accesses`` by the names of their arrays."""
    found: dict[str, list[isl.Map]] = {}
    for each in maps_of(accesses):
        found.setdefault(each.get_tuple_name(_out), []).append(each)
    return {name: union_of(maps, accesses.get_space()) for name, maps in found.items()}
