"""Counters and pointers that start where data say: the start gets a name, and they are followed from there.

::

    k = row[i];                               int k_start = row[i];
    while (k < row[i + 1]) {                  for (k = k_start; k < row[i + 1]; k++)
      s += v[k] * x[col[k]]; k++;      ->       s += v[k] * x[col[k]];
    }

    p = v + row[i], c = col + row[i];         long long p_start = row[i], c_start = row[i];
    while (p < v + row[i + 1])         ->     for (t = 0; t < row[i + 1] - p_start; t++)
      s += *p++ * x[*c++];                      s += v[p_start + t] * x[col[c_start + t]];

    const float *row = rows[line[y]];           long long row_start = line[y];
    to[x] = row[x] + row[x + 1];       ->       to[x] = rows[row_start][x] + rows[row_start][x + 1];

Such a name is known as long as the block is that sets the variable. Numbers that take no steps keep their
values as they are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from dataclasses import field

from pycparser import c_ast

from polybuild.c.basic_types import LONG_LONG
from polybuild.c.conversions import decayed
from polybuild.c.syntax_tree import changed_operand, has_side_effect
from polybuild.c.synthetic import declarator
from polybuild.c.types import IntegerType, PointerType
from polybuild.normalise.expressions import Evaluator, points_alike
from polybuild.normalise.names import Names, Variable
from polybuild.normalise.rows import subscript_of
from polybuild.normalise.state import PointerValue, SymbolicState
from polybuild.normalise.structure import reads_memory
from polybuild.normalise.sums import Sum, sum_of, wide_tree


def walking_variables(names: Names, nodes: Collection[c_ast.Node]) -> frozenset[Variable]:
    """The variables whose starts may get names: those that take steps, and all pointers."""
    stepped = {names.variables[each] for each in map(_stepped, nodes) if each in names.variables}
    stepped |= {each for each in names.written if isinstance(each.type, PointerType)}
    return frozenset(stepped)


def _stepped(node: c_ast.Node) -> c_ast.Node | None:
    """The variable that ``node`` moves on by what is no data; None if it does anything else."""
    target = changed_operand(node)
    if isinstance(node, c_ast.Assignment) and (node.op not in {"+=", "-="} or reads_memory(node.rvalue)):
        return None
    return target if isinstance(target, c_ast.ID) else None


def named_start(
    node: c_ast.Node, variable: Variable, value: c_ast.Node, state: SymbolicState
) -> list[c_ast.Node] | None:
    """The declarations of names for where ``variable`` starts; ``state`` knows it by these then.

    None where what the statement ``node`` sets it to, ``value``, is no such start.
    """
    if variable not in state.context.walking or has_side_effect(value):
        return None
    if isinstance(variable.type, PointerType):
        return _PointerStart(node, variable, state).named(value)
    start = Evaluator(state).evaluate(value)
    whole = isinstance(state.typing(start), IntegerType)
    if not isinstance(variable.type, IntegerType) or not whole or state.is_fixed(start):
        return None
    name = c_ast.ID(state.start_name(node, variable), node.coord)
    declaration = _declared(name, variable.type, start, state)
    state.values[variable] = name
    return [declaration]


@dataclasses.dataclass(slots=True)
class _PointerStart:
    """Names for what data tell of the value that the statement ``node`` gives the pointer ``variable``."""

    node: c_ast.Node
    variable: Variable
    state: SymbolicState
    declarations: list[c_ast.Node] = field(default_factory=list)

    def named(self, value: c_ast.Node) -> list[c_ast.Node] | None:
        """Their declarations, after which the state knows the pointer; None where it is no such start."""
        address = Evaluator(self.state).address(value)
        if address is None or not points_alike(self.variable.type, decayed(self.state.typing(address.base))):
            return None
        base = self._with_names(address.base)
        if not self.state.is_fixed_base(base):
            return None
        offset = address.offset
        if not all(self.state.is_fixed(each.node) for each in offset.terms.values()):
            offset = self._name(offset)
        if not self.declarations:
            return None
        self.state.values[self.variable] = PointerValue(base, offset)
        return self.declarations

    def _with_names(self, base: c_ast.Node) -> c_ast.Node:
        """``base`` with names for the subscripts that data tell: the row, or the structure, that is meant."""
        if isinstance(base, c_ast.StructRef):
            return c_ast.StructRef(self._with_names(base.name), base.type, base.field, base.coord)
        if not isinstance(base, c_ast.ArrayRef):
            return base
        subscript = base.subscript
        if not self.state.is_fixed(subscript):
            whole = sum_of(subscript, LONG_LONG, self.state.typing)
            subscript = subscript_of(self._name(whole), self.state.typing)
        return c_ast.ArrayRef(self._with_names(base.name), subscript, base.coord)

    def _name(self, offset: Sum) -> Sum:
        """The name of ``offset``."""
        start = wide_tree(offset, LONG_LONG, self.state.typing)
        position = len(self.declarations)
        name = c_ast.ID(self.state.start_name(self.node, self.variable, position), self.node.coord)
        self.declarations.append(_declared(name, LONG_LONG, start, self.state))
        return sum_of(name, LONG_LONG, self.state.typing)


def _declared(name: c_ast.ID, kind: IntegerType, start: c_ast.Node, state: SymbolicState) -> c_ast.Decl:
    """The declaration of ``name``, which ``state`` knows from here on."""
    state.declare(name.name, kind)
    return c_ast.Decl(name.name, [], [], [], [], declarator(name.name, kind), start, None, name.coord)
