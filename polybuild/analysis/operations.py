"""What one instance of a statement computes: operations by the unit that runs them, and chains of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from pycparser import c_ast

from polybuild.c.mathematics import MAGNITUDES, ROOTS
from polybuild.c.syntax_tree import walk
from polybuild.c.types import FloatingType, IntegerType
from polybuild.effort import HIDDEN_TRIPS
from polybuild.machine.model import DOUBLE, RECIPROCAL, SEPARATE, Arithmetic
from polybuild.scop.model import Array, Statement
from polybuild.values import dataclass

DIVISIONS = {"/", "%", "/=", "%="}
# what compilers make one or two operations of
_SELECTIONS = {"fmin", "fminf", "fmax", "fmaxf", "abs", "labs", *MAGNITUDES.values()}
_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)


@dataclass(frozen=True, slots=True)
class Operations:
    """How many operations of each kind, and the ``width`` in bytes of the widest element that is accessed.

    ``simple`` ones add, multiply, compare, select or convert; ``calls`` are of functions of libraries.
    """

    simple: float
    divisions: float
    roots: float
    calls: float
    width: int


def bytes_of_element(array: Array) -> int:
    """Bytes of one element of ``array``."""
    element = array.element
    if isinstance(element, FloatingType):
        return element.size
    if isinstance(element, IntegerType):
        return max(1, element.width // 8)
    return DOUBLE


def operations_of_copy() -> Operations:
    """The operations of copying an element: it is loaded and stored, with many others at a time."""
    return Operations(simple=1.0, divisions=0.0, roots=0.0, calls=0.0, width=DOUBLE)


def operations_of(statement: Statement, fused: int = SEPARATE) -> Operations:
    """The operations of one instance of ``statement``, those that compute subscripts left out.

    A sum with a product of floating-point numbers is so many ``fused`` ones.
    """
    counts = {"simple": 0.0, "divisions": 0.0, "roots": 0.0, "calls": 0.0}
    for kind, times in _counted(statement.body, statement.element_nodes, 1.0):
        counts[kind] += times
    elements = [each.array.element for each in statement.accesses]
    width = max((bytes_of_element(each.array) for each in statement.accesses), default=1)
    narrow = {each.array.name for each in statement.accesses if bytes_of_element(each.array) < width}
    counts["simple"] += sum(each.array.name in narrow for each in statement.accesses)
    if not any(isinstance(each, FloatingType) for each in elements):
        counts["simple"] += RECIPROCAL * counts["divisions"]
        counts["divisions"] = 0.0
    else:
        counts["simple"] -= (SEPARATE - fused) * _sums_of_products(statement.body, statement.element_nodes)
    return Operations(**counts, width=width)


def _counted(node: c_ast.Node, elements: Collection[int], times: float) -> Iterator[tuple[str, float]]:
    if id(node) in elements and not isinstance(node, c_ast.If):
        return
    if isinstance(node, c_ast.BinaryOp) or (isinstance(node, c_ast.Assignment) and node.op != "="):
        if _is_remainder_by_number(node):
            yield "simple", RECIPROCAL * times
        else:
            yield ("divisions" if node.op in DIVISIONS else "simple"), times
    elif isinstance(node, c_ast.FuncCall):
        yield _kind_of_call(node), times
    elif isinstance(node, c_ast.UnaryOp | c_ast.TernaryOp | c_ast.If | c_ast.Cast):
        yield "simple", times
    elif isinstance(node, _LOOPS):
        times *= HIDDEN_TRIPS
    for child in node:
        yield from _counted(child, elements, times)


def _is_remainder_by_number(node: c_ast.BinaryOp | c_ast.Assignment) -> bool:
    """Whether ``node`` is a remainder, which integers have, by a number that the compiler sees."""
    divisor = node.rvalue if isinstance(node, c_ast.Assignment) else node.right
    return node.op in {"%", "%="} and isinstance(divisor, c_ast.Constant)


def _sums_of_products(node: c_ast.Node, elements: Collection[int]) -> int:
    """How many sums and differences there are with a product, each of which is part of one."""
    if id(node) in elements and not isinstance(node, c_ast.If):
        return 0
    own = isinstance(node, c_ast.BinaryOp | c_ast.Assignment) and _adds_product(node)
    return own + sum(_sums_of_products(child, elements) for child in node)


def _kind_of_call(call: c_ast.FuncCall) -> str:
    name = getattr(call.name, "name", "")
    if name in ROOTS.values():
        return "roots"
    return "simple" if name in _SELECTIONS else "calls"


def chain_of(statement: Statement, reads: Collection[int], arithmetic: Arithmetic) -> float:
    """Nanoseconds from the one of the nodes ``reads``, by identity, that is used first to the result."""
    floating = any(isinstance(each.array.element, FloatingType) for each in statement.accesses)
    if not floating:
        arithmetic = replace(arithmetic, latency=arithmetic.step, sum_latency=arithmetic.step)
    body = statement.body
    if isinstance(body, c_ast.Assignment):
        own = _latency(body, arithmetic) if body.op != "=" else 0.0
        return own + (_depth(body.rvalue, reads, arithmetic) or 0.0)
    return max((_depth(each, reads, arithmetic) or 0.0 for each in walk(body)), default=0.0)


def _depth(node: c_ast.Node, reads: Collection[int], arithmetic: Arithmetic) -> float | None:
    """Nanoseconds from a node of ``reads`` to the value of ``node``, None where there is none."""
    if id(node) in reads:
        return 0.0
    below = [found for child in node if (found := _depth(child, reads, arithmetic)) is not None]
    if not below:
        return None
    longest = max(below)
    if isinstance(node, c_ast.BinaryOp):
        return longest + (arithmetic.divide if node.op in DIVISIONS else 0.0) + _latency(node, arithmetic)
    if isinstance(node, c_ast.FuncCall):
        extra = {"roots": arithmetic.root, "calls": arithmetic.call, "simple": 0.0}
        return longest + arithmetic.latency + extra[_kind_of_call(node)]
    if isinstance(node, c_ast.TernaryOp | c_ast.If):
        return longest + arithmetic.step
    return longest


def _latency(node: c_ast.BinaryOp | c_ast.Assignment, arithmetic: Arithmetic) -> float:
    """Until the result of ``node``'s operation can be used: sums are faster unless fused with products."""
    if node.op[0] not in "+-":
        return arithmetic.latency
    fused = arithmetic.fused < SEPARATE and _adds_product(node)
    return arithmetic.latency if fused else arithmetic.sum_latency


def _adds_product(node: c_ast.BinaryOp | c_ast.Assignment) -> bool:
    """Whether ``node`` is a sum or difference with a product."""
    terms: tuple[c_ast.Node, ...] = ()
    if isinstance(node, c_ast.Assignment):
        terms = (node.rvalue,) if node.op in {"+=", "-="} else ()
    elif node.op in {"+", "-"}:
        terms = node.left, node.right
    return any(isinstance(each, c_ast.BinaryOp) and each.op == "*" for each in terms)
