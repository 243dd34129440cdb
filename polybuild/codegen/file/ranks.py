"""What a file needs whose regions ranks share: the functions of an exchange (--distribute mpi).

They are in polybuild_ranks.h, whose text stands at the end of the file; what stands at its top needs no
header, as the user's own come after it.
"""

from __future__ import annotations

from pathlib import Path

from polybuild.codegen.file.names import quoted
from polybuild.source.model import Region
from polybuild.values import dataclass

_HEADER = Path(__file__).parents[2] / "runtime" / "include" / "polybuild_ranks.h"

PROLOGUE = """\
#ifndef POLYBUILD_RANKS
#define POLYBUILD_RANKS
struct polybuild_exchange {
  struct polybuild_message *messages; /* from each rank, and to each rank */
  int stage, other;
  int from, to; /* ranks */
  unsigned long long bytes;
  char *at;
};
static int polybuild_agree(const char *, int, int, const long long *, int), polybuild_rank_here(void);
static long long polybuild_block(long long, long long, int);
static int polybuild_next(struct polybuild_exchange *);
static void polybuild_send(struct polybuild_exchange *, void *, unsigned long long, long long);
#endif
"""
"""What the code of regions needs before it."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Which variables of a region all ranks must have in common, as C text, to run the same version of it."""

    variables: tuple[str, ...]

    def condition(self, region: Region, condition: str) -> str:
        """C text that ``condition`` holds on all ranks."""
        values = ", ".join(self.variables) or "0"
        place = f"{quoted(region.begin.file)}, {region.begin.line}"
        return (
            f"polybuild_agree({place}, {condition}, (const long long[]){{{values}}}, {len(self.variables)})"
        )


def epilogue() -> str:
    """The functions, for the end of the file: their headers come after the user's."""
    return _HEADER.read_text(encoding="ascii")
