"""Launch bounds under which the registers of a kernel suffice.

ptxas fits registers to what launch bounds say, and spills what does not fit. Left to itself it may give 32 or
40 registers to threads of small blocks, and spill; told that several blocks are to be on a multiprocessor it
does so where the loops of a product are many. What was spilled is known after compiling: such kernels are
compiled again, those without a number of blocks with the one that is enough, the others with one block less,
and at last without a number.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable

from polybuild.targets.gpu.nvcc import Image
from polybuild.targets.kernel_file import KernelFile, KernelFunction


def build_with_fewest_spills(build: Callable[[str], Image], file: KernelFile, threads: int) -> Image:
    """The image that ``build`` makes of the text of ``file``, under bounds that let kernels spill least.

    So many ``threads`` are enough for a multiprocessor.
    """
    image = build(file.text)
    minimum = dict(_spills(image))
    others = {each.name: _other_bounds(each, threads) for each in file.kernels if each.name in minimum}
    found: dict[str, int] = {}
    for bounds in itertools.zip_longest(*others.values()):
        tried = {
            name: bound
            for name, bound in zip(others, bounds, strict=True)
            if bound is not None and minimum[name]
        }
        if not tried:
            break
        wanted = found | tried
        other = build(file.with_resident(wanted).text)
        spills = _spills(other)
        better = {name: bound for name, bound in tried.items() if spills[name] < minimum[name]}
        found |= better
        minimum |= {name: spills[name] for name in better}
        if found == wanted:
            image = other
        elif better:
            image = build(file.with_resident(found).text)
    return image


def _spills(image: Image) -> Counter[str]:
    """The bytes that each kernel spills, on all architectures together, if it spills any."""
    found: Counter[str] = Counter()
    for each in image.usage:
        found[each.kernel] += each.spills
    return +found


def _other_bounds(kernel: KernelFunction, threads: int) -> list[int]:
    """The numbers of blocks to try for a ``kernel``, so many ``threads`` being enough; 0 is none."""
    if not kernel.resident:
        return [max(1, threads // kernel.threads)]
    return [kernel.resident - 1, 0] if kernel.resident > 1 else [0]
