"""Loops that threads share and that accumulate: in parts of their iterations, combined in a fixed order.

OpenMP's clause makes a part for each thread, and combines parts as the threads finish: sums of floating-point
numbers would depend on how many threads run, and be another one from run to run. So the iterations are
cut into as many parts whatever runs them, each of which accumulates in variables of its own; these are
combined one after the other in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from polybuild.analysis.reductions import CARRIED, TAKEN
from polybuild.codegen.c.accumulators import OpenAccumulator
from polybuild.codegen.c.expressions import ADDITIVE, ExpressionPrinter, is_number
from polybuild.codegen.c.instances import COUNTER_TYPE
from polybuild.codegen.c.layout import CodeLine, Role, closing, loop
from polybuild.codegen.c.names_in_scope import NamesInScope
from polybuild.codegen.file.parts import PART, PARTS
from polybuild.targets.model import Accumulator, identity
from polybuild.values import dataclass

_Op = isl.ast_expr_op_type
_INDENT = "  "


def counts_up(loop: isl.AstNode) -> bool:
    """Whether the iterations of ``loop`` can be counted before it runs: while a counter is below a bound."""
    return _Op(loop.for_get_cond().op_get_type()) in {_Op.le, _Op.lt}


def combined(operator: str, element: str, part: str) -> str:
    """The statement of C that combines ``element`` by ``operator`` with ``part``."""
    if operator in {"min", "fmin", "max", "fmax"}:
        comparison = f"{part} {'<' if operator in {'min', 'fmin'} else '>'} {element}"
        if operator in {"fmin", "fmax"}:  # they choose the number where one is none
            comparison += f" || {element} != {element}"
        return f"if ({comparison}) {element} = {part};"
    return f"{element} = {element} {operator} {part};"


def _tells(accumulator: Accumulator) -> bool:
    """Whether parts of ``accumulator`` have to say if they took a value, which then may be that of before."""
    selection = accumulator.selection
    return selection is not None and (selection.latest or accumulator.operator == TAKEN)


def _is_first(accumulator: Accumulator) -> bool:
    """Whether the first part that took a value counts, whatever others took."""
    selection = accumulator.selection
    return selection is not None and accumulator.operator == TAKEN and not selection.latest


@dataclass(frozen=True, slots=True)
class _Names:
    """Variables of the generated code: how many ``iterations`` there are, the ``part`` and its bounds."""

    iterations: str
    part: str
    first: str
    end: str


class PartsPrinter:
    """Prints what stands around the body of ``node``, whose iterations are shared in parts.

    Its ``counter`` is of the type ``kind``; each part accumulates for itself what the loop does in
    ``accumulators``. ``names`` are those of the block around, where some are declared.
    """

    def __init__(
        self,
        node: isl.AstNode,
        counter: tuple[str, str],
        accumulators: Sequence[OpenAccumulator],
        names: NamesInScope,
        expressions: ExpressionPrinter,
    ) -> None:
        self._node = node
        self._kind, self._counter = counter
        self._whole = accumulators
        self._expressions = expressions
        self._arrays = [names.declare(f"{each.variable}_parts") for each in accumulators]
        name = self._counter
        wanted = (f"{name}_iterations", "part", f"first_{name}", f"end_{name}")
        self._names = _Names(*(names.declare(each) for each in wanted))
        self.accumulators = [
            replace(
                each,
                variable=names.declare(f"{each.variable}_part"),
                taken=names.declare(f"{each.variable}_taken") if _tells(each.accumulator) else "",
            )
            for each in accumulators
        ]
        self._flags = [names.declare(f"{each.taken}_parts") for each in self.accumulators if each.taken]
        self._found = {
            each.variable: names.declare(f"{each.variable}_found")
            for each in accumulators
            if _is_first(each.accumulator)
        }
        self._start = expressions.text(node.for_get_init())
        self._step = expressions.text(node.for_get_inc())

    def declarations(self) -> list[str]:
        """What stands before the loop over parts."""
        arrays = (
            f"{each.accumulator.type.name} {array}[{PARTS}];"
            for each, array in zip(self._whole, self._arrays, strict=True)
        )
        flags = (f"int {each}[{PARTS}];" for each in self._flags)
        found = (f"int {each} = 0;" for each in self._found.values())
        count = f"const {COUNTER_TYPE} {self._names.iterations} = {self._iterations()};"
        return [count, *arrays, *flags, *found]

    def _iterations(self) -> str:
        """How many iterations there are, in C; nothing above zero if there are none."""
        start, step, condition = self._node.for_get_init(), self._step, self._node.for_get_cond()
        end = self._expressions.text(condition.op_get_arg(1), ADDITIVE)
        if not is_number(start, 0):
            end += f" - {self._expressions.text(start, ADDITIVE + 1)}"
        closed = _Op(condition.op_get_type()) == _Op.le
        if is_number(self._node.for_get_inc(), 1):
            return f"{end} + 1" if closed else end
        return f"({end} + {step}{'' if closed else ' - 1'}) / {step}"

    def shared_head(self) -> CodeLine:
        """The loop over parts."""
        part = self._names.part
        number = f"polybuild_min({self._names.iterations}, {PARTS})"
        return loop(f"for ({COUNTER_TYPE} {part} = 0; {part} < {number}; {part}++)")

    def own(self) -> list[str]:
        """What each part has for itself: the bounds of the counter, and what it accumulates in."""
        names = self._names
        bounds = [
            f"const {self._kind} {name} = {self._place(f'{PART}({names.iterations}, {part})')};"
            for name, part in ((names.first, names.part), (names.end, f"{names.part} + 1"))
        ]
        variables = (
            f"{whole.accumulator.type.name} {each.variable} = "
            f"{identity(whole.accumulator.operator) or whole.variable};"
            for whole, each in zip(self._whole, self.accumulators, strict=True)
        )
        return [*bounds, *variables, *(f"int {each.taken} = 0;" for each in self.accumulators if each.taken)]

    def _place(self, iteration: str) -> str:
        """The counter's value in an ``iteration`` of the loop."""
        text = iteration if is_number(self._node.for_get_inc(), 1) else f"{self._step} * {iteration}"
        if not is_number(self._node.for_get_init(), 0):
            text = f"{self._expressions.text(self._node.for_get_init(), ADDITIVE)} + {text}"
        return text if self._kind == COUNTER_TYPE else f"({self._kind})({text})"

    def head(self, indent: str) -> CodeLine:
        """The loop over the iterations of a part."""
        counter, names = self._counter, self._names
        one = is_number(self._node.for_get_inc(), 1)
        advance = f"{counter}++" if one else f"{counter} += {self._step}"
        head = f"{indent}for ({self._kind} {counter} = {names.first}; {counter} < {names.end}; {advance})"
        return loop(head)

    def kept(self) -> list[str]:
        """The statements that keep what a part accumulated."""
        arrays = zip(self._arrays, self.accumulators, strict=True)
        flags = zip(self._flags, [each.taken for each in self.accumulators if each.taken], strict=True)
        values = [*((array, each.variable) for array, each in arrays), *flags]
        return [f"{array}[{self._names.part}] = {each};" for array, each in values]

    @property
    def suit_lanes(self) -> bool:
        """Whether terms alone may be accumulated in lanes, too."""
        return all(identity(each.accumulator.operator) for each in self._whole)

    def from_start(self) -> list[str]:
        """What each part has for itself where it begins with what the parts before come to."""
        bounds = self.own()[:2]
        variables = (
            f"{whole.accumulator.type.name} {each.variable} = {array}[{self._names.part}];"
            for whole, each, array in zip(self._whole, self.accumulators, self._arrays, strict=True)
        )
        return [*bounds, *variables]

    def starts(self, indent: str) -> list[str]:
        """The loop that has each part begin with what those before come to, and the whole be all of it."""
        inner = indent + _INDENT
        lines = [loop(f"{indent}{self.shared_head().head}")]
        for whole, each, array in zip(self._whole, self.accumulators, self._arrays, strict=True):
            part = f"{array}[{self._names.part}]"
            texts = (
                f"const {whole.accumulator.type.name} {each.variable} = {part};",
                f"{part} = {whole.variable};",
                combined(whole.accumulator.operator, whole.variable, each.variable),
            )
            lines += [CodeLine(f"{inner}{text}", role=Role.STATEMENT) for text in texts]
        return [*lines, closing(indent)]

    def combination(self, indent: str) -> list[str]:
        """The loop that combines the parts."""
        own = [
            (whole, f"{array}[{self._names.part}]")
            for whole, array in zip(self._whole, self._arrays, strict=True)
        ]
        plain = [(whole, part) for whole, part in own if whole.accumulator.operator != CARRIED]
        texts = [self._combined(whole, part, own) for whole, part in plain]
        head = loop(f"{indent}{self.shared_head().head}")
        lines = (CodeLine(f"{indent}{_INDENT}{each}", role=Role.STATEMENT) for each in texts)
        return [head, *lines, closing(indent)]

    def _combined(
        self, whole: OpenAccumulator, part: str, every: Sequence[tuple[OpenAccumulator, str]]
    ) -> str:
        """The statement that combines ``whole`` with a ``part``; ``every`` has what goes along, too.

        A part that took nothing has the value of before, which others may have found to be the best again.
        """
        accumulator = whole.accumulator
        operator, selection = accumulator.operator, accumulator.selection
        if selection is None:
            return combined(operator, whole.variable, part)
        conditions: list[str] = []
        if _tells(accumulator):
            telling = [each.accumulator for each in self.accumulators if each.taken]
            flags = self._flags[[each.mark for each in telling].index(accumulator.mark)]
            conditions.append(f"{flags}[{self._names.part}]")
        carried = {id(each) for each in selection.carried}
        assignments = [f"{whole.variable} = {part};"]
        assignments += [
            f"{other.variable} = {value};"
            for other, value in every
            if carried.intersection(map(id, other.accumulator.reductions))
        ]
        if whole.variable in self._found:
            conditions.append(f"!{self._found[whole.variable]}")
            assignments.append(f"{self._found[whole.variable]} = 1;")
        if operator != TAKEN:
            better = ("<" if operator == "min" else ">") + "=" * selection.latest
            conditions.append(f"{part} {better} {whole.variable}")
        return f"if ({' && '.join(conditions)}) {{ {' '.join(assignments)} }}"
