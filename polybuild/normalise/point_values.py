"""Values of grid points that have a name and one use, written where they are used (forward substitution).

::

    for (t ...) for (i ...) for (j ...) {         for (t ...) for (i ...) for (j ...)
      double s = u[t % 2][i - 1][j] + ...;   ->     u[1 - t % 2][i][j] = 0.1 * (u[t % 2][i - 1][j] + ...);
      u[1 - t % 2][i][j] = 0.1 * s;
    }

(A. V. Aho, M. S. Lam, R. Sethi, J. D. Ullman, "Compilers", 2nd edition, section 9.1.) The operations and
their types stay the same. In steps over time a variable is a statement more in all tiles, at distances that
grow with how far points look: code for three grids of three dimensions was not found in time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pycparser import c_ast

from polybuild.c.syntax_tree import changed_operand, has_side_effect, key, mapped, names_in, replaced, walk
from polybuild.c.synthetic import type_name
from polybuild.c.types import FloatingType
from polybuild.effort import STEPS_OVER_PLANES
from polybuild.normalise.kept_values import KeptValues
from polybuild.normalise.neighbour_sums import ambiguous_names, root_of
from polybuild.source.model import Region

_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)


def substitute_point_values(region: Region) -> Region:
    """``region`` with such values in place of their names; itself where there are none."""
    values = _PointValues(region)
    statements = tuple(values.visit(each, ()) for each in region.statements)
    return replace(region, statements=statements) if values.found else region


class _PointValues:
    """The names of one region: ``found`` tells whether any was replaced."""

    def __init__(self, region: Region) -> None:
        self._values = KeptValues(region)
        self._ambiguous = ambiguous_names(region)
        self.found = False

    def visit(self, node: c_ast.Node, around: Sequence[c_ast.Node]) -> c_ast.Node:
        """What becomes of ``node`` inside the loops ``around``."""
        if isinstance(node, c_ast.Compound) and len(around) >= STEPS_OVER_PLANES:
            return self._block(node, around)
        inside = (*around, node) if isinstance(node, _LOOPS) else around
        return mapped(node, lambda each: self.visit(each, inside))

    def _block(self, block: c_ast.Compound, around: Sequence[c_ast.Node]) -> c_ast.Compound:
        items = list(block.block_items or ())
        for place in range(len(items) - 2, -1, -1):
            used = self._used_in(items[place], items[place + 1], items[place + 2 :], around[0])
            if used is not None:
                items[place : place + 2] = [used]
                self.found = True
        return c_ast.Compound([self.visit(each, around) for each in items], block.coord)

    def _used_in(
        self, named: c_ast.Node, use: c_ast.Node, rest: Sequence[c_ast.Node], steps: c_ast.Node
    ) -> c_ast.Node | None:
        """The assignment ``use`` with what ``named`` declares in its place; None if that is no single use.

        The ``rest`` comes after it; ``steps`` is the outermost loop around.
        """
        if not isinstance(named, c_ast.Decl) or named.init is None or not isinstance(use, c_ast.Assignment):
            return None
        name, kind = str(named.name), self._values.type_of(c_ast.ID(named.name))
        if not isinstance(kind, FloatingType) or name in self._ambiguous:
            return None
        if "static" in named.storage or "volatile" in named.quals:
            return None
        uses = [each for one in (use, *rest) for each in names_in(one) if each == name]
        if len(uses) != 1 or name not in names_in(use.rvalue) or has_side_effect(named.init):
            return None
        if has_side_effect(use.rvalue) or has_side_effect(use.lvalue) or _chooses(use.rvalue):
            return None
        if not _reads_changed(named.init, steps):
            return None
        value: c_ast.Node = named.init
        rounded = isinstance(value, c_ast.BinaryOp) and value.op in {"*", "/"}
        if rounded or self._values.type_of(value) != kind:
            value = c_ast.Cast(type_name(kind), value, value.coord)
        new = mapped(use, lambda each: each)
        new.rvalue = replaced(use.rvalue, key(c_ast.ID(name)), value)
        return new


def _chooses(node: c_ast.Node) -> bool:
    """Whether a part of the expression ``node`` may not be computed."""
    return any(
        isinstance(each, c_ast.TernaryOp) or (isinstance(each, c_ast.BinaryOp) and each.op in {"&&", "||"})
        for each in walk(node)
    )


def _reads_changed(value: c_ast.Node, steps: c_ast.Node) -> bool:
    """Whether ``value`` has elements of arrays or pointers in it that the loop ``steps`` changes."""
    changed = {root_of(target) for each in walk(steps) if (target := changed_operand(each)) is not None}
    return any(isinstance(each, c_ast.ArrayRef) and root_of(each) in changed for each in walk(value))
