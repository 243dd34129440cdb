"""Pointers that conditions on numbers choose: what uses them stands once for each choice.

::

    for (t = 0; t < steps; t++) {              for (t = 0; t < steps; t++) {
      double *from = t % 2 ? b : a;              if (t % 2) {
      double *to = t % 2 ? a : b;        ->        double *from = b; double *to = a;
      for (i...) to[i] = f(from[i]);               for (i...) to[i] = f(from[i]);
    }                                            } else {
                                                   double *from = a; double *to = b;
                                                   for (i...) to[i] = f(from[i]);
                                                 }
                                               }

So do ``if (t % 2) from = b; else from = a;``, choices within expressions, ``(t % 2 ? b : a)[i]``, whose
conditions are taken out of loops (loop unswitching: F. Allen, J. Cocke, "A catalogue of optimizing
transformations", 1972), and tables, ``double *p[2] = {a, b};``. Then each pointer is one that normalisation
follows, and steps alternate between arrays as those of ``u[t % 2]`` do.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from pycparser import c_ast

from polybuild.c.literals import integer_value
from polybuild.c.symbols import StorageClass
from polybuild.c.syntax_tree import changed_operand, duplicate, key, mapped, names_addressed_in, walk
from polybuild.c.synthetic import number
from polybuild.c.types import ArrayType, IntegerType, PointerType
from polybuild.c.typing import type_of
from polybuild.effort import POINTER_CHOICES
from polybuild.normalise.upward_exposed import read_after
from polybuild.source.model import Region

_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)
_JUMPS = (c_ast.Label, c_ast.Goto, c_ast.Switch, c_ast.Case, c_ast.Default)
_DIVISIONS = ("/", "%")
_SHIFTS = ("<<", ">>")


def split_pointer_choices(region: Region) -> Region:
    """``region`` with a copy of what uses chosen pointers for each choice; itself if there are none.

    Conditions are numbers that are computed from variables alone. With too many choices all stays as it is.
    """
    nodes = [each for one in region.statements for each in walk(one)]
    if any(isinstance(each, _JUMPS) for each in nodes):
        return region
    statements = _without_tables(region, nodes)
    splitter = _ChoiceSplitter(region, statements)
    found = splitter.items(statements)
    if splitter.left < 0 or (not splitter.found and statements is region.statements):
        return region
    return dataclasses.replace(region, statements=tuple(found))


def _without_tables(region: Region, nodes: Sequence[c_ast.Node]) -> Sequence[c_ast.Node]:
    """The statements of ``region`` with choices in place of the elements of tables of pointers."""
    targets = [each for each in map(changed_operand, nodes) if each is not None]
    targets += [each.expr for each in nodes if isinstance(each, c_ast.UnaryOp) and each.op == "&"]
    changed = {each.name for each in targets if isinstance(each, c_ast.ID)}
    changed |= {each.name.name for each in targets if _is_element(each)}
    after = read_after(region.function, region.index) if region.index >= 0 else frozenset[str]()
    tables: dict[str, Sequence[c_ast.Node]] = {}
    for each in nodes:
        if isinstance(each, c_ast.Decl) and _is_table(each):
            values = each.init.exprs
            mentions = sum(isinstance(one, c_ast.ID) and one.name == each.name for one in nodes)
            elements = [one for one in nodes if _is_element(one) and one.name.name == each.name]
            declared = sum(isinstance(one, c_ast.Decl) and one.name == each.name for one in nodes)
            kept = changed.isdisjoint({each.name, *(one.name for one in values)}) and each.name not in after
            if (
                kept
                and declared == 1
                and mentions == len(elements)
                and all(_is_plain(one.subscript) for one in elements)
            ):
                tables[each.name] = values
    if not tables:
        return region.statements
    visible = region.visible.may_mean_something()
    if not visible.isdisjoint(tables):
        return region.statements

    def without(node: c_ast.Node) -> c_ast.Node:
        node = mapped(node, without)
        if isinstance(node, c_ast.Compound) and node.block_items:
            node.block_items = [each for each in node.block_items if not _declares(each, tables)]
        if isinstance(node, c_ast.ArrayRef) and isinstance(node.name, c_ast.ID) and node.name.name in tables:
            return _chosen(node.subscript, tables[node.name.name])
        return node

    return [without(each) for each in region.statements if not _declares(each, tables)]


def _declares(node: c_ast.Node, names: Mapping[str, object]) -> bool:
    return isinstance(node, c_ast.Decl) and node.name in names


def _is_table(node: c_ast.Decl) -> bool:
    """Whether ``node`` declares an array of pointers, each of which gets the value of a variable."""
    return (
        isinstance(node.type, c_ast.ArrayDecl)
        and isinstance(node.type.type, c_ast.PtrDecl)
        and isinstance(node.init, c_ast.InitList)
        and all(isinstance(each, c_ast.ID) for each in node.init.exprs)
        and len(node.init.exprs) > 1
        and (node.type.dim is None or _constant(node.type.dim) == len(node.init.exprs))
    )


def _constant(node: c_ast.Node) -> int | None:
    """The value of a constant, None of anything else."""
    return integer_value(node.value) if isinstance(node, c_ast.Constant) and "int" in node.type else None


def _is_element(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.ArrayRef) and isinstance(node.name, c_ast.ID)


def _chosen(subscript: c_ast.Node, values: Sequence[c_ast.Node]) -> c_ast.Node:
    """That of ``values`` which ``subscript`` chooses."""
    *others, chosen = map(duplicate, values)
    for place in reversed(range(len(others))):
        condition = c_ast.BinaryOp("==", duplicate(subscript), number(place), subscript.coord)
        chosen = c_ast.TernaryOp(condition, others[place], chosen, subscript.coord)
    return chosen


def _is_plain(condition: c_ast.Node) -> bool:
    """Whether ``condition`` is computed from numbers and variables, wherever it stands, without a trap."""
    if isinstance(condition, c_ast.ID):
        return True
    if isinstance(condition, c_ast.Constant):
        return "int" in condition.type
    if isinstance(condition, c_ast.UnaryOp):
        return condition.op in {"!", "-", "~", "+"} and _is_plain(condition.expr)
    if not isinstance(condition, c_ast.BinaryOp) or condition.op in _SHIFTS:
        return False
    if condition.op in _DIVISIONS and not _constant(condition.right):
        return False
    return _is_plain(condition.left) and _is_plain(condition.right)


class _ChoiceSplitter:
    """Rewrites statements of ``region``; ``left`` choices may still be split, ``found`` says if any was."""

    def __init__(self, region: Region, statements: Sequence[c_ast.Node]) -> None:
        self._region = region
        self.left, self.found = POINTER_CHOICES, False
        nodes = [each for one in statements for each in walk(one)]
        declared = [each for each in nodes if isinstance(each, c_ast.Decl)]
        self._declared: dict[str, list[c_ast.Node]] = {}
        for each in declared:
            self._declared.setdefault(each.name, []).append(each.type)
        self._addressed = names_addressed_in(nodes)

    def items(self, items: Sequence[c_ast.Node]) -> list[c_ast.Node]:
        """The statements ``items`` of a block, rewritten."""
        found: list[c_ast.Node] = []
        for position, item in enumerate(items):
            condition = self._condition_of(item)
            if condition is not None:
                end = self._last_use(items, position)
                found.append(self._split(condition, items[position:end]))
                return [*found, *self.items(items[end:])]
            found.append(self._statement(item))
        return found

    def _statement(self, node: c_ast.Node) -> c_ast.Node:
        """One statement, rewritten: a choice that is the same all over it is made around it."""
        if isinstance(node, c_ast.Compound):
            return c_ast.Compound(self.items(node.block_items or ()), node.coord)
        condition = None if isinstance(node, c_ast.Decl) else self._fixed_choice(node)
        if condition is not None:
            return self._split(condition, [node])
        if isinstance(node, c_ast.For):
            return c_ast.For(node.init, node.cond, node.next, self._statement(node.stmt), node.coord)
        if isinstance(node, _LOOPS):
            return type(node)(node.cond, self._statement(node.stmt), node.coord)
        if isinstance(node, c_ast.If):
            other = None if node.iffalse is None else self._statement(node.iffalse)
            return c_ast.If(node.cond, self._statement(node.iftrue), other, node.coord)
        return node

    def _split(self, condition: c_ast.Node, items: Sequence[c_ast.Node]) -> c_ast.Node:
        """``items`` once where ``condition`` holds, and once where it does not."""
        self.found, self.left = True, self.left - 1
        coord = items[0].coord
        if self.left < 0:
            return c_ast.Compound(list(items), coord)
        # what is chosen by the same condition later is known, too, unless something changes it
        same = all(self._is_fixed(each, items) for each in _names(condition))
        known, others = (items, []) if same else (items[:1], items[1:])
        both = []
        for holds in (True, False):
            made = _opened([_decided(duplicate(each), key(condition), holds=holds) for each in known])
            both.append(c_ast.Compound(self.items([*made, *map(duplicate, others)]), coord))
        return c_ast.If(duplicate(condition), *both, coord)

    # What is chosen

    def _condition_of(self, item: c_ast.Node) -> c_ast.Node | None:
        """The condition by which ``item`` sets pointers alone, None if it is no such statement."""
        if isinstance(item, c_ast.If) and self._is_condition(item.cond):
            branches = [each for each in (item.iftrue, item.iffalse) if each is not None]
            parts = [one for each in branches for one in _opened([each])]
            return item.cond if parts and all(self._sets_pointer(each) for each in parts) else None
        value = None
        if isinstance(item, c_ast.Decl) and isinstance(item.type, c_ast.PtrDecl):
            value = item.init
        elif self._sets_pointer(item):
            value = item.rvalue
        if isinstance(value, c_ast.TernaryOp) and self._is_choice(value):
            return value.cond
        return None

    def _sets_pointer(self, item: c_ast.Node) -> bool:
        return (
            isinstance(item, c_ast.Assignment)
            and item.op == "="
            and isinstance(item.lvalue, c_ast.ID)
            and self._is_pointer(item.lvalue)
            and self._is_pointer(item.rvalue)
        )

    def _fixed_choice(self, node: c_ast.Node) -> c_ast.Node | None:
        """The condition of the first choice of pointers in ``node`` that is the same all over it."""
        for each in walk(node):
            choice = isinstance(each, c_ast.TernaryOp) and self._is_choice(each)
            if choice and all(self._is_fixed(name, [node]) for name in _names(each.cond)):
                return each.cond
        return None

    def _is_choice(self, node: c_ast.TernaryOp) -> bool:
        return (
            self._is_condition(node.cond) and self._is_pointer(node.iftrue) and self._is_pointer(node.iffalse)
        )

    def _is_condition(self, node: c_ast.Node) -> bool:
        return _is_plain(node) and all(map(self._is_number, _names(node)))

    def _is_number(self, name: str) -> bool:
        """Whether ``name`` is an integer that nothing but the region's own assignments changes."""
        if name in self._addressed:
            return False
        kinds, symbol = self._declared.get(name, []), self._region.visible.symbols.get(name)
        if any(not isinstance(each, c_ast.TypeDecl) or "volatile" in each.quals for each in kinds):
            return False
        if symbol is None:
            return bool(kinds)
        if symbol.volatile or symbol.thread_local or symbol.address_taken:
            return False
        own = symbol.storage in {StorageClass.LOCAL, StorageClass.PARAMETER}
        return own and isinstance(symbol.type, IntegerType)

    def _is_pointer(self, node: c_ast.Node) -> bool:
        """Whether the value of ``node`` is a pointer, as far as that is seen."""
        if isinstance(node, c_ast.TernaryOp):
            return self._is_pointer(node.iftrue) and self._is_pointer(node.iffalse)
        if isinstance(node, c_ast.UnaryOp) and node.op == "&":
            return True
        if isinstance(node, c_ast.BinaryOp):
            return node.op in {"+", "-"} and self._is_pointer(node.left)
        if isinstance(node, c_ast.ID) and node.name in self._declared:
            kinds = self._declared[node.name]
            own = all(isinstance(each, c_ast.PtrDecl | c_ast.ArrayDecl) for each in kinds)
            return own and node.name not in self._region.visible.symbols
        if not isinstance(node, c_ast.ID | c_ast.ArrayRef) or any(
            each in self._declared for each in _names(node)
        ):
            return False
        kind = type_of(node, dict(self._region.visible.symbols), self._region.visible)
        return isinstance(kind, PointerType | ArrayType)

    # What it is good for

    @staticmethod
    def _is_fixed(name: str, items: Sequence[c_ast.Node]) -> bool:
        """Whether nothing in ``items`` changes the variable ``name``, or declares one."""
        for each in (one for item in items for one in walk(item)):
            if isinstance(each, c_ast.Decl) and each.name == name:
                return False
            target = changed_operand(each)
            if isinstance(target, c_ast.ID) and target.name == name:
                return False
        return True

    @staticmethod
    def _last_use(items: Sequence[c_ast.Node], position: int) -> int:
        """Behind the last of ``items`` that mentions what the one at ``position`` sets, or declares."""
        names = {each.name for each in walk(items[position]) if isinstance(each, c_ast.Decl)}
        targets = map(changed_operand, walk(items[position]))
        names |= {each.name for each in targets if isinstance(each, c_ast.ID)}
        end, at = position + 1, position + 1
        while True:
            uses = [
                number
                for number, each in enumerate(items)
                if number >= at and not names.isdisjoint(_names(each))
            ]
            end = max([end, *(each + 1 for each in uses)])
            declared = {
                one.name for each in items[at:end] for one in walk(each) if isinstance(one, c_ast.Decl)
            }
            if declared <= names:
                return end
            names |= declared


def _names(node: c_ast.Node) -> Iterator[str]:
    """The names of variables in ``node``, those in casts and sizes included."""
    return (str(each.name) for each in walk(node) if isinstance(each, c_ast.ID))


def _opened(items: Sequence[c_ast.Node]) -> list[c_ast.Node]:
    """``items`` without braces around them, and without statements that do nothing."""
    found: list[c_ast.Node] = []
    for each in items:
        if isinstance(each, c_ast.Compound):
            found += each.block_items or ()
        elif not isinstance(each, c_ast.EmptyStatement):
            found.append(each)
    return found


def _decided(node: c_ast.Node, condition: object, *, holds: bool) -> c_ast.Node:
    """``node`` where a condition of this key ``holds``, or not."""
    if isinstance(node, c_ast.TernaryOp | c_ast.If) and key(node.cond) == condition:
        chosen = node.iftrue if holds else node.iffalse
        if chosen is None:
            return c_ast.EmptyStatement(node.coord)
        return _decided(chosen, condition, holds=holds)
    return mapped(node, lambda each: _decided(each, condition, holds=holds))
