"""What accesses touch as functions of all counters, also of those that have one value in a domain.

``for (j = 0; j + 1 < 3; j += 2) { s += w[j]; s += w[j + 1]; }`` runs for ``j = 0`` alone, so its model says
that ``w[0]`` and ``w[1]`` are touched. What is touched elsewhere is what the subscripts say.
"""

from __future__ import annotations

import islpy as isl
from pycparser import c_ast

from polybuild.c.literals import integer_value
from polybuild.poly.integers import integer_of, value_of
from polybuild.rerolling.shapes import ShapedAccess
from polybuild.scop.model import Access, Array, Statement

_in, _out, _set = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


def function_of(operand: tuple[ShapedAccess, Statement]) -> isl.Map:
    """What an exact operand of a statement touches, whether the statement runs there or not."""
    use, statement = operand
    touched = _gist(use.access.relation, statement.domain)
    for position, iterator in enumerate(statement.iterators):
        value = statement.domain.plain_get_val_if_fixed(_set, position)
        if value.is_int():
            coefficients = _coefficients(use.access, iterator.name)
            if coefficients is not None:
                touched = _extended(touched, position, value.to_python(), coefficients)
    return touched


def _gist(relation: isl.Map, domain: isl.Set) -> isl.Map:
    touched = relation.gist_domain(domain)
    if touched.domain().involves_locals():  # which the domain says, though not in one piece
        plain = relation.remove_divs()
        plain = plain.gist_domain(plain.domain()).coalesce()
        if plain.intersect_domain(domain).is_equal(relation):
            return plain
    return touched


def _extended(touched: isl.Map, position: int, value: int, coefficients: list[int]) -> isl.Map:
    """``touched``, known where counter ``position`` is ``value``, with ``coefficients`` of its subscripts."""
    name = touched.get_tuple_name(_in)
    here = touched.fix_val(_in, position, value_of(value)).project_out(_in, position, 1)
    everywhere = here.insert_dims(_in, position, 1).set_tuple_name(_in, name)
    local = isl.LocalSpace.from_space(everywhere.get_space().domain())
    moved = isl.PwAff.var_on_domain(local, _set, position).add(isl.PwAff.from_aff(_constant(local, -value)))
    function = isl.PwMultiAff.from_map(everywhere)
    for index, coefficient in enumerate(coefficients):
        step = moved.scale_val(value_of(coefficient))
        function = function.set_pw_aff(index, function.get_pw_aff(index).add(step))
    return isl.Map.from_pw_multi_aff(function)


def _constant(space: isl.LocalSpace, value: int) -> isl.Aff:
    return isl.Aff.val_on_domain(space, value_of(value))


def _coefficients(access: Access, counter: str) -> list[int] | None:
    """By how much each subscript of ``access`` grows with ``counter``; None if they do not say."""
    subscripts: list[c_ast.Node] = []
    node = access.node
    while isinstance(node, c_ast.ArrayRef | c_ast.StructRef):
        if isinstance(node, c_ast.ArrayRef):
            subscripts.insert(0, node.subscript)
        node = node.name
    coefficients = [_coefficient(each, counter) for each in subscripts]
    known = [each for each in coefficients if each is not None]
    if not known or len(known) != len(coefficients):
        return None
    if len(known) == 1:
        return _by_rows(known[0], access.array)
    return known if len(known) == access.relation.dim(_out) else None


def _by_rows(elements: int, array: Array) -> list[int]:
    """By how much each subscript of ``array`` grows with the address, which grows by so many ``elements``.

    A row whose length is no known number is taken to be longer than the step.
    """
    steps = [0] * len(array.extents)
    for position in reversed(range(1, len(steps))):
        extent = array.extents[position]
        length = None if extent is None else extent.max_val()
        if length is None or not (length.is_int() and length.is_pos()):
            steps[position] = elements
            return steps
        elements, steps[position] = divmod(elements, integer_of(length))
    steps[0] = elements
    return steps


def _coefficient(node: c_ast.Node, counter: str) -> int | None:
    """By how much ``node`` grows with ``counter``; None if that is not the same everywhere."""
    if isinstance(node, c_ast.ID):
        return int(node.name == counter)
    if isinstance(node, c_ast.Constant) and node.type == "int":
        return 0
    if isinstance(node, c_ast.UnaryOp) and node.op in {"+", "-"}:
        coefficient = _coefficient(node.expr, counter)
        return coefficient if coefficient is None or node.op == "+" else -coefficient
    if not isinstance(node, c_ast.BinaryOp) or node.op not in {"+", "-", "*"}:
        return None
    left, right = _coefficient(node.left, counter), _coefficient(node.right, counter)
    if left is None or right is None:
        return None
    if node.op == "+":
        return left + right
    if node.op == "-":
        return left - right
    if not left and not right:
        return 0
    factor = node.left if right else node.right
    value = integer_value(factor.value) if isinstance(factor, c_ast.Constant) else None
    return None if value is None else value * (left or right)
