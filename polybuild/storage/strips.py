"""Private rows in strips: so many iterations at once, each with its own row, as a bounded buffer holds.

``for i: { w[n]; for j: w[j] = ...; for g: for l: o[i][g] += w[l] * v[l][g]; }`` is expanded to ``w[i][j]``.
No tile of the loop over ``j`` is private to anything: a buffer has whole rows, one for each iteration in
a strip of ``i``. How long they may be is checked when the program runs.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import islpy as isl

from polybuild.machine.model import DOUBLE, Machine
from polybuild.poly.relations import largest
from polybuild.scop.model import Array, Assumption, Scop
from polybuild.storage.buffers import element_size
from polybuild.storage.scalar_expansion import ExpandedNest, Expansion, elements_of_small
from polybuild.storage.temporaries import users_of

_set = isl.dim_type.set


def private_rows(expanded: ExpandedNest) -> list[Array]:
    """The arrays of a nest that have a row for each iteration of the one loop that they are private to."""
    if expanded.nest.depth != 1:
        return []
    pairs = zip(expanded.nest.webs, expanded.arrays, strict=True)
    return [own for web, own in pairs if len(own.extents) == 2 and elements_of_small(web.array) == 1]


def limit_rows(expansion: Expansion, machine: Machine) -> Expansion:
    """``expansion`` assuming that a strip of private rows takes half the second cache at most, in each nest.

    A strip has some blocks of register tiles at least.
    """
    scop, strip = expansion.scop, 4 * machine.tiles.block_rows
    # shorter than they might be: rows a power of two apart share lines of the cache
    spare = 2 * machine.memory.line // DOUBLE
    for expanded in expansion.nests:
        rows = [each for each in private_rows(expanded) if users_of(scop, [each])]
        length = machine.l2.bytes // 2 // (strip * sum(map(element_size, rows))) if rows else 0
        for each in rows:
            scop = _limited(scop, each, max(1, length - spare), strip)
    return expansion if scop is expansion.scop else replace(expansion, scop=scop)


def rows_within(scop: Scop, expanded: ExpandedNest, maximum: int) -> int:
    """How many private rows of a nest ``maximum`` bytes hold; none if their length is not bounded."""
    size = 0
    for each in private_rows(expanded):
        if users_of(scop, [each]):
            extent = _length(scop, each)
            bound = None if extent is None else largest(extent)
            if bound is None or not bound.is_int():
                return 0
            size += element_size(each) * int(bound.to_python())
    return maximum // max(1, size)


def _length(scop: Scop, array: Array) -> isl.PwAff | None:
    """The length of the rows of ``array``; None if nothing is known of it."""
    cells = [
        access.relation.intersect_domain(statement.domain).range()
        for statement in scop.statements
        for access in statement.accesses
        if access.array is array
    ]
    places = reduce(isl.Set.union, cells).project_out(_set, 0, 1).intersect_params(scop.context)
    if not (places.dim_has_any_lower_bound(_set, 0) and places.dim_has_any_upper_bound(_set, 0)):
        return None
    return places.dim_max(0).sub(places.dim_min(0)).add_constant_val(isl.Val(1))


def _limited(scop: Scop, array: Array, length: int, strip: int) -> Scop:
    """``scop`` assuming that the rows of ``array``, ``strip`` at once, have ``length`` elements at most."""
    extent = _length(scop, array)
    if extent is None:
        return scop
    condition = extent.add_constant_val(isl.Val(-length)).pos_set().complement()
    if scop.context.is_subset(condition):
        return scop
    condition = condition.gist(scop.context)
    reason = f"{strip} rows of '{array.expanded}' must fit in a buffer"
    return replace(
        scop,
        context=scop.context.intersect(condition),
        assumptions=(*scop.assumptions, Assumption(condition, reason, array.location)),
    )
