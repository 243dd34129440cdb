"""How hot the original loops of a function look to its compiler, beside new ones that are nested deeper.

Without a profile, compilers take each loop to run its body some eight times: the loops around a tile make new
loops a thousand times as hot as the original ones beside them. These get what is left then: counters in
memory, heads that are not aligned, and a quarter of their speed is lost just where the new loops have too
little work. So the condition that chooses between both is said to hold as much more seldom as the new loops
are nested deeper, and both look as hot as they would alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from polybuild.codegen.c.outline import Line
from polybuild.normalise.structure import loop_depth
from polybuild.source.model import Region

CHANCE = "POLYBUILD_CHANCE"
"""The macro for a condition that holds with some probability."""

# The value of a condition is asked of a variable: compilers take each of the terms of ``a && b`` to hold as
# seldom as all of it, and make new loops small instead of fast that have several conditions.
DEFINITION = f"""\
#if defined __clang__ ? __clang_major__ >= 11 : __GNUC__ >= 9
#define {CHANCE}(chance, condition) \\
  __builtin_expect_with_probability( \\
      __extension__({{ int polybuild_holds = !!(condition); polybuild_holds; }}), 1, chance)
#else
#define {CHANCE}(chance, condition) (condition)
#endif
"""

# How often compilers take loops to run that they know nothing of: gcc's predict.def has 89% of another time.
_USUAL_RUNS = 8
# Code that runs less than once in a thousand calls is made small by gcc instead of fast.
_DEEPEST = 3


def deeper_by(outline: Sequence[Line], region: Region) -> int:
    """How many more loops stand inside one another in the new loops than in those of the ``region``."""
    new = max((each.depth for each in outline), default=0)
    return max(0, new - max(map(loop_depth, region.statements), default=0))


def with_chance(condition: str, deeper: int) -> str:
    """The ``condition`` for loops that are ``deeper`` than the original ones by so many."""
    return f"{CHANCE}(1.0 / {_USUAL_RUNS ** min(deeper, _DEEPEST)}, {condition})" if deeper else condition
