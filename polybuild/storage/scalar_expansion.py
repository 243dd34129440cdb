"""Private variables as arrays with one dimension for each loop that they are private to (array expansion).

Feautrier 1988, but only for the values that outlast a loop, and only on paper: what is expanded has to be
contracted again under the order that is found. ``s = 0; for k: s += ...; c[i][j] = alpha * s + c[i][j]``
within loops over ``i`` and ``j`` becomes ``s[i][j] = 0`` and so on, whose instances for different ``i`` and
``j`` have nothing to do with each other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.dependences import may_be_private
from polybuild.c.symbols import StorageClass
from polybuild.c.types import FloatingType, IntegerType
from polybuild.scop.model import Array, Provenance, Scop
from polybuild.storage.coalescing import outlasts_loops, same_reads, without_unused
from polybuild.storage.webs import Web, webs_of

_out = isl.dim_type.out


@dataclass(frozen=True, slots=True)
class Expansion:
    """A region with private variables expanded to ``arrays`` over ``depth`` outer loops, or more."""

    scop: Scop
    arrays: tuple[Array, ...]
    depth: int


def expand_private(scop: Scop, live_out: frozenset[str]) -> Expansion | None:
    """``scop`` with every private value that outlasts a loop in an array; None if there is none.

    None, too, where statements are not all in the loops that the values are private to.
    """
    webs = [
        web
        for array in scop.arrays
        if may_be_private(array, live_out) and isinstance(array.element, IntegerType | FloatingType)
        for web in webs_of(scop, array)
        if outlasts_loops(scop, web)
    ]
    depth = min((each.depth for each in webs), default=0)
    if depth == 0 or len({each.iterators[:depth] for each in scop.statements}) != 1:
        return None
    changed, arrays = scop, []
    for web in webs:
        own = _array_for(web, {each.name for each in changed.arrays})
        expanded = _on_array(changed, web, own)
        if not same_reads(changed, expanded, web.array, own):
            return None
        changed = expanded
        arrays.append(own)
    return Expansion(without_unused(changed, scop), tuple(arrays), depth)


def _array_for(web: Web, taken: set[str]) -> Array:
    """An array of the region for the cells of ``web``; it is never declared."""
    name = f"{web.array.name}_expanded"
    while name in taken:
        name += "_"
    extents = (None,) * (web.depth + len(web.array.extents))
    return Array(
        name,
        c_ast.ID(name),
        web.array.element,
        extents,
        Provenance(StorageClass.LOCAL),
        web.array.location,
        local=True,
        suffixes=("",) * len(extents),
    )


def _on_array(scop: Scop, web: Web, own: Array) -> Scop:
    """``scop`` with the elements of ``own`` in place of the cells of ``web``."""
    statements = web.kept_in(scop, own, lambda cells: cells.set_tuple_name(_out, own.name))
    return replace(scop, statements=statements, arrays=(*scop.arrays, own))
