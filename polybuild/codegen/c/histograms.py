"""Loops of threads that update elements which data choose: each thread has its own, combined after the loop.

OpenMP's reductions of arrays make, and combine, those of the threads; integers give the same in any order.
Elements that no thread changed are not touched: they need not exist.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from polybuild.analysis.reductions import Reduction
from polybuild.codegen.c.expressions import ATOM, Operand
from polybuild.codegen.c.instances import COUNTER_TYPE, InstancePrinter
from polybuild.codegen.c.layout import CodeLine, Role, closing, loop
from polybuild.codegen.c.names_in_scope import NamesInScope
from polybuild.targets.model import LoopDirective, widest
from polybuild.values import dataclass

_INDENT = "  "


@dataclass(frozen=True, slots=True)
class Histogram:
    """The ``reductions`` of one array, and the array ``variable`` of which each thread has its own."""

    reductions: tuple[Reduction, ...]
    variable: str

    @property
    def elements(self) -> int:
        """How many elements there are."""
        return max(each.elements for each in self.reductions)

    def declaration(self) -> str:
        """The array, of zeros."""
        return f"{widest(self.reductions).name} {self.variable}[{self.elements}] = {{0}};"

    def combination(self, counter: str, instances: InstancePrinter, indent: str) -> list[str]:
        """The loop that combines it with the elements that it stands for."""
        text = instances.element(self.reductions[0].array, [Operand(counter, ATOM)])
        own = f"{self.variable}[{counter}]"
        update = f"if ({own}) {text} = {text} {self.reductions[0].operator} {own};"
        head = f"{indent}for ({COUNTER_TYPE} {counter} = 0; {counter} < {self.elements}; {counter}++)"
        return [loop(head), CodeLine(f"{indent}{_INDENT}{update}", role=Role.STATEMENT), closing(indent)]


def histograms_of(directive: LoopDirective, names: NamesInScope) -> list[Histogram]:
    """Those of the loop of ``directive``, under new ``names``."""
    groups: dict[tuple[str, str], list[Reduction]] = {}
    for each in directive.histograms:
        groups.setdefault(each.group, []).append(each)
    return [Histogram(tuple(group), names.declare(f"acc_{group[0].array.name}")) for group in groups.values()]


def accumulating(directive: LoopDirective, histograms: Iterable[Histogram]) -> LoopDirective:
    """``directive`` of a loop whose threads have elements of their own for ``histograms``."""
    clauses = tuple((each.reductions[0].operator, (each.variable,)) for each in histograms)
    return replace(directive, reductions=(*directive.reductions, *clauses), histograms=())
