"""Structures without names, written as literals: variables with them as initial values.

::

    y[i] = (complex){x[i], -x[i]};           complex complex_value = {x[i], -x[i]};
                                      ->     y[i] = complex_value;

    z = c ? (complex){1, 0} : w;             if (c) { complex complex_value = {1, 0}; z = complex_value; }
                                      ->     else z = w;
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from pycparser import c_ast

from polybuild.c.syntax_tree import duplicate, has_side_effect, mapped, walk
from polybuild.c.types import RecordType
from polybuild.normalise.names import unused_name
from polybuild.source.model import Callee, Region

_BODIES = ("stmt", "iftrue", "iffalse")


def with_named_literals(region: Region) -> Region:
    """``region`` with variables for such literals, also in what it calls; itself if there are none."""
    callees = {name: _with_named_inside(each) for name, each in region.callees.items()}
    if any(each is not region.callees[name] for name, each in callees.items()):
        region = dataclasses.replace(region, callees=callees)
    nodes = [each for one in region.statements for each in walk(one)]
    if not any(isinstance(each, c_ast.CompoundLiteral) for each in nodes):
        return region
    naming = _Naming(region, {each.name for each in nodes if isinstance(each, c_ast.Decl)})
    statements = naming.block(region.statements)
    return dataclasses.replace(region, statements=tuple(statements)) if naming.found else region


def _with_named_inside(callee: Callee) -> Callee:
    body = None if callee.body is None else with_named_literals(callee.body)
    return callee if body is callee.body else dataclasses.replace(callee, body=body)


class _Naming:
    """The naming of the literals of one region; ``found`` says whether there were any."""

    def __init__(self, region: Region, taken: set[str]) -> None:
        self._region = region
        self._taken = region.visible.may_mean_something() | taken
        self.found = False

    def block(self, nodes: Sequence[c_ast.Node]) -> list[c_ast.Node]:
        """The statements ``nodes`` of a block."""
        return [each for node in nodes for each in self._statement(node)]

    def _statement(self, node: c_ast.Node) -> list[c_ast.Node]:
        """What stands for a statement in its block: declarations, and itself."""
        if not any(self._is_structure(each) for each in walk(node)):
            return [node]
        if isinstance(node, c_ast.Compound):
            return [c_ast.Compound(self.block(node.block_items or ()), node.coord)]
        bodies = [each for name in _BODIES if (each := getattr(node, name, None)) is not None]
        if bodies and not isinstance(node, c_ast.TernaryOp):
            return [
                mapped(node, lambda each: self._body(each) if any(each is one for one in bodies) else each)
            ]
        if isinstance(node, c_ast.Decl) and self._is_structure(node.init):
            self.found = True
            plain = mapped(node, lambda each: each)
            plain.init = node.init.init
            return self._statement(plain)
        if isinstance(node, c_ast.Assignment) and self._is_chosen(node):
            return [self._chosen(node)]
        if _has_order(node):
            return [node]
        # operands of C come in any order: these may be first
        declared: list[c_ast.Node] = []
        changed = self._named(node, declared)
        return [*declared, changed]

    def _body(self, node: c_ast.Node) -> c_ast.Node:
        statements = self._statement(node)
        return statements[0] if len(statements) == 1 else c_ast.Compound(statements, node.coord)

    def _named(self, node: c_ast.Node, declared: list[c_ast.Node]) -> c_ast.Node:
        """``node`` with variables for its literals, which are ``declared``."""
        if not self._is_structure(node):
            return mapped(node, lambda each: self._named(each, declared))
        self.found = True
        kind = duplicate(node.type.type)
        name = unused_name(f"{self._word(kind)}_value", self._taken)
        self._taken |= {name}
        kind.declname = name
        values = self._named(node.init, declared)
        declared.append(c_ast.Decl(name, [], [], [], [], kind, values, None, coord=node.coord))
        return c_ast.ID(name, node.coord)

    @staticmethod
    def _word(kind: c_ast.TypeDecl) -> str:
        names = getattr(kind.type, "names", None) or [getattr(kind.type, "name", None) or "structure"]
        return str(names[-1])

    def _is_structure(self, node: c_ast.Node | None) -> bool:
        """Whether ``node`` is a literal of a structure."""
        if not isinstance(node, c_ast.CompoundLiteral) or not isinstance(node.type.type, c_ast.TypeDecl):
            return False
        kind = self._region.visible.scope.resolve(node.type)
        return isinstance(kind, RecordType) and kind.kind == "struct"

    def _is_chosen(self, node: c_ast.Assignment) -> bool:
        """Whether ``node`` sets a structure to one of two, of which one is a literal."""
        value = node.rvalue
        return (
            isinstance(value, c_ast.TernaryOp)
            and node.op == "="
            and not has_side_effect(node.lvalue)
            and any(map(self._is_structure, (value.iftrue, value.iffalse)))
        )

    def _chosen(self, node: c_ast.Assignment) -> c_ast.If:
        """``node`` as a condition with an assignment on either side."""
        chosen = node.rvalue
        yes, no = (
            self._body(c_ast.Assignment("=", duplicate(node.lvalue), each, node.coord))
            for each in (chosen.iftrue, chosen.iffalse)
        )
        self.found = True
        return c_ast.If(chosen.cond, yes, no, node.coord)


def _has_order(node: c_ast.Node) -> bool:
    """Whether parts of ``node`` are evaluated at some times alone, or after others."""
    if isinstance(node, c_ast.TernaryOp | c_ast.ExprList):
        return True
    if isinstance(node, c_ast.BinaryOp) and node.op in {"&&", "||"}:
        return True
    parts = (node.args or ()) if isinstance(node, c_ast.FuncCall) else node
    return any(map(_has_order, parts))
