"""What a file needs whose regions ranks share: the functions of an exchange (--distribute mpi).

They are in polybuild_ranks.h and polybuild_distributed.h, whose text stands at the end of the file; what
stands at its top needs no header, as the user's own come after it.
"""

from __future__ import annotations

from pathlib import Path

from polybuild.codegen.file.names import quoted
from polybuild.source.model import Region
from polybuild.values import dataclass

_HEADERS = [
    Path(__file__).parents[2] / "runtime" / "include" / name
    for name in ("polybuild_ranks.h", "polybuild_distributed.h")
]

PROLOGUE = """\
#ifndef POLYBUILD_RANKS
#define POLYBUILD_RANKS
struct polybuild_exchange {
  enum { POLYBUILD_DURING, POLYBUILD_BEFORE, POLYBUILD_AFTER, POLYBUILD_ALIKE, POLYBUILD_PARTS } kind;
  struct polybuild_message *messages; /* from each rank, and to each rank */
  struct polybuild_list *lists;       /* the same, of arrays that stay distributed */
  int stage, other, keeps, pauses;
  int from, to; /* ranks */
  unsigned long long bytes;
  char *at;
};
static int polybuild_agree(const char *, int, int, const long long *, int), polybuild_rank_here(void);
static long long polybuild_block(long long, long long, int), polybuild_even_block(long long, long long, int);
static int polybuild_weighs(long long, long long);
static void polybuild_weigh(long long, long long);
static int polybuild_next(struct polybuild_exchange *);
static void polybuild_send(struct polybuild_exchange *, void *, unsigned long long, long long);
static void polybuild_touched(struct polybuild_exchange *, const void *, unsigned long long, long long);
static int polybuild_part(struct polybuild_exchange *, void *, void *, unsigned long long);
static void polybuild_want_all(struct polybuild_exchange *, const void *);
static void polybuild_distribute(const void *, unsigned long long), polybuild_release_ranks(const void *);
#endif
"""
"""What the code of regions that ranks share needs before it, and that of blocks with distributed arrays."""

COLLECT = "if (polybuild_collect_values) polybuild_collect_values(0);"
"""What makes all arrays whole on every rank, before what all ranks run alike or what looks at data."""

COLLECT_PROLOGUE = "extern void polybuild_collect_values(const void *) __attribute__((weak));\n"
"""What that needs before it; nothing defines it in a program in which ranks share no region."""


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


def takes_its_part(decision: object, *others: object) -> bool:
    """Whether a region fetches what its rank has not; ``others`` look at data before, or run elsewhere."""
    return isinstance(decision, Agreement) and not any(others)


def epilogue() -> str:
    """The functions, for the end of the file: their headers come after the user's."""
    return "".join(each.read_text(encoding="ascii") for each in _HEADERS)
