"""Counts and sums of integers in elements that data choose, of which each thread may have its own.

::

    for (i = 0; i < n; i++)        ->       threads, each with part[0..255] = 0:
      h[a[i]] += e;                           for their i: part[a[i]] += e;
                                            h[k] += part[k], for each k that has changed

Integers add up to the same in any order. How many elements there may be is known from the extents of the
array or from the subscript (``h[c & 255]``, an unsigned character, a value between bounds that are tested).
"""

from __future__ import annotations

from dataclasses import replace

from pycparser import c_ast

from polybuild import effort
from polybuild.analysis.data_ranges import subscript_range
from polybuild.analysis.reductions import Reduction, find_scattered_updates
from polybuild.c.types import IntegerType
from polybuild.scop.model import Scop
from polybuild.source.model import Region

_FROM_ZERO = frozenset({"+", "^", "|"})
"""The operators that leave a value as it is where they combine it with zero."""


def find_histograms(scop: Scop, region: Region) -> tuple[Reduction, ...]:
    """The updates of few integers that data choose, with how many elements each thread needs for them."""
    found = []
    for each in find_scattered_updates(scop, region).found:
        elements = _elements(each, scop, region)
        size = elements * each.type.width if isinstance(each.type, IntegerType) else 0
        if each.operator in _FROM_ZERO and 0 < size <= effort.HISTOGRAM_BITS:
            found.append(replace(each, elements=elements))
    return tuple(found)


def _elements(reduction: Reduction, scop: Scop, region: Region) -> int:
    """How many elements from the first one on ``reduction`` may update; 0 if that is not known."""
    array, touched = reduction.array, reduction.relation.range().intersect_params(scop.context)
    subscripted = all(
        isinstance(each.node, c_ast.ArrayRef) and not isinstance(each.node.name, c_ast.ArrayRef)
        for each in reduction.statement.accesses_to(array)
    )
    if len(array.extents) != 1 or any(array.suffixes) or not subscripted:
        return 0
    low, high = touched.dim_min_val(0), touched.dim_max_val(0)
    if low.is_int() and high.is_int() and low.to_python() >= 0:
        return int(high.to_python()) + 1
    found = subscript_range(scop, region, reduction.statement, reduction.own)
    return found[1] + 1 if found is not None and found[0] >= 0 else 0
