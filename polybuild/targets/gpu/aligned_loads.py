"""Strips whose loads begin where memory is read at once (thesis, section 5.3.2.2; table 4, (d)).

The box of a strip begins at its first place less what its first step reaches back. Moved by as much as that
is off a line of memory, every row of every strip begins with a line, as far as rows are whole lines and a
strip is as wide as some; one as wide as some sectors, which are parts of lines, begins with a sector. Where
values of the strip before are found (``value_reuse``) what is loaded begins behind them::

    S_n = floor((s_n + rise * u) / w)    =>    S_n = floor((s_n + move + rise * u) / w)
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import islpy as isl

from polybuild.scop.model import Scop
from polybuild.storage.buffers import element_size
from polybuild.targets.device import Box
from polybuild.targets.gpu.strip_boxes import strip_box
from polybuild.targets.gpu.time_tiles import TimeTiles, with_instances
from polybuild.transform.tiling.phases import plus
from polybuild.transform.tiling.shapes import phases_of

_in = isl.dim_type.in_


def align_loads(
    scop: Scop, tiles: TimeTiles, dependences: isl.UnionMap, pieces: tuple[int, int], *, reuse: bool
) -> TimeTiles:
    """``tiles`` whose strips load whole lines, or sectors, of most arrays: ``pieces`` of so many bytes.

    ``dependences`` are those of the stencil, with ``reuse`` values of the strip before are not loaded. Tiles
    without strips stay as they are.
    """
    first = tiles.phases[0]
    if not first.strips:
        return tiles
    moves = Counter[int]()
    for array in scop.arrays:
        box = strip_box(scop, array, first)
        if box is not None:
            line, sector = (each // element_size(array) for each in pieces)
            moves.update(_off(box, line, sector, reuse=reuse))
    if not moves:
        return tiles
    ((move, _),) = moves.most_common(1)
    stencil = tiles.stencil
    space = (*stencil.space[:-1], plus(stencil.space[-1], move * stencil.scale))
    moved = replace(stencil, space=space)
    phases = with_instances(phases_of(moved, tiles.shape, tiles.sizes, dependences))
    return replace(tiles, stencil=moved, phases=phases)


def _off(box: Box, line: int, sector: int, *, reuse: bool) -> list[int]:
    """How far behind the begin of a line, or of a sector, a strip loads from its ``box``, if that is known.

    They have so many elements.
    """
    offset = box.offset[-1]
    last = offset.dim(_in) - 1
    others = offset.set_coefficient_val(_in, last, isl.Val(0))
    step = offset.get_coefficient_val(_in, last)
    if not others.is_cst() or not step.is_int() or step.is_zero():
        return []
    width = step.to_python()
    piece = math.gcd(width, line)
    if piece < sector:
        return []
    first = others.get_constant_val().to_python() + (max(0, box.sizes[-1] - width) if reuse else 0)
    return [first % piece]
