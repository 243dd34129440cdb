"""Loops of threads that update elements which data choose: each thread has its own, combined after the loop.

OpenMP's reductions of arrays make, and combine, those of the threads; integers give the same in any order.
Elements that no thread changed are not touched: they need not exist.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from polybuild.codegen.c.expressions import ATOM, Operand
from polybuild.codegen.c.instances import COUNTER_TYPE, InstancePrinter
from polybuild.codegen.c.layout import CodeLine, Role, closing, loop
from polybuild.codegen.c.names_in_scope import NamesInScope
from polybuild.targets.model import Accumulator, LoopDirective
from polybuild.values import dataclass

_INDENT = "  "


@dataclass(frozen=True, slots=True)
class Histogram:
    """An ``accumulator`` of elements, and the array ``variable`` of which each thread has its own."""

    accumulator: Accumulator
    variable: str

    @property
    def nodes(self) -> dict[int, str]:
        """The array, for the nodes, by identity, that stand for elements."""
        return {node: self.variable for each in self.accumulator.reductions for node in each.own}

    def declaration(self) -> str:
        """The array, of zeros."""
        return f"{self.accumulator.type.name} {self.variable}[{self.accumulator.elements}] = {{0}};"

    def combination(self, counter: str, instances: InstancePrinter, indent: str) -> list[str]:
        """The loop that combines it with the elements that it stands for."""
        text = instances.element(self.accumulator.array, [Operand(counter, ATOM)])
        own, elements = f"{self.variable}[{counter}]", self.accumulator.elements
        update = f"if ({own}) {text} = {text} {self.accumulator.operator} {own};"
        head = f"{indent}for ({COUNTER_TYPE} {counter} = 0; {counter} < {elements}; {counter}++)"
        return [loop(head), CodeLine(f"{indent}{_INDENT}{update}", role=Role.STATEMENT), closing(indent)]


def histograms_of(directive: LoopDirective, names: NamesInScope) -> list[Histogram]:
    """Those of the loop of ``directive``, under new ``names``."""
    return [Histogram(each, names.declare(f"acc_{each.array.name}")) for each in directive.histograms]


def accumulating(directive: LoopDirective, histograms: Iterable[Histogram]) -> LoopDirective:
    """``directive`` of a loop whose threads have elements of their own for ``histograms``."""
    clauses = tuple((each.accumulator.operator, (each.variable,)) for each in histograms)
    others = tuple(each for each in directive.accumulators if not each.elements)
    return replace(directive, reductions=(*directive.reductions, *clauses), accumulators=others)
