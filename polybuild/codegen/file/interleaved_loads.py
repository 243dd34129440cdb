"""Functions that load elements for the lanes of a vector, a few elements apart: real parts, a colour.

Whole vectors are loaded from the first element to the last, and shuffled. Nothing is read outside of these:
the last vector ends where the last element does, or the last structure.
"""

from __future__ import annotations

from polybuild.codegen.file.lane_functions import HELPER
from polybuild.codegen.file.vector_types import VectorType
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class InterleavedLoad:
    """A function that loads every ``step``-th element as a vector of ``type``.

    It is given the address of the first one. Of a member of structures, ``place`` says how many such elements
    stand before it in each of them: then it is given the address of the second one, too, and reads one by one
    where structures are longer than their members, by an attribute, say.
    """

    type: VectorType
    step: int
    place: int | None = None

    @property
    def name(self) -> str:
        """What the function is called in C."""
        member = "" if self.place is None else f"_{self.place}"
        return f"polybuild_every{self.step}{member}_{self.type.suffix}"

    @property
    def _windows(self) -> list[int]:
        """Where the vectors that are loaded begin, in elements from the first one of all."""
        lanes = self.type.lanes
        last = (lanes - 1) * self.step if self.place is None else lanes * self.step - 1
        count = -(-(last + 1) // lanes)
        return [min(window * lanes, last + 1 - lanes) for window in range(count)]

    def definition(self) -> str:
        """The function in C."""
        pointer = f"const {self.type.element} *"
        parameters = f"{pointer}p" if self.place is None else f"{pointer}p, {pointer}q"
        lines = [
            f"#ifndef {self.name.upper()}",
            f"#define {self.name.upper()}",
            f"{HELPER} __attribute__((always_inline)) {self.type.name} {self.name}({parameters})",
            "{",
        ]
        if self.place is not None:
            elements = ", ".join(f"p[{lane} * (q - p)]" for lane in range(self.type.lanes))
            lines += [f"  if (q - p != {self.step})", f"    return ({self.type.name}){{{elements}}};"]
        return "\n".join([*lines, *self._shuffles(), "}", "#endif", ""])

    def _shuffles(self) -> list[str]:
        """From the vectors that are loaded to the one that is wanted, with one more of them at a time."""
        lanes, windows, place = self.type.lanes, self._windows, self.place or 0
        wanted = [place + lane * self.step for lane in range(lanes)]
        sources = [next(n for n, first in enumerate(windows) if at < first + lanes) for at in wanted]
        names = [f"v{number}" for number in range(len(windows))]
        lines = [
            f"  const {self.type.name} {name} = *(const {self.type.name} *)&p[{first - place}];"
            for name, first in zip(names, windows, strict=True)
        ]
        chosen = names[0]
        for number in range(1, len(windows)):
            picks = []
            for lane, (at, source) in enumerate(zip(wanted, sources, strict=True)):
                if source == number:
                    picks.append(lanes + at - windows[number])
                else:  # the first vector is as it was loaded, the others have their lanes in order
                    picks.append(at if number == 1 and source == 0 else lane)
            chosen = self._shuffled(lines, chosen, names[number], picks, number)
        return [*lines, f"  return {chosen};"]

    def _shuffled(self, lines: list[str], left: str, right: str, picks: list[int], number: int) -> str:
        numbers, name = ", ".join(map(str, picks)), f"s{number}"
        mask = f"({self.type.mask.name}){{{numbers}}}"
        lines += [
            "#ifdef __clang__",
            f"  const {self.type.name} {name} = __builtin_shufflevector({left}, {right}, {numbers});",
            "#else",
            f"  const {self.type.name} {name} = __builtin_shuffle({left}, {right}, {mask});",
            "#endif",
        ]
        return name
