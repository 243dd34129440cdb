"""Loops over the elements of several dimensions at once, as one loop for each dimension.

::

    for (k = 0; k < n * m; k++) {             for (i = 0; i < n; i++)
      i = k / m; j = k % m;             ->      for (j = 0; j < m; j++)
      c[i][j] = a[i][j];                          c[i][j] = a[i][j];
    }

This undoes loop coalescing (C. Polychronopoulos, *Loop coalescing: a compiler transformation for parallel
machines*, ICPP 1987): the quotients and remainders by which subscripts are recovered are the new counters.
No dimension may be negative, which becomes a condition of the region.

Loops over all elements of an array that other loops have as rows are such loops, too, though they do not
divide: ``for (k = 0; k < n * m; k++) r[k] -= a * q[k];`` beside ``q[i * m + j]``. Where rows are short, as
the channels of a pixel, the original loops are better, and run.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from pycparser import c_ast

from polybuild.c.literals import integer_value
from polybuild.c.symbols import Symbol
from polybuild.c.syntax_tree import duplicate, factors_of, key, mapped, walk
from polybuild.c.synthetic import declarator, never, number
from polybuild.c.types import IntegerType, Type
from polybuild.c.typing import type_of
from polybuild.diagnostics import Unsupported
from polybuild.effort import COALESCED_DIMENSIONS, LONG_ROW, STORAGE_PERIODS
from polybuild.normalise.names import Names, Variable, resolve, stepped_name, unused_name
from polybuild.normalise.upward_exposed import read_after
from polybuild.source.model import Region
from polybuild.values import dataclass

_OPERATIONS = {"+", "-", "/"}

_LONG = '"rows must be long where loops over all elements are split"'
_COUNTED = '"no dimension of a loop over several may be negative"'


def split_coalesced_loops(region: Region) -> Region:
    """``region`` with a loop for each dimension that such loops run over; itself if it has none."""
    loops = [
        each
        for statement in region.statements
        for each in walk(statement)
        if isinstance(each, c_ast.For) and _factors_of_bound(each)
    ]
    if not loops:
        return region
    try:
        names = resolve(region)
    except Unsupported:
        return region  # the model says what is wrong
    splitter = _DimensionSplitter(region, names)
    statements = tuple(map(splitter.rewritten, region.statements))
    return dataclasses.replace(region, statements=statements) if splitter.count else region


def _factors_of_bound(loop: c_ast.For) -> list[c_ast.Node]:
    """The factors of the product below which the counter of ``loop`` stays, in steps of 1; else none."""
    cond, name = loop.cond, stepped_name(loop)
    up = isinstance(loop.next, c_ast.UnaryOp) and "+" in loop.next.op
    if name is None or not up or not isinstance(cond, c_ast.BinaryOp) or cond.op != "<":
        return []
    counts = isinstance(cond.left, c_ast.ID) and cond.left.name == name
    factors = list(factors_of(cond.right)) if counts else []
    return factors if 1 < len(factors) <= COALESCED_DIMENSIONS else []


class _DimensionSplitter:
    """One pass over a region; ``count`` is how many loops were split."""

    def __init__(self, region: Region, names: Names) -> None:
        self._region = region
        self._names = names
        self._taken = region.visible.may_mean_something() | {each.name for each in names.variables.values()}
        self._types: dict[str, Type | Symbol] = {**region.visible.symbols}
        self._types |= {each.name: each.type for each in names.variables.values()}
        live = read_after(region.function, region.index) if region.index >= 0 else frozenset()
        self._live = live | region.visible.lvalues.keys()
        self.count = 0

    def rewritten(self, node: c_ast.Node) -> c_ast.Node:
        """``node`` with its loops split, those under conditions apart; the very node if there are none."""
        if not isinstance(node, c_ast.For | c_ast.Compound):
            return node
        new = mapped(node, self.rewritten)
        counter = self._names.iterators.get(node) if isinstance(node, c_ast.For) else None
        if counter is None or not (factors := _factors_of_bound(node)):
            return new
        return self._split(new, counter, factors) or new

    def _split(self, loop: c_ast.For, counter: Variable, factors: Sequence[c_ast.Node]) -> c_ast.Node | None:
        """The loops over each dimension; None unless the counter is recovered by all divisions."""
        kind = counter.type
        if not isinstance(kind, IntegerType) or not kind.signed or kind.width < 32 or not _from_zero(loop):
            return None
        hidden = any(isinstance(each, c_ast.Decl) and each.name == counter.name for each in walk(loop.stmt))
        own = counter in self._names.written or counter.address_taken or counter.volatile
        if own or hidden or not all(map(self._is_fixed, factors)) or _leaves(loop.stmt):
            return None
        if counter in self._names.escaping or (not counter.local and counter.name in self._live):
            return None
        for order in dict.fromkeys(itertools.permutations(range(len(factors)))):
            digits = _Digits(counter.name, [factors[each] for each in order])
            if digits.recovers(loop.stmt):
                return None if digits.is_pattern else self._nest(loop, digits, kind)
            if digits.is_whole(loop.stmt) and self._has_rows(loop.stmt, digits):
                return self._nest(loop, digits, kind, row=LONG_ROW)
        return None

    def _has_rows(self, body: c_ast.Node, digits: _Digits) -> bool:
        """Whether an array that ``body`` has by the counter has rows of the inner extents elsewhere.

        Here it may have planes of all extents.
        """
        own = _strides([body], but_for=digits.extents)
        everywhere = _strides_of_all(self._region.statements, but_for=digits.extents)
        inner = {key(each) for each in digits.extents[1:]}
        return any(
            inner <= everywhere.get(name, set()) and inner.isdisjoint(own.get(name, ()))
            for name in digits.arrays_by_counter(body)
        )

    def _nest(self, loop: c_ast.For, digits: _Digits, kind: IntegerType, *, row: int = 0) -> c_ast.Node:
        """The loops over ``digits``, the last of which has at least ``row`` values."""
        self.count += 1
        names = [self._unused(f"{digits.counter}_{each}") for each in range(1, len(digits.extents) + 1)]
        body = digits.rewritten(loop.stmt, names)
        for name, extent in zip(reversed(names), reversed(digits.extents), strict=True):
            start = c_ast.Decl(name, [], [], [], [], declarator(name, kind), number(0), None, loop.coord)
            cond = c_ast.BinaryOp("<", c_ast.ID(name, loop.coord), duplicate(extent), loop.coord)
            following = c_ast.UnaryOp("p++", c_ast.ID(name, loop.coord), loop.coord)
            body = c_ast.For(c_ast.DeclList([start], loop.coord), cond, following, body, loop.coord)
        tests: list[c_ast.Node] = []
        for extent in digits.extents[1:]:
            if not isinstance(extent, c_ast.Constant):
                minimum = number(row if extent is digits.extents[-1] else 0)
                less = c_ast.BinaryOp("<", duplicate(extent), minimum, loop.coord)
                tests.append(never(less, _LONG if row else _COUNTED))
        return c_ast.Compound([*tests, body], loop.coord)

    def _unused(self, name: str) -> str:
        found = unused_name(name, self._taken)
        self._taken |= {found}
        return found

    def _is_fixed(self, extent: c_ast.Node) -> bool:
        """Whether ``extent`` is a signed number that the region does not change."""
        if isinstance(extent, c_ast.BinaryOp) and extent.op in _OPERATIONS:
            return self._is_fixed(extent.left) and self._is_fixed(extent.right)
        kind = type_of(extent, self._types, self._region.visible)
        if not isinstance(kind, IntegerType) or not kind.signed:
            return False
        if isinstance(extent, c_ast.Constant):
            return True
        root = extent
        while isinstance(root, c_ast.StructRef):
            root = root.name
        variable = self._names.variables.get(root)
        return isinstance(root, c_ast.ID) and variable is not None and variable not in self._names.written


@dataclass(frozen=True, slots=True)
class _Digits:
    """``counter`` as a number of as many digits as there are ``extents``, each less than its own.

    A range of digits is what quotients and remainders by products of extents give.
    """

    counter: str
    extents: Sequence[c_ast.Node]

    @property
    def is_pattern(self) -> bool:
        """Whether there are a few kinds of places in a row: what each is may be said in the loop over all.

        That is what ``divided_counters.py`` makes of it.
        """
        *_, last = self.extents
        value = integer_value(last.value) if isinstance(last, c_ast.Constant) else None
        return len(self.extents) == 2 and value in STORAGE_PERIODS

    def recovers(self, body: c_ast.Node) -> bool:
        """Whether ``body`` divides the counter, and by nothing but products of inner extents."""
        divided = [self.range_of(each) for each in self._divisions(body)]
        return bool(divided) and None not in divided

    def _divisions(self, body: c_ast.Node) -> list[c_ast.Node]:
        """What ``body`` divides that is the counter, or digits of it."""
        return [
            each
            for each in walk(body)
            if isinstance(each, c_ast.BinaryOp)
            and each.op in {"/", "%"}
            and (self.range_of(each.left) is not None or self._is_counter(each.left))
        ]

    def is_whole(self, body: c_ast.Node) -> bool:
        """Whether ``body`` does not divide the counter, and inner extents may be long."""
        long = not any(isinstance(each, c_ast.Constant) for each in self.extents[1:])
        return long and not self._divisions(body)

    def arrays_by_counter(self, body: c_ast.Node) -> set[str]:
        """The arrays of which ``body`` has elements by the counter."""
        return {
            str(each.name.name)
            for each in walk(body)
            if isinstance(each, c_ast.ArrayRef)
            and isinstance(each.name, c_ast.ID)
            and any(self._is_counter(part) for part in walk(each.subscript))
        }

    def _is_counter(self, node: c_ast.Node) -> bool:
        return isinstance(node, c_ast.ID) and node.name == self.counter

    def range_of(self, node: c_ast.Node) -> tuple[int, int] | None:
        """The digits that ``node`` is, from the first to before the last; None if it is something else."""
        if self._is_counter(node):
            return 0, len(self.extents)
        if not isinstance(node, c_ast.BinaryOp) or node.op not in {"/", "%"}:
            return None
        left = self.range_of(node.left)
        divisor = sorted(str(key(each)) for each in factors_of(node.right))
        if left is None:
            return None
        first, last = left
        for middle in range(first + 1, last):
            if divisor == sorted(str(key(each)) for each in self.extents[middle:last]):
                return (first, middle) if node.op == "/" else (middle, last)
        return None

    def rewritten(self, node: c_ast.Node, names: Sequence[str]) -> c_ast.Node:
        """``node`` in terms of the digits, which have these names."""
        found = self.range_of(node)
        if found is None:
            return mapped(node, lambda each: self.rewritten(each, names))
        first, last = found
        value: c_ast.Node = c_ast.ID(names[first], node.coord)
        for digit in range(first + 1, last):
            value = c_ast.BinaryOp("*", value, duplicate(self.extents[digit]), node.coord)
            value = c_ast.BinaryOp("+", value, c_ast.ID(names[digit], node.coord), node.coord)
        return value


def _strides(statements: Iterable[c_ast.Node], but_for: Sequence[c_ast.Node]) -> dict[str, set[object]]:
    """What multiplies something in subscripts of ``statements``, by the names of the arrays.

    Products of all that is in ``but_for`` do not count.
    """
    whole = Counter(map(key, but_for))
    found: dict[str, set[object]] = {}
    for each in (part for statement in statements for part in walk(statement)):
        if isinstance(each, c_ast.ArrayRef) and isinstance(each.name, c_ast.ID):
            factors = found.setdefault(str(each.name.name), set())
            for product in _products(each.subscript):
                keys = Counter(map(key, product))
                if not whole <= keys:
                    factors.update(keys)
    return found


def _products(node: c_ast.Node) -> Iterator[list[c_ast.Node]]:
    """The factors of each product in ``node`` that is no part of a larger one."""
    is_product = isinstance(node, c_ast.BinaryOp) and node.op == "*"
    parts = list(factors_of(node)) if is_product else list(node)
    if is_product:
        yield parts
    for each in parts:
        yield from _products(each)


def _strides_of_all(
    statements: Sequence[c_ast.Node], but_for: Sequence[c_ast.Node]
) -> dict[str, set[object]]:
    """The same where arrays that loops over all elements have beside others get the rows of these."""
    found = _strides(statements, but_for)
    beside: list[tuple[set[object], set[str]]] = []
    for each in (part for statement in statements for part in walk(statement)):
        if isinstance(each, c_ast.For) and (factors := _factors_of_bound(each)):
            arrays = _Digits(str(stepped_name(each)), factors).arrays_by_counter(each.stmt)
            beside.append((set(map(key, factors)), arrays))
    changed = True
    while changed:
        changed = False
        for sizes, arrays in beside:
            rows = sizes & set().union(*(found.get(each, set()) for each in arrays))
            for each in arrays:
                changed = changed or not rows <= found.setdefault(each, set())
                found[each] |= rows
    return found


def _from_zero(loop: c_ast.For) -> bool:
    start = loop.init.rvalue if isinstance(loop.init, c_ast.Assignment) else loop.init.decls[0].init
    return isinstance(start, c_ast.Constant) and start.value == "0"


def _leaves(body: c_ast.Node) -> bool:
    """Whether a jump may leave the loop with this body."""
    if isinstance(body, c_ast.Goto | c_ast.Break | c_ast.Return):
        return True
    inner = isinstance(body, c_ast.For | c_ast.While | c_ast.DoWhile | c_ast.Switch)
    return any(_leaves(each) for each in body if not (inner and isinstance(each, c_ast.Break)))
