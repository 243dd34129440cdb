"""Unions of the function that take numbers to bits in the region: as unions of the blocks that use them.

::

    union { float f; unsigned u; } c;
    for (i = 0; i < n; i++) {                for (i = 0; i < n; i++) {
      c.f = x[i];                      ->      union { float f; unsigned u; } c_here;
      k[i] = c.u >> 23;                        c_here.f = x[i];
    }                                          k[i] = c_here.u >> 23;
                                             }
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from pycparser import c_ast

from polybuild.c.symbols import StorageClass
from polybuild.c.syntax_tree import duplicate, mapped, structure_of, walk
from polybuild.c.types import RecordType
from polybuild.diagnostics import Unsupported
from polybuild.normalise.names import Names, Variable, resolve, unused_name
from polybuild.normalise.upward_exposed import read_after
from polybuild.normalise.whole_elements import WholeElements
from polybuild.source.model import Region

_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)


def with_private_unions(region: Region) -> Region:
    """``region`` with unions of its own for those of the function that it sets anew; itself without any."""
    symbols = region.visible.symbols.values()
    if region.index < 0 or not any(_is_union(each.type) for each in symbols):
        return region
    try:
        names = resolve(region)
    except Unsupported:
        return region  # the model says what is wrong
    live = {each.partition(".")[0] for each in read_after(region.function, region.index)}
    taken = region.visible.may_mean_something() | {each.name for each in names.variables.values()}
    used = {each.name for each in names.variables.values() if _is_private(each)}
    for name in sorted(used - live):
        variable = next(each for each in names.variables.values() if each.name == name and _is_private(each))
        blocks = _UnionBlocks(names, variable, unused_name(f"{name}_here", taken), region)
        statements = blocks.placed(region.statements, in_loop=False)
        if statements is not None:
            taken |= {blocks.name}
            region = dataclasses.replace(region, statements=tuple(statements))
            names = resolve(region)
    return region


def _is_union(kind: object) -> bool:
    return isinstance(kind, RecordType) and kind.kind == "union"


def _is_private(variable: Variable) -> bool:
    """Whether ``variable`` is a union of the function that nobody else knows."""
    own = variable.storage in {StorageClass.LOCAL, StorageClass.PARAMETER} and not variable.local
    hidden = variable.address_taken or variable.volatile or variable.thread_local
    return own and not hidden and _is_union(variable.type)


class _UnionBlocks:
    """Where ``variable`` may be declared anew, by another ``name``."""

    def __init__(self, names: Names, variable: Variable, name: str, region: Region) -> None:
        self._names = names
        self._variable = variable
        self._elements = WholeElements(region, names)
        self.name = name

    def placed(self, items: Sequence[c_ast.Node], *, in_loop: bool) -> list[c_ast.Node] | None:
        """``items`` of a block with the union declared where parts set it first; None if none does."""
        using = [at for at, each in enumerate(items) if self._mentions(each)]
        if not using:
            return list(items)
        if in_loop and self._sets_all(items[using[0]]):
            return self._declared(items, using[0], using[-1])
        inside = {at: self._inside(items[at], in_loop=in_loop) for at in using}
        if None in inside.values():
            return None
        return [inside.get(at) or each for at, each in enumerate(items)]

    def _inside(self, node: c_ast.Node, *, in_loop: bool) -> c_ast.Node | None:
        """``node`` with the union declared in its blocks; None where what controls them looks at it."""
        if isinstance(node, c_ast.Compound):
            items = self.placed(node.block_items or (), in_loop=in_loop)
            return None if items is None else c_ast.Compound(items, node.coord)
        if not isinstance(node, (c_ast.If, *_LOOPS)):
            return None
        bodies = [each for each in (getattr(node, "stmt", None), *_branches(node)) if each is not None]
        if any(self._mentions(each) for each in node if not any(each is body for body in bodies)):
            return None
        in_loop = in_loop or isinstance(node, _LOOPS)
        new = {
            id(body): self._inside(body, in_loop=in_loop) if self._mentions(body) else body for body in bodies
        }
        if None in new.values():
            return None
        return mapped(node, lambda each: new.get(id(each), each))

    def _declared(self, items: Sequence[c_ast.Node], first: int, last: int) -> list[c_ast.Node]:
        """``items`` with those from the ``first`` to the ``last`` in a block that declares the union.

        What they declare may be meant further on.
        """
        if any(isinstance(each, c_ast.Decl | c_ast.DeclList) for each in items[first : last + 1]):
            last = len(items) - 1
        block = [self._declaration(items[first].coord), *map(self._renamed, items[first : last + 1])]
        return [*items[:first], c_ast.Compound(block, items[first].coord), *items[last + 1 :]]

    def _declaration(self, coord: object) -> c_ast.Decl:
        kind = duplicate(self._variable.declaration.type)
        kind.declname = self.name
        if isinstance(kind.type, c_ast.Union) and kind.type.name:
            kind.type.decls = None  # it is known
        return c_ast.Decl(self.name, [], [], [], [], kind, None, None, coord=coord)

    def _renamed(self, node: c_ast.Node) -> c_ast.Node:
        if self._names.variables.get(node) is self._variable:
            return c_ast.ID(self.name, node.coord)
        return mapped(node, self._renamed)

    def _mentions(self, node: c_ast.Node) -> bool:
        return any(self._names.variables.get(each) is self._variable for each in walk(node))

    def _sets_all(self, node: c_ast.Node) -> bool:
        """Whether ``node`` sets a member of the union that is as large as all of it, without a look at it."""
        if not isinstance(node, c_ast.Assignment) or node.op != "=" or self._mentions(node.rvalue):
            return False
        target, kind = node.lvalue, self._variable.type
        assert isinstance(kind, RecordType)  # noqa: S101 - others are not asked for
        if not isinstance(target, c_ast.StructRef) or not isinstance(target.name, c_ast.ID):
            return False
        if structure_of(target) is target or self._names.variables.get(target.name) is not self._variable:
            return False
        sizes = {each.name: self._elements.size(each.type) for each in kind.fields or ()}
        own = sizes.get(target.field.name)
        return own is not None and all(each is not None and each <= own for each in sizes.values())


def _branches(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """What an ``if`` decides on."""
    yield from (getattr(node, each, None) for each in ("iftrue", "iffalse"))
