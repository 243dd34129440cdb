"""Copies of parallel loops for one thread.

To have one thread enter a parallel loop takes as long as some hundred operations, and compilers make a
function of its own of it, where they know less. Loops that others run again and again have a copy, and those
that one thread runs with so little work that it tells::

    const int team = polybuild_team_for(n - k, 1000);
    if (team > 1) {
      #pragma omp parallel for num_threads(team)
      for (i) ...
    } else {
      for (i) ...
    }
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import islpy as isl

from polybuild.codegen.c.directives import DirectivePrinter
from polybuild.codegen.c.layout import CodeLine, belonging, between, closing, condition, indented, opening
from polybuild.codegen.c.names_in_scope import NamesInScope
from polybuild.codegen.c.nodes import kind_of, nodes_below
from polybuild.poly.marks import Mark, MarkKind
from polybuild.targets.model import LoopDirective, ThreadLimits
from polybuild.values import dataclass

_INDENT = "  "


@dataclass(frozen=True, slots=True)
class DirectedLoop:
    """A loop with its ``head``, its ``directive`` and the lines ``inside``, the end of its block among them.

    It has ``mentioned`` these parameters and counters of loops around it, and stems from a ``line``.
    """

    head: CodeLine
    directive: LoopDirective
    inside: Sequence[str]
    mentioned: Collection[str]
    line: int

    def lines(self, directives: DirectivePrinter, team: str = "") -> list[str]:
        """The loop as it is for threads, as many as the variable ``team`` says, if it is given."""
        heads = directives.above(self.head, self.directive, mentioned=self.mentioned, team=team)
        return [*belonging(heads, self.line), *self.inside]

    def alone(self, directives: DirectivePrinter) -> list[str]:
        """The loop as it is for one thread."""
        one = replace(self.directive, shared=0, limits=ThreadLimits())
        heads = directives.above(self.head, one if one.simd or one.independent else None)
        return [*belonging(heads, self.line), *self.inside]


def with_serial_version(loop: DirectedLoop, directives: DirectivePrinter, names: NamesInScope) -> list[str]:
    """``loop`` for threads, and as it is for one; as it was where nobody knows how much work it has."""
    threads = directives.threads_of(loop.directive)
    if threads is None:
        return loop.lines(directives)
    directives.versions.add(id(loop.directive.limits))
    before = names.enter()
    team = names.declare("team")
    names.leave(before)
    indent = loop.head[: len(loop.head) - len(loop.head.lstrip())]
    inner = indent + _INDENT
    own = [
        opening(f"{indent}{{"),
        f"{inner}const int {team} = {threads};",
        condition(f"{inner}if ({team} > 1)"),
    ]
    return [
        *belonging(own, loop.line),
        *indented(loop.lines(directives, team), 2 * _INDENT),
        between(inner),
        *indented(loop.alone(directives), 2 * _INDENT),
        closing(inner),
        closing(indent),
    ]


def has_tiles_over_time(node: isl.AstNode) -> bool:
    """Whether the loop ``node`` is over tiles of a stencil."""
    marks = (each for each in nodes_below(node) if kind_of(each) == isl.ast_node_type.mark)
    return any(Mark.of_id(each.mark_get_id()).kind is MarkKind.TILE_POINTS for each in marks)
