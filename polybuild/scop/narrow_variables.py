"""Integer variables of a region that need fewer bits than they have, so that vectors hold more of them.

::

    int near = u[i - 1] + u[i];    ->    short near = u[i - 1] + u[i];    // of bytes

Compilers compute what is stored in 16 bits in lanes of 16 bits (over-widening patterns of vectorisers), but
a variable of type ``int`` makes them widen each operand to 32. The values are the same: all that is assigned
fits, by the types of its operands (bit-width analysis, M. Stephenson, J. Babb, S. Amarasinghe, PLDI 2000).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pycparser import c_ast

from polybuild.c.basic_types import INT, SHORT
from polybuild.c.conversions import limits
from polybuild.c.intervals import Interval, combined, hull, negated, within
from polybuild.c.literals import integer_value
from polybuild.c.syntax_tree import TRUTHS, walk
from polybuild.c.synthetic import declarator
from polybuild.c.types import IntegerType
from polybuild.scop.duplicates import with_arrays
from polybuild.scop.model import Access, AccessKind, Array, Scop, Statement


def narrow_variables(scop: Scop) -> Scop:
    """``scop`` with the variables of type ``int`` that are known to fit as ones of type ``short``."""
    narrow = {each.name: _narrowed(each) for each in scop.arrays if _is_wide(each) and _fits(scop, each)}
    if not narrow or any(_tells_sizes(each.body) for each in scop.statements):
        return scop
    return replace(
        scop,
        arrays=tuple(narrow.get(each.name, each) for each in scop.arrays),
        statements=tuple(with_arrays(each, narrow) for each in scop.statements),
    )


def with_types_as_written(scop: Scop) -> Scop:
    """``scop`` before ``narrow_variables``, as compilers see its loops; its declarations are in no file."""
    wide = {
        each.name: replace(each, element=INT)
        for each in scop.arrays
        if each.element == SHORT and each.declared is not None and each.declared.coord is None
    }
    return replace(
        scop,
        arrays=tuple(wide.get(each.name, each) for each in scop.arrays),
        statements=tuple(with_arrays(each, wide) for each in scop.statements),
    )


def _tells_sizes(body: c_ast.Node) -> bool:
    """Whether ``body`` has a size, which could be that of a variable."""
    return any(isinstance(each, c_ast.UnaryOp) and each.op == "sizeof" for each in walk(body))


def _is_wide(array: Array) -> bool:
    """Whether ``array`` is a plain variable of the region of type ``int``."""
    return array.local and not array.extents and array.element == INT and array.declared is not None


def _narrowed(array: Array) -> Array:
    declared = c_ast.Decl(array.name, [], [], [], [], declarator(array.name, SHORT), None, None)
    return replace(array, element=SHORT, declared=declared)


def _fits(scop: Scop, array: Array) -> bool:
    """Whether all that is assigned to ``array``, in loops, are sums and the like of narrow elements."""
    found = [part for each in scop.statements if _writes(each, array) for part in _assigned(each, array)]
    return bool(found) and all(each is not None and within(each, limits(SHORT)) for each in found)


def _writes(statement: Statement, array: Array) -> bool:
    return any(each.array is array and each.kind is not AccessKind.READ for each in statement.accesses)


def _assigned(statement: Statement, array: Array) -> list[Interval | None]:
    """Ranges of what ``statement`` assigns to ``array``; None for one that is not known or not worth it."""
    body = statement.body
    by_node = {id(each.node): each for each in statement.accesses}
    types = {node: each.array.element for node, each in by_node.items() if each.array.extents}
    narrow = any(isinstance(each, IntegerType) and each.width <= SHORT.width for each in types.values())
    if not statement.iterators or not narrow:
        return [None]
    nodes = body.block_items if isinstance(body, c_ast.Compound) else [body]
    found = [
        _range(each.rvalue, types) if each.op == "=" else None
        for each in nodes
        if _sets(each, array, by_node)
    ]
    return found or [None]


def _sets(node: c_ast.Node, array: Array, by_node: Mapping[int, Access]) -> bool:
    """Whether ``node`` is an assignment to ``array``: of a block, the first one alone is an access."""
    if not isinstance(node, c_ast.Assignment) or not isinstance(node.lvalue, c_ast.ID):
        return False
    access = by_node.get(id(node.lvalue))
    return node.lvalue.name == array.name if access is None else access.array is array


def _range(node: c_ast.Node, types: Mapping[int, object]) -> Interval | None:
    """The range of ``node``, computed in ``int``; ``types`` are those of elements, by their nodes."""
    if id(node) in types:
        kind = types[id(node)]
        return limits(kind) if isinstance(kind, IntegerType) and kind.width <= SHORT.width else None
    found = _composed(node, types)
    return found if found is not None and within(found, limits(INT)) else None


def _composed(node: c_ast.Node, types: Mapping[int, object]) -> Interval | None:
    if isinstance(node, c_ast.Constant):
        value = integer_value(node.value) if node.type == "int" else None
        return None if value is None else (value, value)
    if isinstance(node, c_ast.UnaryOp):
        operand = _range(node.expr, types)
        if node.op == "!":
            return (0, 1)
        if operand is None or node.op not in {"-", "+"}:
            return None
        return operand if node.op == "+" else negated(operand)
    if isinstance(node, c_ast.TernaryOp):
        return hull(_range(node.iftrue, types), _range(node.iffalse, types))
    if not isinstance(node, c_ast.BinaryOp):
        return None
    if node.op in TRUTHS:
        return (0, 1)
    left, right = _range(node.left, types), _range(node.right, types)
    return _arithmetic(node.op, left, right) if left is not None and right is not None else None


def _arithmetic(op: str, left: Interval, right: Interval) -> Interval | None:
    if op in {"&", "|", "^"} and left[0] >= 0 and right[0] >= 0:
        maximum = min(left[1], right[1]) if op == "&" else (1 << max(left[1], right[1]).bit_length()) - 1
        return (0, maximum)
    return combined(op, left, right)
