"""Code that counts runs of a region's versions, and conditions that did not hold (--runtime-report on).

Where nobody asks for the report when the program runs, a region costs two looks at a variable more. All
counting is in polybuild_report.h, whose text stands at the end of the file; what stands at its top
needs no header, as the user's own come after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from polybuild.codegen.c.conditions import Condition
from polybuild.codegen.device.model import label_of
from polybuild.codegen.file.names import quoted
from polybuild.codegen.file.region import RegionText
from polybuild.poly.marks import MarkKind
from polybuild.source.model import Region
from polybuild.values import dataclass

_HEADERS = Path(__file__).parents[2] / "runtime" / "include"
_RUN = "polybuild_run"
_ASKED_OTHERWISE = "POLYBUILD_BACKEND=host was set"

_PROLOGUE = f"""\
#ifndef POLYBUILD_REPORTED
#define POLYBUILD_REPORTED
struct polybuild_condition {{
  const char *words, *file;
  int line;
  unsigned long long failed; /* how often it was the first that did not hold */
}};
struct polybuild_reported {{
  const char *file;
  int line, end_line, parallel, conditions;
  struct polybuild_condition *condition;
  int known, threads;
  unsigned long long callers; /* a bit for each thread */
  struct polybuild_ran {{
    unsigned long long runs, nanoseconds;
  }} ran[3]; /* the new loops, the original ones, kernels of a device */
  struct polybuild_reported *next;
}};
struct polybuild_run {{
  struct polybuild_reported *region;
  int failed; /* the condition that did not hold; -1: none */
  unsigned long long began;
}};
static int polybuild_reporting = 1; /* 0: nobody asked for a report */
static void polybuild_run_begins(struct polybuild_run *), polybuild_run_ends(struct polybuild_run *, int);
#define polybuild_reports() __atomic_load_n(&polybuild_reporting, __ATOMIC_RELAXED)
#define polybuild_holds(number, condition) ((condition) || ({_RUN}.failed = (number), 0))
#endif
"""


@dataclass(frozen=True, slots=True)
class RunReport:
    """What the report needs of a region: C text before and after it, and its conditions, numbered."""

    region: Region
    text: RegionText

    @property
    def _words(self) -> tuple[str, ...]:
        """What is said of each condition that did not hold, once."""
        asked = [_ASKED_OTHERWISE] if self.text.host or self.text.kernels else []
        return tuple(dict.fromkeys([*asked, *(each.failure for each in self.text.all_conditions)]))

    @property
    def objects(self) -> str:
        """The definition of the region's object, for the top of the file."""
        lines = {each.failure: each.line for each in reversed(self.text.all_conditions)}
        begin, label = self.region.begin, label_of(self.region)
        file = quoted(begin.file)
        conditions = "".join(
            f"  {{{quoted(words)}, {file}, {lines.get(words, begin.line)}, 0}},\n" for words in self._words
        )
        name = f"polybuild_conditions_{label}"
        table = f"static struct polybuild_condition {name}[] = {{\n{conditions}}};\n" if conditions else ""
        kinds = [line.mark.kind for line in self.text.outline if line.mark is not None]
        parallel = int(MarkKind.PARALLEL in kinds)
        fields = f"{file}, {begin.line}, {self.region.end.line}, {parallel}, {len(self._words)}"
        return (
            f"{table}static struct polybuild_reported polybuild_reported_{label} ="
            f" {{{fields}, {name if conditions else 0}, 0, 0, 0, {{{{0, 0}}, {{0, 0}}, {{0, 0}}}}, 0}};\n"
        )

    @property
    def begin(self) -> list[str]:
        """What stands before the conditions of the region."""
        region = f"polybuild_reported_{label_of(self.region)}"
        return [
            f"  struct {_RUN} {_RUN} = {{&{region}, -1, 0}};",
            f"  if (polybuild_reports()) polybuild_run_begins(&{_RUN});",
        ]

    @property
    def end(self) -> list[str]:
        """What stands after whatever version of the region ran."""
        version = "0" if self.text.loops else "1"
        if self.text.device:
            version = f"pb_done ? 2 : {version}"
        return [f"  if (polybuild_reports()) polybuild_run_ends(&{_RUN}, {version});"]

    def noted(self, condition: Condition) -> str:
        """C text that ``condition`` holds, which notes if it does not."""
        return _holds(self._words.index(condition.failure), condition.text)

    def asked_for(self, text: str) -> str:
        """C text that ``text``, by which the environment asks for the new loops, holds."""
        return _holds(self._words.index(_ASKED_OTHERWISE), text)


def _holds(number: int, text: str) -> str:
    return f"polybuild_holds({number}, {text})"


def prologue(reports: Sequence[RunReport]) -> str:
    """What the code of regions with ``reports`` needs before it."""
    return _PROLOGUE + "".join(each.objects for each in reports)


def epilogue() -> str:
    """The functions that do the counting, for the end of the file: their headers come after the user's."""
    return (_HEADERS / "polybuild_report.h").read_text(encoding="ascii")


def watch() -> str:
    """The clock that they need, and what asks the environment; for ``adapting``, too."""
    return (_HEADERS / "polybuild_watch.h").read_text(encoding="ascii")
