"""Code that times the versions of a region in its first calls, and keeps the fastest (--adapt on).

Where nobody asks for that when the program runs, a region costs two looks at a variable more. The choice is
made in polybuild_adapt.h, whose text stands at the end of the file; what stands at its top needs no header,
as the user's own come after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from polybuild.codegen.c.conditions import Condition
from polybuild.codegen.device.model import label_of
from polybuild.codegen.file.names import quoted
from polybuild.source.model import Region
from polybuild.values import dataclass

_HEADER = Path(__file__).parents[2] / "runtime" / "include" / "polybuild_adapt.h"
_CHOICE = "pb_choice"

_PROLOGUE = """\
#ifndef POLYBUILD_ADAPTED
#define POLYBUILD_ADAPTED
enum { POLYBUILD_SIZES = 48 }; /* powers of two */
struct polybuild_adapted {
  const char *file;
  int line, parallel;
  struct polybuild_size_class {
    int chosen; /* the version to keep, counted from 1; 0: none yet */
    unsigned runs[3]; /* of the original loops, the new ones on one thread, and on all */
    unsigned long long fastest[3]; /* nanoseconds */
  } sizes[2][POLYBUILD_SIZES]; /* where threads cannot be started, and where they can */
};
struct polybuild_choice {
  struct polybuild_adapted *region;
  int version, ran, threads;
  struct polybuild_size_class *sizes; /* what is measured; 0: nothing */
  unsigned long long began;
};
static int polybuild_adapting = -1; /* 0: nobody asked for it; -1: not known yet */
static void polybuild_choose(struct polybuild_choice *, double), polybuild_chose(struct polybuild_choice *);
#define polybuild_adapts() __atomic_load_n(&polybuild_adapting, __ATOMIC_RELAXED)
#endif
"""


@dataclass(frozen=True, slots=True)
class Adapting:
    """What a region needs to choose among its versions: C text of its ``work``, and whether loops are shared.

    These are ``parallel`` for several threads; without them there are two versions.
    """

    work: str
    parallel: bool

    def object(self, region: Region) -> str:
        """The definition of the region's object, for the top of the file."""
        begin = region.begin
        fields = f"{quoted(begin.file)}, {begin.line}, {int(self.parallel)}, {{{{{{0, {{0}}, {{0}}}}}}}}"
        return f"static struct polybuild_adapted {_object(region)} = {{{fields}}};\n"

    def begin(self, region: Region) -> list[str]:
        """What stands before the conditions of the region."""
        return [
            f"  struct polybuild_choice {_CHOICE} = {{&{_object(region)}, 0, 0, 0, 0, 0}};",
            f"  if (polybuild_adapts()) polybuild_choose(&{_CHOICE}, {self.work});",
        ]

    @property
    def end(self) -> list[str]:
        """What stands after whatever version of the region ran."""
        return [f"  if ({_CHOICE}.version) polybuild_chose(&{_CHOICE});"]


RAN = f"{_CHOICE}.ran = 1;"
"""What stands before the new loops."""


def chosen(worth: Sequence[Condition], line: int) -> list[Condition]:
    """The conditions ``worth`` where nothing else is chosen, and that the original loops are not."""
    meaning, reason = "nothing faster is known", "POLYBUILD_ADAPT=1 measures the original loops, too"
    first = Condition(
        f"{_CHOICE}.version != 1", meaning, reason, line, "they were measured, or found, to be faster"
    )
    return [first, *(replace(each, text=f"({_CHOICE}.version || {each.text})") for each in worth)]


def prologue(regions: Sequence[tuple[Region, Adapting]]) -> str:
    """What the code of ``regions`` needs before it."""
    return _PROLOGUE + "".join(each.object(region) for region, each in regions)


def epilogue() -> str:
    """The functions that choose, for the end of the file: their headers come after the user's."""
    return _HEADER.read_text(encoding="ascii")


def _object(region: Region) -> str:
    return f"polybuild_adapted_{label_of(region)}"
