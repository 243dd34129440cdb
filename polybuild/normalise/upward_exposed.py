"""Which variables the code after a region may read before it writes them.

A walk over the syntax tree in execution order. Plain names count, and members of
structures with one (``p.x``): they are *overwritten* once an assignment to them, or to
all of the structure, has certainly run. Everything doubtful (jumps by ``goto``, names
that are declared twice) counts as a read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pycparser import c_ast

from polybuild.c.syntax_tree import walk
from polybuild.poly.memory import Itself, remembered
from polybuild.source.blocks import begin_pragma, end_pragma, place_region

Path = tuple[str, ...]

Wholes = Mapping[str, Sequence[Path]]
"""The members that make up each of some structures."""

_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)


def read_after(function: c_ast.FuncDef, index: int, wholes: Wholes | None = None) -> frozenset[str]:
    """Names whose value at the end of region ``index`` of ``function`` may still be read.

    ``wholes`` are the members that make up structures. Lifetimes are not considered: globals
    and objects whose address is taken may be read by others.
    """
    return _read_after(function, index, wholes) if wholes else _plainly_read(Itself(function), index)


@remembered  # whoever rewrites a region asks for the same
def _plainly_read(function: Itself[c_ast.FuncDef], index: int) -> frozenset[str]:
    return _read_after(function.value, index, {})


def _read_after(function: c_ast.FuncDef, index: int, wholes: Wholes) -> frozenset[str]:
    placement = place_region(function, index)
    everything = list(walk(function.body))
    mentioned = frozenset(each.name for each in everything if isinstance(each, c_ast.ID))
    if placement is None or any(isinstance(each, c_ast.Goto | c_ast.Label) for each in everything):
        return mentioned
    reads = _UpwardExposedReads(_ambiguous(function), wholes)
    inner = placement.ancestors[-1]
    reads.sequence(placement.following)
    for outer in reversed(placement.ancestors[:-1]):
        reads.continue_after(outer, inner)
        inner = outer
    return frozenset(reads.found)


def read_before_written(statements: Sequence[c_ast.Node], wholes: Wholes) -> frozenset[str]:
    """Names whose value before ``statements`` these may read; ``wholes`` are the members of structures."""
    everything = [each for statement in statements for each in walk(statement)]
    if any(isinstance(each, c_ast.Goto | c_ast.Label) for each in everything):
        return frozenset(each.name for each in everything if isinstance(each, c_ast.ID))
    reads = _UpwardExposedReads(frozenset(), wholes)
    reads.sequence(statements)
    return frozenset(reads.found)


def mentioned_after(function: c_ast.FuncDef, index: int) -> frozenset[str]:
    """Names that occur outside region ``index`` of ``function`` where control may come after it.

    The answer is textual: if the region lies in a loop, or the function has
    labels, every name outside the region counts.
    """
    begin, end = begin_pragma(index), end_pragma(index)
    before: set[str] = set()
    after: set[str] = set()
    seen = before
    repeated = False

    def visit(node: c_ast.Node, in_loop: bool) -> None:
        nonlocal seen, repeated
        if isinstance(node, c_ast.Pragma):
            if node.string == begin:
                seen = set()
                repeated = repeated or in_loop
            elif node.string == end:
                seen = after
        elif isinstance(node, c_ast.ID):
            seen.add(node.name)
        elif isinstance(node, c_ast.Label):
            repeated = True
        inner = in_loop or isinstance(node, c_ast.For | c_ast.While | c_ast.DoWhile)
        for child in node:
            visit(child, inner)

    visit(function.body, in_loop=False)
    return frozenset(before | after if repeated else after)


def _ambiguous(function: c_ast.FuncDef) -> frozenset[str]:
    """Names that stand for more than one object of the function."""
    names = Counter(each.name for each in walk(function) if isinstance(each, c_ast.Decl) and each.name)
    return frozenset(name for name, count in names.items() if count > 1)


class _UpwardExposedReads:
    """The walk: ``found`` are the names read so far while they were not overwritten."""

    def __init__(self, ambiguous: frozenset[str], wholes: Wholes) -> None:
        self.found: set[str] = set()
        self._wholes = wholes
        self._ambiguous = ambiguous
        self._overwritten: set[str] = set()

    def continue_after(self, outer: c_ast.Node, inner: c_ast.Node) -> None:
        """Go on from the end of ``inner`` to what follows it in ``outer``."""
        if isinstance(outer, _LOOPS):
            # a jump may have skipped what was overwritten in the body, and the body may run again
            self._overwritten.clear()
            self._parts(outer)
            self._overwritten.clear()
        elif isinstance(outer, c_ast.Switch | c_ast.Case | c_ast.Default):
            self._overwritten.clear()
        if isinstance(outer, c_ast.Compound | c_ast.Case | c_ast.Default):
            items = (outer.block_items if isinstance(outer, c_ast.Compound) else outer.stmts) or ()
            position = next((number for number, each in enumerate(items) if each is inner), -1)
            self.sequence(items[position + 1 :])

    def sequence(self, nodes: object) -> None:
        """Statements that run one after the other."""
        for each in nodes:  # type: ignore[attr-defined]
            self.visit(each)

    def visit(self, node: c_ast.Node | None) -> None:
        """Evaluate or run ``node``."""
        match node:
            case None:
                return
            case c_ast.ID():
                if node.name not in self._overwritten and not self._is_overwritten_by_members(node.name):
                    self.found.add(node.name)
            case c_ast.Assignment():
                self._assignment(node)
            case c_ast.For():
                self.visit(node.init)
                self.visit(node.cond)
                self._perhaps(node.stmt, node.next)
            case c_ast.While():
                self.visit(node.cond)
                self._perhaps(node.stmt)
            case c_ast.DoWhile():
                if any(isinstance(each, c_ast.Break | c_ast.Continue) for each in walk(node.stmt)):
                    self._perhaps(node.stmt)
                else:
                    self.visit(node.stmt)
                self.visit(node.cond)
            case c_ast.If() | c_ast.TernaryOp():
                self.visit(node.cond)
                self._either(node.iftrue, node.iffalse)
            case c_ast.BinaryOp(op="&&" | "||"):
                self.visit(node.left)
                self._perhaps(node.right)
            case c_ast.Switch() | c_ast.Case() | c_ast.Default():
                # any label may be the first to run
                for each in node:
                    self._perhaps(each)
            case c_ast.StructRef():
                self._member(node)
            case c_ast.UnaryOp(op="sizeof"):
                return
            case _:
                self.sequence(node)

    def _assignment(self, node: c_ast.Assignment) -> None:
        target = node.lvalue
        path = _path(target)
        if node.op == "=" and path:
            self.visit(node.rvalue)
            if path[0] not in self._ambiguous:
                self._overwritten.add(".".join(path))
            return
        self.visit(target)
        self.visit(node.rvalue)

    def _is_overwritten_by_members(self, name: str) -> bool:
        members = self._wholes.get(name, ())
        return bool(members) and all(self._is_overwritten((name, *each)) for each in members)

    def _is_overwritten(self, path: Path) -> bool:
        """Whether what ``path`` names is, or something that it is a part of."""
        return any(".".join(path[:end]) in self._overwritten for end in range(1, len(path) + 1))

    def _member(self, node: c_ast.StructRef) -> None:
        path = _path(node)
        if not path:
            self.visit(node.name)
        elif not self._is_overwritten(path):
            self.found.add(path[0])

    def _perhaps(self, *nodes: c_ast.Node | None) -> None:
        """Code that may not run, or not all of it: each node counts from where this begins."""
        before = set(self._overwritten)
        for each in nodes:
            self.visit(each)
            self._overwritten = set(before)

    def _either(self, yes: c_ast.Node | None, no: c_ast.Node | None) -> None:
        before = set(self._overwritten)
        self.visit(yes)
        after_yes, self._overwritten = self._overwritten, before
        self.visit(no)
        self._overwritten &= after_yes

    def _parts(self, loop: c_ast.Node) -> None:
        """The rest of an iteration of a loop around the region, and another iteration."""
        if isinstance(loop, c_ast.For):
            self._perhaps(loop.next, loop.cond, loop.stmt)
        else:
            self._perhaps(loop.cond, loop.stmt)


def _path(node: c_ast.Node) -> Path:
    """The names of ``p`` and ``p.x``; nothing of anything else."""
    if isinstance(node, c_ast.ID):
        return (node.name,)
    if isinstance(node, c_ast.StructRef) and node.type == "." and (path := _path(node.name)):
        return (*path, node.field.name)
    return ()
