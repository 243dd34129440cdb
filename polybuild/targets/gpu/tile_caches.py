"""What tiles over time keep in shared memory (thesis, section 5.3.2; step (b) of its table 4).

A strip of a tile works on a box of each array. What it may read is copied to shared memory before its first
step, the steps read and write there, and what they have written is stored again (``copy_out``)::

    for (strips)
      barrier
      copy the box                    but for what is there already (``value_reuse``)
      for (t) { barrier; ... }        the steps of the strip
      barrier
      store what is new               or each value when it is computed

The whole box is copied, as far as there are elements: that takes no conditions that differ from row to row.
So all of the array has to have values: what kernels with such boxes write goes to the device, too
(``with_old_values``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from polybuild.poly.marks import MarkKind
from polybuild.poly.relations import maps_of
from polybuild.scop.model import AccessKind, Array, Scop
from polybuild.storage.buffers import IllegalStorage
from polybuild.targets.base import DeviceLimits
from polybuild.targets.device import Kernel, KernelAccess, SharedTile, Transfer
from polybuild.targets.gpu.copy_statements import elements_of, inside, on_device
from polybuild.targets.gpu.footprint import box_of
from polybuild.targets.gpu.placement import bytes_of, relation_of, union_of
from polybuild.targets.gpu.tree import find_mark, prefix_of, time_stamps_of
from polybuild.targets.gpu.value_reuse import BoxPart, Reuse, retained, whole_box
from polybuild.values import dataclass

_in, _out = isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True, slots=True)
class TileCache:
    """The box of an array that a strip works on: its place in shared memory, and what is copied when.

    In a strip parts are ``loaded`` from memory; others are there from the strip before, of which some are
    ``moved``. What is ``retained`` for the strip after need not be stored before that has written it, too.
    What is ``cached`` in a strip, ``{ [d0, ..., dn, x0, ...] }``, has values in shared memory, which no other
    tile of the launch changes.
    """

    tile: SharedTile
    cached: isl.Set
    loaded: tuple[BoxPart, ...]
    moved: tuple[BoxPart, ...] = ()
    retained: bool = False


def with_old_values(transfers: Sequence[Transfer]) -> tuple[Transfer, ...]:
    """``transfers`` of which all arrays go in that the program has, so that boxes of them can be copied."""
    return tuple(each if each.array.local else replace(each, goes_in=True) for each in transfers)


def find_caches(
    finder: CacheFinder, transfers: Sequence[Transfer], limits: DeviceLimits, reuse: Reuse | None
) -> tuple[tuple[TileCache, ...], tuple[str, ...]]:
    """The boxes of a kernel, as many as shared memory holds; with ``reuse`` of values of the strip before.

    Reuse may take more memory, or some: where not all boxes have room with that, they do with less of it.
    Then what there is to say of those that have none.
    """
    forms = [finder.forms(each, reuse) for each in transfers if each.array.extents]
    found: list[TileCache] = []
    for level in range(max(map(len, forms), default=0)):
        found = [each[min(level, len(each) - 1)] for each in forms if each]
        if sum(bytes_of(each.tile) for each in found) <= limits.shared_bytes:
            break
    chosen: list[TileCache] = []
    left = limits.shared_bytes
    for cache in sorted(found, key=lambda each: bytes_of(each.tile)):
        if bytes_of(cache.tile) <= left:
            name = f"{cache.tile.name}{len(chosen)}"
            chosen.append(replace(cache, tile=replace(cache.tile, name=name)))
            left -= bytes_of(cache.tile)
    kept = {each.tile.array.name for each in chosen}
    told = (
        f"'{each.tile.array.spelling}' stays in memory: the {bytes_of(each.tile)} bytes of its box"
        f" are too many for the {limits.shared_bytes} of shared memory"
        for each in found
        if each.tile.array.name not in kept
    )
    return tuple(chosen), tuple(told)


class CacheFinder:
    """Finds boxes for the ``kernel`` below ``mark``, whose loops are not bound to blocks and threads yet."""

    def __init__(self, scop: Scop, kernel: Kernel, mark: isl.ScheduleNode) -> None:
        self._scop = scop
        self._node = find_mark(mark, kernel.mark(MarkKind.STEPS))
        self._prefix = {each.get_tuple_name(_in): each for each in maps_of(prefix_of(self._node))}
        self._outside = mark.get_schedule_depth()
        self._tiles = len(kernel.blocks)
        self._in_strips = self._node.get_schedule_depth() > self._outside + self._tiles

    def forms(self, transfer: Transfer, reuse: Reuse | None) -> list[TileCache]:
        """What is copied of an array and when, in the forms that there are, those that copy less first.

        None if it is not in shared memory.
        """
        tile = self._tile(transfer.array) if transfer.goes_in else None
        if tile is None:
            return []
        stamps = time_stamps_of(self._node)
        cached = elements_of(tile, transfer, self._node, self._scop)
        present = on_device(transfer, cached.get_space(), tile.depth)
        cached = cached.intersect(stamps.add_dims(isl.dim_type.set, len(tile.box.sizes)))
        if self.reached_by_others(cached, tile, writes=True):
            return []
        kept = retained(tile, present, stamps, reuse) if reuse is not None and self._in_strips else []
        return [
            *(TileCache(each.tile, cached, each.loaded, each.moved, retained=True) for each in kept),
            TileCache(tile, cached, (whole_box(tile, present),)),
        ]

    def inside(self, array: Array) -> SharedTile:
        """The box of ``array``, which is nowhere else; raises IllegalStorage if it has none."""
        tile = self._tile(array)
        if tile is None:
            raise IllegalStorage(f"tiles have no box of '{array.spelling}'")
        return tile

    def _tile(self, array: Array) -> SharedTile | None:
        """The box of ``array``; None where it has none, or other accesses than to single elements."""
        references = [
            KernelAccess(statement, access)
            for statement in self._scop.statements
            if statement.name in self._prefix
            for access in statement.accesses
            if access.array.name == array.name
        ]
        if not references or not all(
            each.access.exact and each.access.relation.is_single_valued() for each in references
        ):
            return None
        box = box_of(self._touched(references))
        if box is None or box.elements == 1:
            return None
        return SharedTile(
            f"{array.name}_shared",
            array,
            tuple(references),
            self._node.get_schedule_depth(),
            {name: isl.PwMultiAff.from_map(each) for name, each in self._prefix.items()},
            box,
            tuple(range(len(box.sizes))),
            box.sizes[-1],
            inner=True,
        )

    def _touched(self, references: Sequence[KernelAccess]) -> isl.Map:
        """``{ [d0, ..., dn] -> array[x0, ...] }``."""
        return union_of(
            [
                self._prefix[each.statement.name].reverse().apply_range(relation_of(each, self._scop))
                for each in references
            ]
        )

    def reached_by_others(self, elements: isl.Set, tile: SharedTile, *, writes: bool = False) -> bool:
        """Whether other tiles of a launch use ``elements`` of ``tile``; with ``writes``: change them."""
        references = [
            each for each in tile.references if not (writes and each.access.kind is AccessKind.READ)
        ]
        if not references:
            return False
        pairs = as_map(elements, tile.depth).apply_range(
            self._touched(references).reset_tuple_id(_out).reverse()
        )
        for dim in range(self._outside):
            pairs = pairs.equate(_in, dim, _out, dim)
        same = pairs
        for dim in range(self._outside, self._outside + self._tiles):
            same = same.equate(_in, dim, _out, dim)
        return not bool(pairs.is_subset(same))

    def written(self, cache: TileCache) -> isl.Set | None:
        """What strips write, or hold without others who use it, ``{ [d0, ..., x0, ...] }``; None: nothing."""
        tile = cache.tile
        writes = [each for each in tile.references if each.access.kind is not AccessKind.READ]
        if not writes:
            return None
        touched = self._touched(writes)
        exact = touched.reset_tuple_id(_out).wrap().flatten().coalesce()
        box = box_of(touched)
        if box is None:
            return exact
        anywhere = isl.Set.from_basic_set(touched.range().remove_divs().simple_hull()).reset_tuple_id()
        depth = tile.depth
        whole = cache.cached.intersect(inside(box, exact.get_space(), depth))
        whole = whole.intersect(anywhere.insert_dims(isl.dim_type.set, 0, depth))
        return exact if self.reached_by_others(whole, tile) else whole.coalesce()


def as_map(elements: isl.Set, depth: int) -> isl.Map:
    """``{ [d0, ..., dn, x0, ...] }`` as ``{ [d0, ..., dn] -> [x0, ...] }``."""
    return isl.Map.from_range(elements).move_dims(_in, 0, _out, 0, depth)
