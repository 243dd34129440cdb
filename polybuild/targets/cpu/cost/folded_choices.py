"""NumberChoices between numbers and what is computed, as limiters and clamps make them, and what follows.

Of ``2 * (v < 0 ? 0 : v)`` compilers compute one branch beforehand, so the product of the other becomes
conditional. Where operations have to trap as in the program, that keeps a loop from being computed in lanes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from pycparser import c_ast

from polybuild.c.syntax_tree import walk
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class _Operand:
    """What is computed with: the ``numbers`` it may be, a variable, and whether it may be ``computed``."""

    numbers: frozenset[float] = frozenset()
    name: str | None = None
    computed: bool = False


@dataclass(frozen=True, slots=True)
class NumberChoices:
    """The definitions of floating-point variables in a statement, each with whether it is conditional.

    ``operations`` has the arithmetic in it.
    """

    definitions: tuple[tuple[str, bool, _Operand], ...]
    operations: tuple[tuple[str, _Operand, _Operand], ...]

    @classmethod
    def of(cls, body: c_ast.Node, is_number: Callable[[c_ast.Node], bool]) -> NumberChoices:
        """Those of ``body``; ``is_number`` tells floating-point numbers."""
        defined, operations = [], []
        for node in walk(body):
            if isinstance(node, c_ast.Decl) and node.init is not None and is_number(c_ast.ID(node.name)):
                defined.append((node.name, node.init, node))
            elif isinstance(node, c_ast.Assignment) and _is_name(node.lvalue) and is_number(node.lvalue):
                defined.append((node.lvalue.name, node.rvalue if node.op == "=" else node, node))
            operation = _operation(node)
            if operation is not None and any(map(is_number, operation[1:])):
                operations.append((operation[0], _operand(operation[1]), _operand(operation[2])))
        conditional = frozenset(id(each) for each in _conditional(body))
        return cls(
            tuple((name, id(node) in conditional, _operand(value)) for name, value, node in defined),
            tuple(operations),
        )


def are_folded(choices: Iterable[NumberChoices]) -> bool:
    """Whether an operation of ``choices`` is computed beforehand for some branch, but not for all."""
    known = list(choices)
    numbers: dict[str, set[float]] = defaultdict(set)
    computed, conditional = set(), set()
    for name, chosen, value in (each for some in known for each in some.definitions):
        numbers[name] |= value.numbers
        if value.computed or value.name is not None:
            computed.add(name)
        if chosen or len(value.numbers) + value.computed > 1:
            conditional.add(name)

    def resolved(operand: _Operand) -> _Operand:
        if operand.name is None:
            return operand
        if operand.name not in conditional:
            return _Operand(computed=True)
        return _Operand(frozenset(numbers[operand.name]), None, operand.name in computed)

    return any(
        _is_folded(resolved(left), resolved(right))
        or (left.name is not None and _needs_nothing(op, resolved(right)))
        or (right.name is not None and op == "*" and _needs_nothing(op, resolved(left)))
        for op, left, right in (each for some in known for each in some.operations)
    )


def _is_folded(left: _Operand, right: _Operand) -> bool:
    """Whether an operation has numbers alone in a branch of a choice, and something else in another."""
    return bool(left.numbers and right.numbers) and (left.computed or right.computed)


def _needs_nothing(op: str, chosen: _Operand) -> bool:
    """Whether a branch of a choice has nothing to compute, and another has."""
    number = {"*": 1, "/": 1, "-": 0}.get(op)
    return number in chosen.numbers and (chosen.computed or len(chosen.numbers) > 1)


def _operation(node: c_ast.Node) -> tuple[str, c_ast.Node, c_ast.Node] | None:
    if isinstance(node, c_ast.BinaryOp) and node.op in {"+", "-", "*", "/"}:
        return node.op, node.left, node.right
    if isinstance(node, c_ast.Assignment) and node.op in {"+=", "-=", "*=", "/="}:
        return node.op[0], node.lvalue, node.rvalue
    return None


def _operand(node: c_ast.Node) -> _Operand:
    if _is_name(node):
        return _Operand(name=node.name)
    if isinstance(node, c_ast.TernaryOp):
        arms = _operand(node.iftrue), _operand(node.iffalse)
        return _Operand(
            arms[0].numbers | arms[1].numbers,
            None,
            any(each.computed or each.name is not None for each in arms),
        )
    number = _number(node)
    return _Operand(computed=True) if number is None else _Operand(frozenset({number}))


def _number(node: c_ast.Node) -> float | None:
    if isinstance(node, c_ast.UnaryOp) and node.op in {"-", "+"}:
        number = _number(node.expr)
        return None if number is None else -number if node.op == "-" else number
    if not isinstance(node, c_ast.Constant):
        return None
    try:
        return float(node.value.rstrip("fFlLuU"))
    except ValueError:
        return None


def _is_name(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.ID)


def _conditional(body: c_ast.Node, *, under: bool = False) -> Iterator[c_ast.Node]:
    """The assignments that conditions may leave out."""
    if under and isinstance(body, c_ast.Assignment):
        yield body
    for child in body:
        inside = isinstance(body, c_ast.If) and child is not body.cond
        yield from _conditional(child, under=under or inside)
