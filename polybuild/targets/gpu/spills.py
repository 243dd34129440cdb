"""Launch bounds under which the registers of a kernel suffice.

ptxas fits registers to what launch bounds say, and spills what does not fit. Left to itself it may give 32 or
40 registers to threads of small blocks, and spill; told that several blocks are to be on a multiprocessor it
does so where the loops of a product are many. What was spilled is known after compiling: such kernels are
compiled again, those without a number of blocks with the one that is enough, the others without theirs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection

from polybuild.patterns import pattern
from polybuild.targets.gpu.nvcc import Image

_BOUNDS = pattern(r"__launch_bounds__\((\d+)(, \d+)?\) (\w+)\(")


def build_with_fewest_spills(build: Callable[[str], Image], source: str, threads: int) -> Image:
    """The image that ``build`` makes of the CUDA C text ``source``, whose bounds let kernels spill least.

    So many ``threads`` are enough for a multiprocessor.
    """
    image = build(source)
    before = _spills(image)
    if not before:
        return image
    other = build(_with_other_bounds(source, before, threads))
    after = _spills(other)
    better = [kernel for kernel, spilled in before.items() if after[kernel] < spilled]
    if len(better) == len(before):
        return other
    return build(_with_other_bounds(source, better, threads)) if better else image


def _spills(image: Image) -> Counter[str]:
    """The bytes that each kernel spills, on all architectures together, if it spills any."""
    found: Counter[str] = Counter()
    for each in image.usage:
        found[each.kernel] += each.spills
    return +found


def _with_other_bounds(source: str, kernels: Collection[str], threads: int) -> str:
    """``source`` with blocks of ``threads`` for ``kernels`` that have no number, none for the others."""

    def bounds(found: re.Match[str]) -> str:
        if found[3] not in kernels:
            return found[0]
        blocks = "" if found[2] else f", {max(1, threads // int(found[1]))}"
        return f"__launch_bounds__({found[1]}{blocks}) {found[3]}("

    return _BOUNDS.sub(bounds, source)
