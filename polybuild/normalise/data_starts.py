"""Counters and pointers that start where data say: the start gets a name, and they are followed from there.

::

    k = row[i];                               int k_start = row[i];
    while (k < row[i + 1]) {                  for (k = k_start; k < row[i + 1]; k++)
      s += v[k] * x[col[k]]; k++;      ->       s += v[k] * x[col[k]];
    }

    p = v + row[i], c = col + row[i];         long long p_start = row[i], c_start = row[i];
    while (p < v + row[i + 1])         ->     for (t = 0; t < row[i + 1] - p_start; t++)
      s += *p++ * x[*c++];                      s += v[p_start + t] * x[col[c_start + t]];

Such a name is known as long as the block is that sets the variable. Variables that take no steps, and in
regions without walking pointers all pointers, keep their values as they are.
"""

from __future__ import annotations

from collections.abc import Collection

from pycparser import c_ast

from polybuild.c.basic_types import LONG_LONG
from polybuild.c.syntax_tree import changed_operand, has_side_effect
from polybuild.c.synthetic import declarator
from polybuild.c.types import IntegerType, PointerType
from polybuild.normalise.expressions import Evaluator
from polybuild.normalise.names import Names, Variable
from polybuild.normalise.state import PointerValue, SymbolicState
from polybuild.normalise.structure import reads_memory
from polybuild.normalise.sums import sum_of, wide_tree


def walking_variables(names: Names, nodes: Collection[c_ast.Node]) -> frozenset[Variable]:
    """The variables whose starts may get names: those that take steps.

    All pointers where some of these are pointers.
    """
    stepped = {names.variables[each] for each in map(_stepped, nodes) if each in names.variables}
    if any(isinstance(each.type, PointerType) for each in stepped):
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
) -> c_ast.Decl | None:
    """The declaration of a name for where ``variable`` starts; ``state`` knows it by that then.

    None where what the statement ``node`` sets it to, ``value``, is no such start.
    """
    if variable not in state.context.walking or has_side_effect(value):
        return None
    if isinstance(variable.type, PointerType):
        address = Evaluator(state).address(value)
        if address is None or not state.is_fixed_base(address.base):
            return None
        if all(state.is_fixed(each.node) for each in address.offset.terms.values()):
            return None
        start = wide_tree(address.offset, LONG_LONG, state.typing)
        name = c_ast.ID(state.start_name(node, variable), node.coord)
        declaration = _declared(name, LONG_LONG, start, state)
        state.values[variable] = PointerValue(address.base, sum_of(name, LONG_LONG, state.typing))
        return declaration
    start = Evaluator(state).evaluate(value)
    whole = isinstance(state.typing(start), IntegerType)
    if not isinstance(variable.type, IntegerType) or not whole or state.is_fixed(start):
        return None
    name = c_ast.ID(state.start_name(node, variable), node.coord)
    declaration = _declared(name, variable.type, start, state)
    state.values[variable] = name
    return declaration


def _declared(name: c_ast.ID, kind: IntegerType, start: c_ast.Node, state: SymbolicState) -> c_ast.Decl:
    """The declaration of ``name``, which ``state`` knows from here on."""
    state.declare(name.name, kind)
    return c_ast.Decl(name.name, [], [], [], [], declarator(name.name, kind), start, None, name.coord)
