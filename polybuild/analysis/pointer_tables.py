"""The pointers that lead to the rows of an array (``double **a``): memory that a region reads, too.

The model knows nothing of them: it takes ``a[i][j]`` for an element of an array of two dimensions. That is
right where no write of the region changes a pointer, and where no two rows overlap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import islpy as isl

from polybuild.analysis.footprints import Footprint, has_corners
from polybuild.c.syntax_tree import always_evaluates
from polybuild.c.types import PointerType
from polybuild.diagnostics import Unsupported
from polybuild.scop.model import Array, Provenance, Scop

_set = isl.dim_type.set


def tables_of(footprint: Footprint, scop: Scop) -> Iterator[Footprint]:
    """The tables of pointers on the way to the elements of an array, without their corners.

    Raises Unsupported where a pointer to pointers may be followed that the region itself does not follow.
    """
    array = footprint.array
    followed = array.provenance.followed
    if len(followed) > 1 and not certainly_followed(array, scop):
        raise Unsupported(
            "unknown-footprint",
            f"which pointers lead to the rows of '{array.name}' depends on data",
            array.location,
            "use one array with all dimensions",
        )
    for level, count in enumerate(followed):
        table = replace(
            array,
            name=f"{array.name}_rows_{count}",
            element=PointerType(array.element),
            extents=array.extents[:count],
            suffixes=array.suffixes[:count],
            flat=1,
            provenance=Provenance(
                array.provenance.storage,
                by_pointer=True,
                address_taken=array.provenance.address_taken,
                followed=followed[:level],
            ),
        )
        yield Footprint(table, (), (), written=False, rows_of=array)


def certainly_followed(array: Array, scop: Scop) -> bool:
    """Whether each subscript in the box of those that choose rows is one that the region has."""
    elements = None
    for statement in scop.statements:
        for access in statement.accesses_to(array):
            own = access.relation.intersect_params(scop.context).range()
            if statement.dynamic or not access.exact or not always_evaluates(statement.body, access.node):
                return False
            elements = own if elements is None else elements.union(own)
    if elements is None:
        return True
    count = array.row_subscripts
    rows = elements.project_out(_set, count, elements.dim(_set) - count)
    return has_corners(rows, 0) and _is_box(rows.reset_tuple_id())


def _is_box(elements: isl.Set) -> bool:
    """Whether ``elements`` are all between their corners."""
    count = elements.dim(_set)
    box = isl.Set.universe(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, 0))
    for dim in range(count):
        values = elements.project_out(_set, dim + 1, count - dim - 1).project_out(_set, 0, dim)
        box = box.flat_product(isl.Set.from_basic_set(values.convex_hull()))
    return bool(box.is_subset(elements))
