"""Products of matrices of doubles that the matrix instructions of a device compute, a warp together.

An instruction adds to 8 by 8 results the products of 8 by 4 and 4 by 8 elements (PTX, ``mma.m8n8k4``). Of
these thread ``l`` of a warp has two results side by side, in row ``l / 4``, and one element of each operand,
so that the results of a warp are those of 8 by 4 threads with runs of two along x: the threads of a block are
numbered that way, and registers, loads and stores are those of any product. The four products of an element
are added in an order that the device chooses, and rounded once: sums may be reordered, and products and sums
fused, or there are no such kernels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from polybuild.c.syntax_tree import factors_of
from polybuild.c.types import FloatingType
from polybuild.poly.relations import sets_of
from polybuild.scop.model import Access, AccessKind, Scop, Statement
from polybuild.targets.base import DeviceLimits
from polybuild.targets.device import MatrixOperand, MatrixProduct
from polybuild.targets.gpu.coalescing import dated, steps_along
from polybuild.targets.gpu.micro_tiles import MicroTile, micro_tile
from polybuild.targets.instructions import MatrixInstruction


def find_matrix_product(
    scop: Scop, band: isl.ScheduleNode, mapped: int, instruction: MatrixInstruction | None
) -> MatrixProduct | None:
    """The product that ``band`` computes, whose first ``mapped`` members are parallel, rows and columns last.

    None if it computes none, or if there is no ``instruction`` for that.
    One statement adds to an element of the result the product of one of each operand, and of numbers that do
    not change. The loop of the sum comes after those that are mapped.
    """
    names = [each.get_tuple_name() for each in sets_of(band.get_domain())]
    if instruction is None or mapped < len(instruction.warp):
        return None
    if band.band_n_member() != mapped + 1 or len(names) != 1:
        return None
    (statement,) = (each for each in scop.statements if each.name == names[0])
    factors = _factors(statement)
    if factors is None or statement.dynamic:
        return None
    rows, columns, terms = (band.get_schedule_depth() + mapped + each for each in (-2, -1, 0))
    moves = {
        id(access.node): tuple(steps_along(access, date, loop) for loop in (rows, columns, terms))
        for access, date in dated(scop, band)
        if access.kind is AccessKind.READ or access.node is statement.body.lvalue
    }
    left = _operand(statement, factors, [moves.get(id(each)) for each in factors], along=0)
    right = _operand(statement, factors, [moves.get(id(each)) for each in factors], along=1)
    result = moves.get(id(statement.body.lvalue))
    if left is None or right is None or result is None or result[2] is None or any(result[2]):
        return None
    others = [each for each in factors if each is not left.access.node and each is not right.access.node]
    return MatrixProduct(statement, left, right, instruction, tuple(others), statement.body.op == "-=")


def _operand(
    statement: Statement,
    factors: Sequence[c_ast.Node],
    moves: Sequence[tuple[list[int] | None, ...] | None],
    *,
    along: int,
) -> MatrixOperand | None:
    """The one of ``factors`` that changes with the rows, or ``along`` 1 the columns, and with the terms."""
    for factor, steps in zip(factors, moves, strict=True):
        if steps is None or None in steps or any(steps[1 - along] or ()):
            continue
        first, second = steps[along] or [], steps[2] or []
        if _is_unit(first) and _is_unit(second) and first != second:
            access = next(each for each in statement.accesses if each.node is factor)
            return MatrixOperand(access, first.index(1), second.index(1))
    return None


def _is_unit(steps: Sequence[int]) -> bool:
    """Whether one subscript becomes one more."""
    return sum(each != 0 for each in steps) == 1 and 1 in steps


def _factors(statement: Statement) -> list[c_ast.Node] | None:
    """The factors of what a statement adds to its element, or subtracts; None if it does nothing like that.

    They are elements that are read, and numbers: all are floating-point ones, the elements doubles.
    """
    body = statement.body
    if not isinstance(body, c_ast.Assignment) or body.op not in {"+=", "-="}:
        return None
    found = list(factors_of(body.rvalue))
    kinds = {id(each.node): each for each in statement.accesses}
    written = kinds.get(id(body.lvalue))
    if written is None or not _is_double(written):
        return None
    for each in found:
        access = kinds.get(id(each))
        if access is not None and access.array.extents:
            if access.kind is not AccessKind.READ or not _is_double(access):
                return None
        elif access is not None:
            if not isinstance(access.array.element, FloatingType):
                return None
        elif not (isinstance(each, c_ast.Constant) and each.type in {"double", "float"}):
            return None
    return found


def _is_double(access: Access) -> bool:
    kind = access.array.element
    return isinstance(kind, FloatingType) and kind.name == "double"


def matrix_tile(
    scop: Scop,
    band: isl.ScheduleNode,
    mapped: int,
    extents: Sequence[int | None],
    limits: DeviceLimits,
) -> MicroTile | None:
    """The best tile and block for a product by matrix instructions; as ``micro_tile``."""
    products = limits.shapes.products
    assert products.matrix is not None  # noqa: S101 - else there are no products for it
    own = products.matrix
    products = replace(
        products, blocks=own.blocks, points=own.points, batched=own.points[::-1], steps=own.steps
    )
    return micro_tile(
        scop, band, mapped, extents, replace(limits, shapes=replace(limits.shapes, products=products))
    )


def fits_instructions(tile: Sequence[int], block: Sequence[int], instruction: MatrixInstruction) -> bool:
    """Whether a ``block`` computes a ``tile``, rows, columns and terms last, in whole instructions."""
    rows, columns, terms = tile[-3:]
    (down, across), (high, wide) = block[-2:], instruction.warp
    if math.prod(block) != down * across or down % high or across % wide:
        return False
    return not (rows % down or columns % (instruction.run * across) or terms % instruction.terms)
