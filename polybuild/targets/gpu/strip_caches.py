"""The steps of tiles over time in a kernel's tree: barriers, and what goes to shared memory and back."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import islpy as isl

from polybuild.options import COPY_OUT, SHARED_MEMORY
from polybuild.poly.marks import MarkKind
from polybuild.scop.model import Array, Scop
from polybuild.targets.base import DeviceLimits
from polybuild.targets.device import AddedStatement, Kernel, Purpose, SharedTile, Transfer
from polybuild.targets.gpu.cache_statements import BoxCopy, add_box_copy, add_stores
from polybuild.targets.gpu.copy_out import stored_writes
from polybuild.targets.gpu.copy_statements import add_barrier
from polybuild.targets.gpu.tile_caches import CacheFinder, find_caches
from polybuild.targets.gpu.tree import find_mark
from polybuild.targets.gpu.value_reuse import Reuse, whole_box


class StripCaches:
    """What the ``kernel`` below ``mark`` keeps in shared memory for a strip.

    Its loops are not bound to blocks and threads yet.

    ``steps`` are those of ``Options.device_tiles``. ``told`` is what is said of boxes that have no room.
    Arrays ``inside`` are there alone: nothing of them is copied.
    """

    def __init__(
        self,
        scop: Scop,
        kernel: Kernel,
        mark: isl.ScheduleNode,
        transfers: Sequence[Transfer],
        *,
        limits: DeviceLimits,
        steps: Collection[str],
        inside: Sequence[Array] = (),
    ) -> None:
        self._kernel = kernel
        reuse = next((each for each in reversed(Reuse) if each.value in steps), None)
        finder = CacheFinder(scop, kernel, mark)
        wanted = SHARED_MEMORY in steps
        caches, self.told = find_caches(finder, transfers, limits, reuse) if wanted else ((), ())
        self._caches = caches
        self._inside = tuple(finder.inside(each) for each in inside)
        self._interleaved = COPY_OUT in steps
        if self._interleaved:
            self._stores = [(each, stored_writes(each, mark, kernel, scop)) for each in caches]
        else:
            self._written = [(each, finder.written(each)) for each in caches]

    @property
    def tiles(self) -> tuple[SharedTile, ...]:
        """The boxes in shared memory."""
        return (*(each.tile for each in self._caches), *self._inside)

    def fill(
        self, root: isl.ScheduleNode, added: dict[str, AddedStatement], meeting: isl.Set | None
    ) -> isl.ScheduleNode:
        """Add the barriers and copies, which are put into ``added``; takes and gives the root.

        The steps ``meeting`` begin with a barrier, or all (``thread_legality.meeting_steps``).
        """
        if self._interleaved:  # the inner place first: what is added there does not move the outer one
            for cache, writes in self._stores:
                for each in writes:
                    name = f"polybuild_store{len(added)}"
                    root, one = add_stores(root, self._kernel, name, cache.tile, each)
                    added[name] = one
        steps = find_mark(root, self._kernel.mark(MarkKind.STEPS))
        node = self._barrier(steps.child(0).child(0), added, at=meeting)
        if not self._caches:
            return node.root()  # steps alone use shared memory
        node = find_mark(node.root(), self._kernel.mark(MarkKind.STEPS))
        node = self._copies_in(self._barrier(node, added), added)
        if not self._interleaved:
            node = self._copies_out(node, added)
        return node.root()

    def _copies_in(self, node: isl.ScheduleNode, added: dict[str, AddedStatement]) -> isl.ScheduleNode:
        moved = [(each.tile, part) for each in self._caches for part in each.moved]
        for tile, part in moved:
            node = self._copy(node, BoxCopy(f"polybuild_move{len(added)}", Purpose.MOVE, tile, part), added)
        if moved:
            node = self._barrier(node, added)
        for cache in self._caches:
            for part in cache.loaded:
                copy = BoxCopy(f"polybuild_copy{len(added)}", Purpose.COPY, cache.tile, part)
                node = self._copy(node, copy, added)
        return node

    def _copies_out(self, node: isl.ScheduleNode, added: dict[str, AddedStatement]) -> isl.ScheduleNode:
        for cache, elements in reversed(self._written):  # each goes right behind the steps
            if elements is not None:
                part = whole_box(cache.tile, elements)
                copy = BoxCopy(f"polybuild_store{len(added)}", Purpose.STORE, cache.tile, part)
                node = self._copy(node, copy, added, after=True)
        return self._barrier(node, added, after=True)

    def _copy(
        self, node: isl.ScheduleNode, copy: BoxCopy, added: dict[str, AddedStatement], *, after: bool = False
    ) -> isl.ScheduleNode:
        node, one = add_box_copy(node, copy, self._kernel.threads, after=after)
        added[one.name] = one
        return node

    def _barrier(
        self,
        node: isl.ScheduleNode,
        added: dict[str, AddedStatement],
        *,
        after: bool = False,
        at: isl.Set | None = None,
    ) -> isl.ScheduleNode:
        node, one = add_barrier(node, f"polybuild_barrier{len(added)}", after=after, at=at)
        added[one.name] = one
        return node
