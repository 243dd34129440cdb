"""The blocks of ranks for given numbers: what the code of a region computes when it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polybuild.poly.integers import integer_of
from polybuild.targets.cpu.cost.parameters import parameters_at
from polybuild.targets.ranks.model import Sharing


def blocks_at(sharing: Sharing, values: Mapping[str, int], ranks: int) -> Sequence[int]:
    """Where the blocks of ``ranks`` begin where parameters have ``values``, and the end of the last one.

    ``sharing`` is that of the region; as many blocks as there are values may be empty.
    """
    point = parameters_at(sharing.context, values)
    ends = [each.intersect_params(point) for each in (sharing.lowest, sharing.highest)]
    if any(each.domain().is_empty() for each in ends):
        return [0] * (ranks + 1)
    lowest, highest = (integer_of(each.max_val()) for each in ends)
    return equal_blocks(lowest, highest, ranks)


def equal_blocks(lowest: int, highest: int, ranks: int) -> Sequence[int]:
    """Where blocks of equal lengths begin; the first ones are one longer where it comes out uneven."""
    count = max(0, highest - lowest + 1)
    each, rest = divmod(count, ranks)
    return [lowest + each * rank + min(rest, rank) for rank in range(ranks + 1)]
