"""Loops unrolled, split or peeled by hand, as the loops they were.

::

    for (k = 0; k + 1 < n; k += 2) {
      s += a[k];
      s += a[k + 1];                     ->    for (k = 0; k < n; k++)
    }                                            s += a[k];
    for (; k < n; k++)
      s += a[k];

Statements that are one at different values of a counter become that one, which runs for all of these
values, in the order of the loop that had its first copy (loop rerolling; for unrolled outer loops whose
inner ones were fused, unroll and jam in reverse). What is computed, and what from, stays; a private
variable that each copy had for itself becomes one variable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from polybuild.effort import REROLLED_STATEMENTS, REROLLING_OPERATIONS
from polybuild.poly.budget import found_within
from polybuild.rerolling.equivalence import computes_the_same
from polybuild.rerolling.first_terms import with_first_terms_added
from polybuild.rerolling.joining import joined
from polybuild.rerolling.loop_tree import Block, Leaf, Loop, Part, loop_tree, statements_of
from polybuild.rerolling.matching import Place, copies_in
from polybuild.rerolling.shapes import Shape, shapes_of
from polybuild.scop.model import Scop
from polybuild.storage.coalescing import without_unused


def reroll(scop: Scop, live_out: frozenset[str]) -> Scop:
    """``scop`` with copies of statements joined; itself if there are none.

    ``live_out`` names variables that are read after the region.
    """
    if not 1 < len(scop.statements) <= REROLLED_STATEMENTS:
        return scop
    scop = _with_copies_joined(scop, live_out)
    split = with_first_terms_added(scop, live_out)
    if split is None:
        return scop
    changed = _with_copies_joined(split[0], live_out)
    return scop if split[1] & {each.name for each in changed.statements} else changed


def _with_copies_joined(scop: Scop, live_out: frozenset[str]) -> Scop:
    tried: set[tuple[frozenset[str], int]] = set()
    while True:
        shapes = shapes_of(scop, live_out)
        changed = _next(scop, shapes, tried) if _has_equal(shapes.values()) else None
        if changed is None:
            return scop
        scop = changed


def _has_equal(shapes: Iterable[Shape]) -> bool:
    """Whether two of ``shapes`` are equal."""
    return max(Counter(each.key for each in shapes).values(), default=0) > 1


def _next(scop: Scop, shapes: Mapping[str, Shape], tried: set[tuple[frozenset[str], int]]) -> Scop | None:
    """``scop`` with what stands at the first place that suits joined; ``tried`` are those that do not."""
    tree = loop_tree(scop.schedule)
    if tree is None:
        return None
    for place in _loops_in_place(tree, 0):
        names = frozenset(name for part in place.parts for name in statements_of(part))
        if (names, place.depth) in tried or not shapes.keys() >= names:
            continue
        tried.add((names, place.depth))
        if _has_equal(shapes[name] for name in names):
            changed = found_within(REROLLING_OPERATIONS, partial(_rerolled, scop, tree, place, shapes))
            if changed is not None:
                return changed
    return None


def _loops_in_place(part: Part, depth: int) -> Iterator[Place]:
    """Where loops stand in ``part``, which is in ``depth`` loops; inner places first."""
    if isinstance(part, Leaf):
        return
    parts = part.parts if isinstance(part, Block) else (part,)
    for each in parts:
        if isinstance(each, Loop):
            yield from _loops_in_place(each.body, depth + 1)
    if any(isinstance(each, Loop) for each in parts):
        yield Place(parts, depth)


def _rerolled(scop: Scop, tree: Part, place: Place, shapes: Mapping[str, Shape]) -> Scop | None:
    """``scop`` with copies at ``place`` joined; None if there are none for certain."""
    statements = {each.name: each for each in scop.statements}
    found = []
    for leading, part in enumerate(place.parts):
        for own_cells in (True, False) if isinstance(part, Loop) else ():
            copies = copies_in(place, leading, statements, shapes, own_cells=own_cells)
            if copies is not None:
                gone = sum(each.statement is not each.original for each in copies)
                found.append((gone, copies))
    for gone, copies in sorted(found, key=lambda each: -each[0]):
        changed = joined(scop, tree, place, copies, shapes) if gone else None
        if changed is not None and computes_the_same(scop, changed, copies, shapes):
            return without_unused(changed, scop)
    return None
