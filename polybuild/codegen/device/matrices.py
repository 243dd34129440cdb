"""Products by matrix instructions, as text: what a warp does for the terms of a whole tile.

    for (step = 0; step < terms; step += 4) {
      for (row < own rows)       left[row] = A_shared[stage][t0 + T0 * row][step + t1 % 4];
      for (column < own columns) right[column] = B_shared[stage][step + t1 % 4][8 * (t1 / 4) + t0 % 8 + ...];
      for (row, column)          multiply(C_own[row][2 * column], C_own[row][2 * column + 1], left[row],
                                          right[column]);
    }

Thread ``t0, t1`` of a block has rows ``t0``, ``t0 + T0``, ..., and of each 8 columns of a warp two, as its
registers hold them (``targets/gpu/matrix_products.py``). Two rows of a thread are taken at once where their
number is even (PTX, ``mma.m16n8k4``: the second row of a thread is one of the other block of eight).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import islpy as isl

from polybuild.codegen.c.expressions import ExpressionPrinter, identifiers_in
from polybuild.codegen.c.names_in_scope import NamesInScope
from polybuild.codegen.c.nodes import IF, kind_of, parts
from polybuild.codegen.device.ast import KernelAst, Placed
from polybuild.codegen.device.statements import KernelStatementPrinter
from polybuild.codegen.device.whole_loops import WholeLoop
from polybuild.targets.device import Axis, Kernel, MatrixOperand, MatrixProduct, SharedTile, ThreadTile
from polybuild.values import dataclass

_INDENT = "  "


@dataclass(frozen=True, slots=True)
class PlacedProduct:
    """Where an instance of the product of a kernel finds its operands, and its result."""

    left: Placed
    right: Placed
    result: ThreadTile


def placed_product(kernel: Kernel, product: MatrixProduct, placed: Sequence[Placed]) -> PlacedProduct | None:
    """Where an instance that is ``placed`` so has what instructions take and give; None if they cannot.

    Operands must lie in boxes of shared memory that a tile fills, results in registers.
    """
    by_node = {id(each.access.node): each for each in placed}
    rows, columns, terms = kernel.tile[-3:]
    left, right = (
        _operand(by_node.get(id(each.access.node)), each, (own, terms))
        for each, own in ((product.left, rows), (product.right, columns))
    )
    result = by_node.get(id(product.statement.body.lvalue))
    if left is None or right is None or result is None or not isinstance(result.tile, ThreadTile):
        return None
    return PlacedProduct(left, right, result.tile)


def _operand(placed: Placed | None, operand: MatrixOperand, sizes: tuple[int, int]) -> Placed | None:
    """``placed`` if it is in a box of the ``sizes`` that a tile has, in stages: what is not there is zero."""
    if placed is None or not isinstance(placed.tile, SharedTile) or placed.tile.stages == 1:
        return None
    wanted = dict(zip((operand.own, operand.terms), sizes, strict=True))
    fills = all(size == wanted.get(dim, 1) for dim, size in enumerate(placed.tile.box.sizes))
    return placed if fills else None


def unconditional(node: isl.AstNode, holds: Callable[[isl.AstExpr], bool]) -> list[str]:
    """What the annotations of all user nodes in ``node`` are called; none if one may not run.

    ``holds`` says which conditions are met.
    """
    kind = kind_of(node)
    if kind == isl.ast_node_type.user:
        return [node.get_annotation().get_name()]
    if kind == IF and not node.if_has_else_node() and holds(node.if_get_cond()):
        return unconditional(node.if_get_then_node(), holds)
    if kind not in {isl.ast_node_type.block, isl.ast_node_type.mark}:
        return []
    found = [unconditional(each, holds) for each in parts(node)]
    return [name for each in found for name in each] if all(found) else []


class MatrixPrinter:
    """Prints what warps do to compute the ``product`` of a kernel; ``tiles`` has the names of its tiles."""

    def __init__(
        self,
        kernel: Kernel,
        product: MatrixProduct,
        expressions: ExpressionPrinter,
        tiles: Mapping[str, str],
        names: NamesInScope,
    ) -> None:
        self._kernel = kernel
        self._product = product
        self._expressions = expressions
        self._tiles = tiles
        self._names = names
        self._divergence = 0

    @contextmanager
    def below(self, *expressions: isl.AstExpr) -> Iterator[None]:
        """Within what ``expressions`` decide: threads diverge where these differ between them."""
        axes = {each.parameter for each in self._kernel.threads}
        diverges = any(axes & identifiers_in(each) for each in expressions)
        self._divergence += diverges
        yield
        self._divergence -= diverges

    def whole(
        self, loop: WholeLoop, users: Sequence[str], ast: KernelAst, statements: KernelStatementPrinter
    ) -> list[str]:
        """The lines of a ``loop`` over the terms of a tile that runs ``users``; none if not all is there."""
        named = self._product.statement.name
        if self._divergence or not users or not loop.has(self._kernel.tile[-1]):
            return []
        if any(name not in ast.instances or ast.instances[name].statement.name != named for name in users):
            return []
        instance, placed = ast.instances[users[0]], ast.placed[users[0]]
        found = placed_product(self._kernel, self._product, placed)
        if found is None or len(users) != math.prod(found.result.sizes):
            return []
        printer = statements.printer(instance, placed)
        return self._lines(found, [printer.visit(each) for each in self._product.others])

    def _lines(self, found: PlacedProduct, factors: Sequence[str]) -> list[str]:
        """The lines for the terms of a whole tile; the ``factors`` are those that stay the same."""
        declared = self._names.enter()
        step, row, column, left, right = map(self._names.declare, ("step", "row", "column", "left", "right"))
        product, result, instruction = self._product, found.result, self._product.instruction
        (high, wide), run = instruction.warp, instruction.run
        rows, columns = result.sizes[-2], result.sizes[-1] // run
        (down, height), (across, width) = map(self._index, self._kernel.threads[-2:])
        term = f"{step} + {across} % {wide}"
        first = f"{across} / {wide} * {high} + {down} % {high}"
        scale = "-" * product.negated + "".join(f"{each} * " for each in factors)
        own = f"{self._tiles[result.name]}{'[0]' * (len(result.sizes) - 2)}"
        taken = range(2 if rows % 2 == 0 else 1)
        at = [f"[{row}{f' + {each}' * bool(each)}]" for each in taken]
        pairs = [f"{own}{each}[{run} * {column}{more}]" for each in at for more in ("", " + 1")]
        lefts = [f"{left}{each}" for each in at]
        multiply = f"polybuild_multiply{'_pair' * (len(taken) - 1)}"
        of_left = self._element(found.left, product.left, f"{down} + {height} * {row}", term)
        of_right = self._element(found.right, product.right, f"{first} + {run * width} * {column}", term)
        lines = [
            f"#pragma unroll {instruction.unrolled}",
            f"for (int {step} = 0; {step} < {self._kernel.tile[-1]}; {step} += {instruction.terms}) {{",
            f"{_INDENT}double {left}[{rows}], {right}[{columns}];",
            *_loop(row, rows, f"{left}[{row}] = {scale}{of_left};"),
            *_loop(column, columns, f"{right}[{column}] = {of_right};"),
            "#pragma unroll",
            f"{_INDENT}for (int {row} = 0; {row} < {rows}; {row} += {len(taken)})",
            *_loop(column, columns, f"{multiply}({', '.join([*pairs, *lefts])}, {right}[{column}]);"),
            "}",
        ]
        self._names.leave(declared)
        return lines

    def _index(self, axis: Axis) -> tuple[str, int]:
        """The index of a thread along ``axis``, and how many there are."""
        return self._expressions.text(isl.AstExpr.from_id(isl.Id(axis.parameter))), axis.size

    def _element(self, placed: Placed, operand: MatrixOperand, own: str, term: str) -> str:
        """An element of an operand in shared memory."""
        tile = placed.tile
        assert isinstance(tile, SharedTile)  # noqa: S101 - as placed_product found it
        places = {operand.own: own, operand.terms: term}
        stage = self._expressions.text(placed.subscripts[0])
        subscripts = "".join(f"[{places.get(dim, '0')}]" for dim in tile.order)
        return f"{self._tiles[tile.name]}[{stage}]{subscripts}"


def _loop(counter: str, count: int, body: str) -> list[str]:
    return [
        "#pragma unroll",
        f"{_INDENT}for (int {counter} = 0; {counter} < {count}; {counter}++)",
        f"{_INDENT * 2}{body}",
    ]
