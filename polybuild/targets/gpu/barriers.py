"""The proof that copies to shared memory and their uses are kept apart by barriers.

A tile of shared memory is written by all threads of a block and read by all of
them. So on every way through the tree from a copy to a use of its tile, and from a
use to the next copy into it, all threads must meet at a barrier. The tree is walked
once: for each subtree, what is still to meet a barrier after it, and what may run in
it before the first one. All that runs before the first barrier of an iteration
follows all that runs after the last one of the iteration before.

In a phase of tiles over time values pass between threads from step to step, so each step has to begin with a
barrier (``thread_legality`` relies on it), but for those that take nothing of other threads
(``meeting_steps``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import islpy as isl

from polybuild.poly.marks import Mark, MarkKind
from polybuild.poly.relations import maps_of, sets_of
from polybuild.poly.trees import node_kind
from polybuild.schedule.legality import IllegalSchedule
from polybuild.targets.device import (
    MEETINGS,
    AddedStatement,
    Kernel,
    KernelTree,
    Purpose,
    SharedTile,
    ThreadTile,
)
from polybuild.targets.gpu.tree import find_mark, prefix_of
from polybuild.values import dataclass

_Kind = isl.schedule_node_type


@dataclass(frozen=True, slots=True)
class _Touch:
    """A copy of a tile, or a use of it; one ``ahead`` is of another stage than those of its iteration.

    Copies for one ``purpose`` do not meet each other: they are of different elements.
    """

    tile: str
    purpose: Purpose | None
    ahead: bool = False


_Touches = frozenset[_Touch]
_FILLING = {Purpose.COPY, Purpose.MOVE, Purpose.PUT, Purpose.STORE}


@dataclass(frozen=True, slots=True)
class _Way:
    """What runs before the first barrier of a subtree and after its last; whether every way has one."""

    before: _Touches
    after: _Touches
    meets: bool


def check_barriers(
    tree: KernelTree, kernels: Sequence[Kernel], meetings: Mapping[Mark, isl.Set] | None = None
) -> None:
    """Raise IllegalSchedule if threads may miss a barrier, or a copy and a use may meet without one.

    ``meetings`` has the steps ``{ [d0, ..., dn] }`` of kernels that must begin with one, where not all must.
    """
    root = tree.schedule.get_root()
    for kernel in kernels:
        if kernel.in_steps:
            mark = find_mark(root, kernel.mark())
            steps = find_mark(mark, kernel.mark(MarkKind.STEPS)).child(0)
            _check_steps(steps, tree.added, (meetings or {}).get(kernel.mark()))
            _check_uniform(mark, kernel, tree.added)
        tiles = [each for each in tree.tiles[kernel.mark()] if isinstance(each, SharedTile)]
        combined = any(isinstance(each, ThreadTile) and each.reduction for each in tree.tiles[kernel.mark()])
        if tiles or combined:
            mark = find_mark(root, kernel.mark())
            _check_kernel(mark, tiles, tree.added)
            _check_uniform(mark, kernel, tree.added)


def _check_steps(
    band: isl.ScheduleNode, added: Mapping[str, AddedStatement], meeting: isl.Set | None
) -> None:
    """Each iteration of ``band`` that runs an instance, and is one of ``meeting``, begins with a barrier."""
    below, names = band.child(0), _names(band.get_domain())
    if node_kind(below) == _Kind.extension:
        stamps = isl.Set.from_union_set(prefix_of(below).range())
        stamps = stamps if meeting is None else stamps.intersect(meeting)
        added_here = below.extension_get_extension()
        first = below.child(0).child(0)
        barriers = [
            each.domain()
            for each in maps_of(added_here.intersect_range(first.filter_get_filter()))
            if added[each.get_tuple_name(isl.dim_type.out)].purpose is Purpose.BARRIER
        ]
        if names.isdisjoint(_names(first.filter_get_filter())) and any(map(stamps.is_subset, barriers)):
            return
    raise IllegalSchedule("a step does not begin with a barrier")


def _check_uniform(mark: isl.ScheduleNode, kernel: Kernel, added: Mapping[str, AddedStatement]) -> None:
    """All threads of a block must come to the same barriers: no instance of one may be for some of them."""
    names = [axis.parameter for axis in kernel.threads]

    def visit(node: isl.ScheduleNode) -> None:
        if node_kind(node) == _Kind.extension:
            for each in maps_of(node.extension_get_extension()):
                statement = added.get(each.get_tuple_name(isl.dim_type.out))
                places = [each.find_dim_by_name(isl.dim_type.param, name) for name in names]
                depends = any(at >= 0 and each.involves_dims(isl.dim_type.param, at, 1) for at in places)
                if depends and statement is not None and statement.purpose in MEETINGS:
                    raise IllegalSchedule("not all threads of a block come to a barrier")
        for index in range(node.n_children()):
            visit(node.child(index))

    visit(mark)


def _check_kernel(
    mark: isl.ScheduleNode, tiles: list[SharedTile], added: Mapping[str, AddedStatement]
) -> None:
    """Check the barriers below the mark of a kernel."""
    touches: dict[str, _Touches] = {name: frozenset() for name in _names(mark.get_domain())}
    for tile in tiles:
        for each in tile.references:
            touches[each.statement.name] |= {_Touch(tile.name, None)}
    for name, statement in added.items():
        copied, purpose = statement.tile, statement.purpose
        found = isinstance(copied, SharedTile) and purpose in _FILLING
        if statement.staged is not None and statement.staged.asynchronous:
            found, purpose = True, Purpose.PUT  # its place is filled from when it is fetched until then
        if purpose is Purpose.STORE and copied is not None and statement.depth > copied.depth:
            found = False  # the thread stores what it has computed itself
        touches[name] = frozenset({_Touch(copied.name, purpose)} if found and copied else ())
    barriers = {name for name, statement in added.items() if statement.purpose is Purpose.BARRIER}
    stages = {
        name: each.tile.stages
        for name, each in added.items()
        if each.staged is not None and isinstance(each.tile, SharedTile)
    }
    _Walker(touches, barriers, stages).walk(mark, _names(mark.get_domain()))


def _is_next(extension: isl.Map) -> bool:
    """Whether ``{ [d0, ..., dn] -> put[e0, ..., en] }`` is for the next value of the last loop alone."""
    if extension.dim(isl.dim_type.in_) != extension.dim(isl.dim_type.out):
        return False  # before the loop
    steps = extension.reset_tuple_id(isl.dim_type.out).deltas()
    fixed = [
        steps.plain_get_val_if_fixed(isl.dim_type.set, dim) for dim in range(steps.dim(isl.dim_type.set))
    ]
    return all(each.is_zero() for each in fixed[:-1]) and bool(fixed) and bool(fixed[-1].is_one())


def _names(instances: isl.UnionSet) -> frozenset[str]:
    return frozenset(each.get_tuple_name() for each in sets_of(instances))


class _Walker:
    """Walks a tree; ``touches`` says which tiles each statement copies or uses."""

    def __init__(
        self, touches: Mapping[str, _Touches], barriers: set[str], stages: Mapping[str, int]
    ) -> None:
        self._touches = dict(touches)
        self._barriers = barriers
        self._stages = stages

    def walk(self, node: isl.ScheduleNode, names: frozenset[str]) -> _Way:
        """The way through the subtree at ``node``, which the statements ``names`` reach."""
        kind = node_kind(node)
        if kind == _Kind.leaf:
            return self._leaf(names)
        if kind in {_Kind.sequence, _Kind.set}:
            return _in_sequence([self.walk(node.child(index), names) for index in range(node.n_children())])
        if kind == _Kind.filter:
            names &= _names(node.filter_get_filter())
        elif kind == _Kind.extension:
            extension = node.extension_get_extension()
            names |= _names(extension.range())
            self._note_stages(extension)
        way = self.walk(node.child(0), names)
        if kind == _Kind.band:
            before, after = _seen_from_outside(way.before), _seen_from_outside(way.after)
            _expect_barrier(after, before)  # from one iteration to the next
            return _Way(before, after, meets=False)  # there may be no iteration
        return way

    def _note_stages(self, extension: isl.UnionMap) -> None:
        """Copies for the next value of the loop around are into another stage than uses in this one."""
        for each in maps_of(extension):
            name = each.get_tuple_name(isl.dim_type.out)
            if self._stages.get(name, 1) > 1 and _is_next(each):
                self._touches[name] = frozenset(replace(one, ahead=True) for one in self._touches[name])

    def _leaf(self, names: frozenset[str]) -> _Way:
        if names and names <= self._barriers:
            return _Way(frozenset(), frozenset(), meets=True)
        touches = frozenset[_Touch]().union(*(self._touches[name] for name in names))
        _expect_barrier(touches, touches)
        return _Way(touches, touches, meets=False)


def _seen_from_outside(touches: _Touches) -> _Touches:
    """``touches`` of a loop, whose iterations use all stages."""
    return frozenset(replace(each, ahead=False) for each in touches)


def _in_sequence(ways: list[_Way]) -> _Way:
    before: _Touches = frozenset()
    after: _Touches = frozenset()
    meets = False
    for way in ways:
        _expect_barrier(after, way.before, together=True)
        if not meets:
            before |= way.before
        after = way.after if way.meets else after | way.after
        meets = meets or way.meets
    return _Way(before, after, meets)


def _expect_barrier(earlier: _Touches, later: _Touches, *, together: bool = False) -> None:
    """Raise IllegalSchedule if touches of one tile meet, in one iteration of all loops if ``together``."""
    close = sorted(
        one.tile
        for one in earlier
        for other in later
        if one.tile == other.tile
        and one.purpose is not other.purpose
        and not (together and one.ahead != other.ahead)
    )
    if close:
        raise IllegalSchedule(f"no barrier parts the copies into '{close[0]}' from its uses")
