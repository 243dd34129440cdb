"""Updates under the same condition, one after the other, as one: what is kept of the best value so far.

::

    where = x[i] > best ? i : where;         ->    if (x[i] > best) {
    best = x[i] > best ? x[i] : best;                where = i;
                                                     best = x[i];
    if (x[i] > best) where = i;                    }
    if (x[i] > best) best = x[i];

All but the last one leave the condition as it is; the last one changes it, which is why they come together:
one minimum or maximum with what belongs to it. Only variables of the function's own are updated.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from pycparser import c_ast

from polybuild.c.mathematics import MAGNITUDES
from polybuild.c.symbols import StorageClass, Symbol
from polybuild.c.syntax_tree import changed_operand, key, mapped, names_in, walk
from polybuild.c.types import FloatingType, IntegerType
from polybuild.source.model import Region
from polybuild.values import dataclass


def join_conditions(region: Region) -> Region:
    """``region`` with updates under one condition joined; itself where there are none."""
    nodes = [each for statement in region.statements for each in walk(statement)]
    if sum(isinstance(each, c_ast.If | c_ast.TernaryOp) for each in nodes) < 2:
        return region
    declared = {each.name for each in nodes if isinstance(each, c_ast.Decl)}
    own = {name for name, each in region.visible.symbols.items() if name not in declared and _is_own(each)}
    own |= {each.name for each in nodes if isinstance(each, c_ast.Decl) and _is_scalar(each)}
    own -= {
        each.expr.name
        for each in nodes
        if isinstance(each, c_ast.UnaryOp) and each.op == "&" and isinstance(each.expr, c_ast.ID)
    }

    def rewritten(node: c_ast.Node) -> c_ast.Node:
        if not any(isinstance(each, c_ast.Compound) for each in walk(node)):
            return node
        new = mapped(node, rewritten)
        if isinstance(new, c_ast.Compound) and new.block_items:
            new.block_items = _joined(new.block_items, own)
        return new

    return dataclasses.replace(region, statements=tuple(map(rewritten, region.statements)))


@dataclass(frozen=True, slots=True)
class _Conditional:
    """Assignments to variables of the function's own under ``condition``."""

    condition: c_ast.Node
    assignments: tuple[c_ast.Assignment, ...]

    @property
    def changed(self) -> set[str]:
        """The variables that are assigned."""
        return {str(each.lvalue.name) for each in self.assignments}


def _joined(items: Sequence[c_ast.Node], own: set[str]) -> list[c_ast.Node]:
    found: list[c_ast.Node] = []
    pending: list[tuple[c_ast.Node, _Conditional]] = []
    for each in items:
        conditional = _conditional(each, own)
        if conditional is None or (pending and key(pending[0][1].condition) != key(conditional.condition)):
            found += [node for node, _ in pending]
            pending = []
        if conditional is None:
            found.append(each)
            continue
        pending.append((each, conditional))
        if conditional.changed.intersection(names_in(conditional.condition)):
            found += _together(pending)
            pending = []
    return [*found, *(node for node, _ in pending)]


def _together(pending: Sequence[tuple[c_ast.Node, _Conditional]]) -> list[c_ast.Node]:
    """One update of those ``pending``, of which the last one alone changes their condition."""
    if len(pending) == 1:
        return [pending[0][0]]
    condition = pending[0][1].condition
    assignments = [each for _, conditional in pending for each in conditional.assignments]
    return [c_ast.If(condition, c_ast.Compound(assignments, condition.coord), None, condition.coord)]


def _conditional(node: c_ast.Node, own: set[str]) -> _Conditional | None:
    """``node`` as assignments under a condition, None if it is something else."""
    if isinstance(node, c_ast.Assignment) and node.op == "=" and isinstance(node.rvalue, c_ast.TernaryOp):
        chosen = node.rvalue
        if key(chosen.iffalse) != key(node.lvalue):
            return None
        condition = chosen.cond
        assignments = [c_ast.Assignment("=", node.lvalue, chosen.iftrue, node.coord)]
    elif isinstance(node, c_ast.If) and node.iffalse is None:
        condition, assignments = node.cond, _statements(node.iftrue)
    else:
        return None
    plain = all(
        isinstance(each, c_ast.Assignment)
        and each.op == "="
        and isinstance(each.lvalue, c_ast.ID)
        and each.lvalue.name in own
        and not _changes(each.rvalue)
        for each in assignments
    )
    return _Conditional(condition, tuple(assignments)) if plain and not _changes(condition) else None


def _changes(expression: c_ast.Node) -> bool:
    """Whether evaluating ``expression`` may change something, as every call but that of a magnitude may."""
    return any(
        changed_operand(each) is not None
        or (
            isinstance(each, c_ast.FuncCall)
            and not (isinstance(each.name, c_ast.ID) and each.name.name in MAGNITUDES.values())
        )
        for each in walk(expression)
    )


def _statements(branch: c_ast.Node) -> list[c_ast.Node]:
    """The expressions that ``branch`` evaluates one after the other."""
    if isinstance(branch, c_ast.Compound):
        return [one for each in branch.block_items or () for one in _statements(each)]
    return list(branch.exprs) if isinstance(branch, c_ast.ExprList) else [branch]


def _is_scalar(declaration: c_ast.Decl) -> bool:
    """Whether a variable that the region declares is one number, which only it knows."""
    return isinstance(declaration.type, c_ast.TypeDecl) and not {"static", "extern"} & {*declaration.storage}


def _is_own(symbol: Symbol) -> bool:
    own = symbol.storage in {StorageClass.LOCAL, StorageClass.PARAMETER} and not symbol.address_taken
    plain = not symbol.volatile and not symbol.thread_local
    return own and plain and isinstance(symbol.type, IntegerType | FloatingType)
