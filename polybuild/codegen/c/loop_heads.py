"""The heads of loops as lines of C."""

from __future__ import annotations

import islpy as isl

from polybuild.c.syntax_tree import location
from polybuild.codegen.c.bodies import BodyPrinter
from polybuild.codegen.c.expressions import UNARY, ExpressionPrinter, is_atom, is_number
from polybuild.codegen.c.layout import WIDTH, CodeLine, loop
from polybuild.codegen.c.names_in_scope import NamesInScope
from polybuild.codegen.c.nodes import identifier_of
from polybuild.scop.model import DynamicLoop

_Op = isl.ast_expr_op_type


class LoopHeadPrinter:
    """Prints the heads of loops with counters of ``counter_type``, which may be the ``own`` one of a loop.

    For a compiler that is ``unoptimised`` counters ask for registers, and bounds are computed before a loop.
    """

    def __init__(
        self,
        expressions: ExpressionPrinter,
        names: NamesInScope,
        counter_type: str,
        *,
        own: bool,
        unoptimised: bool,
    ) -> None:
        self._expressions = expressions
        self._names = names
        self._counter_type = counter_type
        self._own = own
        self._unoptimised = unoptimised

    def head(
        self, node: isl.AstNode, counter: str, indent: str, *, plain: bool
    ) -> tuple[list[str], CodeLine]:
        """Constants for bounds that would make a head too long, and the head of the loop ``node``.

        In a ``plain`` one, under a directive, no variable is declared but the counter.
        """
        expressions, kind = self._expressions, self._counter_type
        identifier = identifier_of(node)
        condition = node.for_get_cond()
        end = condition.op_get_arg(1)
        start, last = self._start(node), expressions.text(end)
        outer = self._names.get(identifier)
        self._names[identifier] = counter
        test = expressions.text(condition)
        self._names.restore(identifier, outer)
        step = expressions.text(node.for_get_inc())
        advance = f"{counter}++" if is_number(node.for_get_inc(), 1) else f"{counter} += {step}"
        head = f"{indent}for ({register(kind, wanted=self._unoptimised)} {counter} = "
        bounded = _Op(condition.op_get_type()) in {_Op.le, _Op.lt} and not is_atom(end)
        operator = "<=" if _Op(condition.op_get_type()) == _Op.le else "<"
        if plain and self._own and self._is_number(node.for_get_init()) and not self._is_number(end):
            # clang computes with the types of the counter and of the bound, and warns if they differ
            below = node.for_get_init().int_get_val().to_python() - (operator == "<=")
            last = f"({kind}){expressions.maximum(str(below), last)}"
            test = f"{counter} {operator} {last}"
        if bounded and self._unoptimised and not plain:
            name = self._names.declare(f"{counter}_end")
            return [], loop(f"{head}{start}, {name} = {last}; {counter} {operator} {name}; {advance})")
        whole = loop(f"{head}{start}; {test}; {advance})")
        if len(whole) <= WIDTH:
            return [], whole
        constant = f"{indent}{register(f'const {kind}', wanted=self._unoptimised)} "
        constants = []
        if bounded:
            name = self._names.declare(f"last_{counter}" if operator == "<=" else f"end_{counter}")
            constants.append(f"{constant}{name} = {last};")
            test = f"{counter} {operator} {name}"
            whole = loop(f"{head}{start}; {test}; {advance})")
        if len(whole) > WIDTH and not is_atom(node.for_get_init()):
            name = self._names.declare(f"first_{counter}")
            constants.insert(0, f"{constant}{name} = {start};")
            whole = loop(f"{head}{name}; {test}; {advance})")
        return constants, whole

    def _start(self, node: isl.AstNode) -> str:
        """The first value of the counter of the loop ``node``, in its type."""
        start, kind = node.for_get_init(), self._counter_type
        if not self._own or self._is_number(start):
            return self._expressions.text(start)
        return f"({kind}){self._expressions.text(start, UNARY + 1)}"

    @staticmethod
    def _is_number(expression: isl.AstExpr) -> bool:
        return isl.ast_expr_type(expression.get_type()) == isl.ast_expr_type.int


def restored_head(counted: DynamicLoop, start: str, counter: str, printer: BodyPrinter) -> CodeLine:
    """The head of a loop with the user's bounds, as ``printer`` prints them, after its ``start``."""
    advance = _advance(counter, counted.step)
    if counted.stride is not None:
        advance = f"{counter} {'+' if counted.step > 0 else '-'}= {printer.visit(counted.stride)}"
    first, test = printer.visit(counted.start), printer.visit(counted.header.cond)
    return loop(f"{start} = {first}; {test}; {advance})", location(counted.header).line, verbatim=True)


def _advance(counter: str, step: int) -> str:
    if abs(step) == 1:
        return f"{counter}++" if step > 0 else f"{counter}--"
    return f"{counter} += {step}" if step > 0 else f"{counter} -= {-step}"


def register(kind: str, *, wanted: bool) -> str:
    """The type of a variable, which asks for a register where that is ``wanted``."""
    return f"register {kind}" if wanted else kind
