"""Intervals of every subscript of a program: offsets and extents of its arrays, and how much it does."""

from __future__ import annotations

from dataclasses import dataclass

from .program import (
    TYPES,
    Array,
    Bin,
    Bump,
    Do,
    Expr,
    If,
    Loop,
    Not,
    Num,
    Pick,
    Program,
    Read,
    Stmt,
    Store,
    Var,
)

OUTSIDE_START = 3  # what a counter declared before the region holds before its loops


class Wraps(Exception):
    """A value leaves the range of its C type where that would change the meaning."""


@dataclass(frozen=True, slots=True)
class Range:
    """Values of an expression, and its C type as (width, signed)."""

    low: int
    high: int
    kind: tuple[int, bool]


@dataclass(frozen=True, slots=True)
class Layout:
    """Per array and dimension: what is added to each subscript, and the extent as (sizes, constant)."""

    offsets: dict[str, list[int]]
    extents: dict[str, list[tuple[str, int]]]
    work: dict[tuple[int, ...], int]

    def extent(self, array: Array, run: dict[str, int]) -> list[int]:
        return [run.get(size, 0) + constant for size, constant in self.extents[array.key]]


INT = (32, True)
_AFFINE = {"+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "&&", "||"}


def _promoted(kind: tuple[int, bool]) -> tuple[int, bool]:
    return INT if kind[0] < 32 else kind


def _common(one: tuple[int, bool], other: tuple[int, bool]) -> tuple[int, bool]:
    one, other = _promoted(one), _promoted(other)
    if one[0] != other[0]:
        return max(one, other)
    return one[0], one[1] and other[1]


def _exact(value: Range, kind: tuple[int, bool] | None = None) -> Range:
    """``value`` as it is used: nothing may be left to wrap, in its type and in ``kind``."""
    for width, signed in (value.kind, kind or value.kind):
        low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
        if value.low < low or value.high > high:
            raise Wraps
    return Range(value.low, value.high, kind or value.kind)


class Measure:
    """One walk over a program with fixed sizes."""

    def __init__(self, program: Program, run: tuple[int, ...]) -> None:
        self.program = program
        self.env: dict[str, Range] = {}
        for size, value in zip(program.sizes, run, strict=True):
            self.env[size.name] = _exact(Range(value, value, TYPES[size.type][:2]))
        self.boxes: dict[str, list[tuple[int, int]]] = {}
        self.instances = 0
        self.left: dict[str, Range] = {}

    def walk(self) -> None:
        for region in self.program.regions:
            self.block(region, 1)

    def block(self, body: tuple[Stmt, ...], times: int) -> None:
        for each in body:
            self.statement(each, times)

    def statement(self, node: Stmt, times: int) -> None:
        if isinstance(node, Loop):
            self.loop(node, times)
        elif isinstance(node, If):
            if is_affine(node.test):
                self.condition(node.test)
            else:
                self.data(node.test)
            self.block(node.yes, times)
            self.block(node.no, times)
        else:
            self.instances += times
            if isinstance(node, Do):
                self.data(node.expr)
            elif node.value is not None:
                self.data(node.value)

    def loop(self, node: Loop, times: int) -> None:
        kind = TYPES[node.type][:2]
        saved = self.env.get(node.counter)
        start = _exact(self.affine(node.start), kind)
        self.env[node.counter] = start
        bounds = [self.affine(each) for each in (node.bound, node.also) if each is not None]
        compared = [_common(kind, bound.kind) for bound in bounds]
        for bound, common in zip(bounds, compared, strict=True):
            _exact(_exact(bound), common)
            _exact(start, common)
        strict = node.relation in {"<", ">", "!="}
        if node.step > 0:
            low, high = start.low, min(each.high for each in bounds) - strict
        else:
            low, high = max(each.low for each in bounds) + strict, start.high
        last = max(high, start.high) + node.step if node.step > 0 else min(low, start.low) + node.step
        for each in (kind, *compared):
            _exact(Range(last, last, kind), each)
        if node.relation == "!=" and start.high > bounds[0].low:
            raise Wraps
        if low <= high:
            self.env[node.counter] = Range(low, high, kind)
            self.block(node.body, times * (1 + (high - low) // abs(node.step)))
        if saved is None:
            del self.env[node.counter]
        else:
            self.env[node.counter] = saved
        if node.outside:
            self.left[node.counter] = Range(
                min(low, start.low, last, OUTSIDE_START), max(high, start.high, last, OUTSIDE_START), kind
            )

    def affine(self, node: Expr) -> Range:
        """The values of a bound, a subscript or a value in one."""
        if isinstance(node, Num):
            return Range(node.value, node.value, INT)
        if isinstance(node, Var):
            return self.env[node.name] if node.name in self.env else self.left[node.name]
        if isinstance(node, Pick):
            self.condition(node.test)
            yes, no = self.affine(node.yes), self.affine(node.no)
            kind = _common(yes.kind, no.kind)
            yes, no = _exact(yes, kind), _exact(no, kind)
            return Range(min(yes.low, no.low), max(yes.high, no.high), kind)
        if isinstance(node, Bin) and node.op in {"+", "-", "*", "/", "%"}:
            return self.arithmetic(node)
        self.condition(node)
        return Range(0, 1, INT)

    def arithmetic(self, node: Bin) -> Range:
        left, right = self.affine(node.left), self.affine(node.right)
        kind = _common(left.kind, right.kind)
        if node.op in {"/", "%"} or kind[1] or kind[0] > min(left.kind[0], right.kind[0]):
            left, right = _exact(_exact(left), kind), _exact(_exact(right), kind)
        if node.op == "+":
            return Range(left.low + right.low, left.high + right.high, kind)
        if node.op == "-":
            return Range(left.low - right.high, left.high - right.low, kind)
        if node.op == "*":
            corners = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
            return Range(min(corners), max(corners), kind)
        size = abs(right.low)
        if node.op == "%":
            return Range(-(size - 1) if left.low < 0 else 0, size - 1 if left.high > 0 else 0, kind)
        corners = [int(a / right.low) for a in (left.low, left.high)]
        return Range(min(corners), max(corners), kind)

    def condition(self, node: Expr) -> None:
        if isinstance(node, Not):
            self.condition(node.operand)
        elif isinstance(node, Bin) and node.op in {"&&", "||"}:
            self.condition(node.left)
            self.condition(node.right)
        elif isinstance(node, Bin) and node.op in {"<", "<=", ">", ">=", "==", "!="}:
            left, right = self.affine(node.left), self.affine(node.right)
            kind = _common(left.kind, right.kind)
            _exact(_exact(left), kind)
            _exact(_exact(right), kind)
        else:
            _exact(self.affine(node))

    def data(self, node: Expr) -> None:
        if isinstance(node, Read):
            ranges = [self.affine(each) for each in node.subscripts]
            box = self.boxes.setdefault(node.array, [(each.low, each.high) for each in ranges])
            self.boxes[node.array] = [
                (min(low, each.low), max(high, each.high))
                for (low, high), each in zip(box, ranges, strict=True)
            ]
        elif isinstance(node, Store):
            self.data(node.target)
            self.data(node.value)
        elif isinstance(node, Bump):
            self.data(node.target)
        elif isinstance(node, Bin):
            self.data(node.left)
            self.data(node.right)
        elif isinstance(node, Not):
            self.data(node.operand)
        elif isinstance(node, Pick):
            if is_affine(node.test):
                self.condition(node.test)
            else:
                self.data(node.test)
            self.data(node.yes)
            self.data(node.no)


def is_affine(node: Expr) -> bool:
    """Whether ``node`` touches no data, and is made of operations that bounds and conditions have."""
    if isinstance(node, Bin):
        if node.op in {"/", "%"} and not isinstance(node.right, Num):
            return False
        return node.op in _AFFINE and is_affine(node.left) and is_affine(node.right)
    if isinstance(node, Pick):
        return is_affine(node.test) and is_affine(node.yes) and is_affine(node.no)
    if isinstance(node, Not):
        return is_affine(node.operand)
    return isinstance(node, Num | Var)


def layout(program: Program) -> Layout:
    """Offsets, extents and the number of statement instances of each run. Raises Wraps."""
    boxes: dict[tuple[int, ...], dict[str, list[tuple[int, int]]]] = {}
    work = {}
    for run in program.runs:
        measure = Measure(program, run)
        measure.walk()
        boxes[run] = measure.boxes
        work[run] = measure.instances
    offsets: dict[str, list[int]] = {}
    extents: dict[str, list[tuple[str, int]]] = {}
    names = [each.name for each in program.sizes]
    for array in program.arrays:
        offsets[array.key], extents[array.key] = [], []
        for position, wanted in enumerate(array.extents):
            ranges = {run: box[array.key][position] for run, box in boxes.items() if array.key in box}
            size = wanted if wanted in names else ""
            offset = -min((low for low, _ in ranges.values()), default=0)
            need = 1
            for run in program.runs:
                value = run[names.index(size)] if size else 0
                high = ranges[run][1] + offset if run in ranges else 0
                need = max(need, high + 1 - value) if not size else max(need, high + 1 - value, 1 - value)
            offsets[array.key].append(offset)
            extents[array.key].append((size, need))
    _share_first_extent(program, extents)
    return Layout(offsets, extents, work)


def _share_first_extent(program: Program, extents: dict[str, list[tuple[str, int]]]) -> None:
    """The members of one array of structures have its extent in common."""
    cells = [each.key for each in program.arrays if each.kind == "cell"]
    if cells:
        largest = max(extents[key][0][1] for key in cells)
        for key in cells:
            extents[key][0] = ("", largest)
