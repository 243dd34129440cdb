"""What ranks tell each other of arrays that stay distributed from region to region.

Of these each rank knows at run time who has which elements (Kwon, Jafri, Kim and Eigenmann, *A hybrid
approach of OpenMP for clusters*, PPoPP 2012). A region adds what each rank reads of it and writes to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from polybuild.analysis.dependences import Dependences, without
from polybuild.poly.relations import sets_of
from polybuild.scop.model import AccessKind, Array, Scop
from polybuild.targets.ranks.model import Exchange, ExchangeKind, Message


def read_before(
    name: str, scop: Scop, dependences: Dependences, readers: isl.UnionSet, accumulated: isl.UnionMap
) -> Exchange:
    """What ``readers``, which a rank runs, read of values from before, and all that is ``accumulated``.

    An instance that may write an element reads it: its rank has the value where nothing is written.
    """
    private = {each.array.name for each in dependences.private}
    kept = without(scop.accesses(AccessKind.MAY_WRITE), private)
    reads = dependences.live_in.union(kept)
    elements = reads.intersect_domain(readers).union(reads.intersect(accumulated)).range()
    arrays = [each for each in scop.arrays if not (each.local or each.is_scalar)]
    return Exchange(name, 0, tuple(_messages(elements, arrays)), ExchangeKind.BEFORE)


def written_alike(name: str, last: isl.UnionMap, alone: isl.UnionSet, arrays: Sequence[Array]) -> Exchange:
    """The elements whose ``last`` writes, ``{ W[i] -> a[x] }``, are by instances that all ranks run."""
    subscripted = [each for each in arrays if not each.is_scalar]
    elements = last.intersect_domain(alone).range()
    return Exchange(name, 0, tuple(_messages(elements, subscripted)), ExchangeKind.ALIKE)


def _messages(elements: isl.UnionSet, arrays: Sequence[Array]) -> Iterator[Message]:
    named = {each.name: each for each in arrays}
    for each in sets_of(elements):
        if each.get_tuple_name() in named and not each.is_empty():
            yield Message(named[each.get_tuple_name()], each.coalesce())
