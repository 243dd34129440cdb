"""Vectors that are wider than those which compilers choose, and the loops that are faster in them."""

from __future__ import annotations

from collections.abc import Sequence

from polybuild.c.basic_types import INT
from polybuild.c.types import FloatingType
from polybuild.context import CompileContext
from polybuild.targets.cpu.strides import Reference, Stride
from polybuild.targets.cpu.tilesizes import element_size


def row_lanes(accesses: Sequence[Reference], context: CompileContext) -> int:
    """The lanes of the vectors that rows of tiles run fastest in; 0 where those of the compiler do.

    That is for grids of one floating-point type: elements of others are converted, which takes as much.
    """
    elements = {each.access.array.element for each in accesses if each.matrix}
    if len(elements) != 1 or not isinstance(next(iter(elements)), FloatingType):
        return 0
    return _bytes_of_rows(context) // max(map(element_size, accesses))


def lanes_of_bytes(accesses: Sequence[Reference], member: int, context: CompileContext) -> int:
    """The lanes of the vectors that a loop over ``member`` runs fastest in; 0 where those of the compiler do.

    That is for elements smaller than integers. They are converted to these, and what is computed with a
    vector of them fills several: vectors are what limits such loops, where others mostly wait for elements.
    Sums of them are slower where compilers have to add up several vectors of sums at the end, and so are
    elements that data choose, as those of tables: no vector is made of bytes that are loaded one by one.
    """
    if any(None in (row[member] for row in each.matrix) for each in accesses):
        return 0
    moved = [each for each in accesses if each.matrix and each.stride(member) is not Stride.NONE]
    smallest = min(map(element_size, moved), default=INT.width // 8)
    return _bytes_of_rows(context) // smallest if smallest < INT.width // 8 else 0


def _bytes_of_rows(context: CompileContext) -> int:
    """The bytes of vectors that are faster than those which the compiler uses if not asked; 0 if none are."""
    rows, compiler = context.machine.vector.rows, context.compiler
    return (
        rows if compiler.optimises and compiler.vectors.widens and rows > context.compiled_vector_bytes else 0
    )
