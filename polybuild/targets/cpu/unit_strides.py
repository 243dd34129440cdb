"""Original loops whose iterations run along rows of memory, forwards.

::

    for (j = n - 1; j >= 0; j--)          for (i)
      for (i)                               for (j = 0; j < n; j++)
        b[i][j] = f(a[i][j]);                 b[i][j] = f(a[i][j]);

Tiles of stencils are made from the original order, with rows for the vector unit along its innermost
loop. So in a nest that writes down columns or backwards, loops change places and directions first,
where dependences allow it.
"""

from __future__ import annotations

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.poly.trees import counts_down, is_band, negate
from polybuild.schedule.legality import is_legal_below
from polybuild.scop.model import AccessKind, Scop
from polybuild.targets.cpu.strides import Stride, references
from polybuild.transform.bands import permute


def with_unit_strides(scop: Scop, dependences: Dependences, schedule: isl.Schedule) -> isl.Schedule:
    """``schedule`` with nests of single loops in the order and direction of their rows."""
    return _straightened(schedule.get_root(), scop, dependences).get_schedule()


def with_rows_innermost(scop: Scop, schedule: isl.Schedule) -> isl.Schedule:
    """``schedule`` with that member of its outermost permutable band last that its writes run along."""
    band = schedule.get_root().child(0)
    if not is_band(band) or not band.band_get_permutable():
        return schedule
    writes = [each for each in references(scop, band) if each.access.kind is not AccessKind.READ]
    strides = [{each.stride(member) for each in writes} for member in range(band.band_n_member())]
    rows = [member for member, found in enumerate(strides) if found - {Stride.NONE} == {Stride.UNIT}]
    if not rows or Stride.UNIT in strides[-1]:
        return schedule
    order = [*(member for member in range(len(strides)) if member != rows[-1]), rows[-1]]
    return permute(band, order).get_schedule()


def _straightened(node: isl.ScheduleNode, scop: Scop, dependences: Dependences) -> isl.ScheduleNode:
    """``node`` with all nests below it straightened."""
    nest = _nest(node)
    if nest:
        return _along_rows(_forwards(node, len(nest), dependences), len(nest), scop, dependences)
    for index in range(node.n_children()):
        node = _straightened(node.child(index), scop, dependences).parent()
    return node


def _nest(node: isl.ScheduleNode) -> list[isl.ScheduleNode]:
    """The loops directly in each other from ``node`` down to statements; none if there is more below."""
    found = []
    while is_band(node) and node.band_n_member() == 1:
        found.append(node)
        node = node.child(0)
    return found if node.n_children() == 0 else []


def _along_rows(node: isl.ScheduleNode, depth: int, scop: Scop, dependences: Dependences) -> isl.ScheduleNode:
    """A nest with the loop innermost that all its writes run along, if there is one and it may be there."""
    partial = _members(node, depth)
    writes = [
        [each.stride(0) for each in references(scop, loop) if each.access.kind is not AccessKind.READ]
        for loop in _nest(node)
    ]
    rows = [member for member, strides in enumerate(writes) if set(strides) == {Stride.UNIT}]
    if not rows or rows[-1] == depth - 1 or Stride.UNIT in writes[-1]:
        return node
    order = [member for member in range(depth) if member != rows[-1]] + [rows[-1]]
    new = _without(node, depth)
    for member in reversed(order):
        new = new.insert_partial_schedule(partial[member])
    return new if is_legal_below(new, dependences) else node


def _forwards(node: isl.ScheduleNode, depth: int, dependences: Dependences) -> isl.ScheduleNode:
    """A nest with its loops that count down turned round, where they may be."""
    for member in range(depth):
        loop = node
        for _ in range(member):
            loop = loop.child(0)
        if counts_down(loop.band_get_partial_schedule().get_union_pw_aff(0)):
            turned = negate(loop, 0).ancestor(member)
            node = turned if is_legal_below(turned, dependences) else node
    return node


def _members(node: isl.ScheduleNode, depth: int) -> list[isl.MultiUnionPwAff]:
    return [each.band_get_partial_schedule() for each in _nest(node)[:depth]]


def _without(node: isl.ScheduleNode, depth: int) -> isl.ScheduleNode:
    """``node`` without the loops of its nest."""
    for _ in range(depth):
        node = node.delete()
    return node
