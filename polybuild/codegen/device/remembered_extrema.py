"""What looks at data found, which the runtime remembers as long as the data stay on a device as they are.

::

    long long least = ..., most = ...;
    const polybuild_use tells[] = {{&col_box, POLYBUILD_IN}};
    long long saw[] = {n, 0, 0};
    if (polybuild_recall(&region, 0, tells, 1, saw, 1, 3)) {
      least = saw[1]; most = saw[2];
    } else {
      polybuild_home(tells, 1);
      for (...) ...                                        the look at the data
      saw[1] = least; saw[2] = most;
    }
    ...                                                    a session begins, arrays are mapped
    polybuild_remember(&region, 0, tells, 1, saw, 1, 3);
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from pycparser import c_ast

from polybuild.analysis.inspectors import Inspector
from polybuild.c.syntax_tree import contains
from polybuild.codegen.c.inspectors import Extrema
from polybuild.codegen.c.layout import indented
from polybuild.values import dataclass

_INDENT = "  "


def may_be_remembered(inspectors: Iterable[Inspector]) -> bool:
    """Whether what ``inspectors`` see depends on parameters and on elements that they read."""
    return not any(
        contains(node, c_ast.FuncCall)
        for each in inspectors
        for node in (
            each.expression,
            *(end for loop in each.statement.dynamic for end in (loop.start, loop.limit)),
        )
    )


@dataclass(frozen=True, slots=True)
class RememberedExtrema:
    """Look ``number`` of ``region`` at the ``count`` arrays of ``uses``: ``extrema`` for ``keys``."""

    region: str
    number: int
    uses: str
    count: int
    keys: Sequence[str]
    extrema: Extrema

    @property
    def _values(self) -> str:
        return f"{self.uses}_saw"

    @property
    def _found(self) -> list[tuple[str, str]]:
        """The variable of each extremum, and where it is among the values."""
        names = itertools.chain.from_iterable(self.extrema.values())
        return [(each, f"{self._values}[{len(self.keys) + k}]") for k, each in enumerate(names)]

    @property
    def _arguments(self) -> str:
        sizes = f"{len(self.keys)}, {len(self.keys) + len(self._found)}"
        return f"&{self.region}, {self.number}, {self.uses}, {self.count}, {self._values}, {sizes}"

    def recall(self, look: Sequence[str]) -> list[str]:
        """The lines that ``look`` at the data unless what they find is known."""
        return [
            f"long long {self._values}[] = {{{', '.join([*self.keys, *('0' for _ in self._found)])}}};",
            f"if (polybuild_recall({self._arguments})) {{",
            *(f"{_INDENT}{name} = {place};" for name, place in self._found),
            "} else {",
            *indented(look, _INDENT),
            *(f"{_INDENT}{place} = {name};" for name, place in self._found),
            "}",
        ]

    def remember(self) -> list[str]:
        """The line after the arrays have been mapped."""
        return [f"polybuild_remember({self._arguments});"]
