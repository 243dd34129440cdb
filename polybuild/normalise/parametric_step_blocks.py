"""Steps over time in blocks between statements that run after each ``k`` of them, ``k`` being a variable.

::

    for (t = 0; t < steps; t++) {              for (b = 0; b <= steps / k; b++) {
      step                                       for (r = 0; r < (b < steps / k ? k : steps % k); r++)
      if ((t + 1) % k == 0)            ->          step
        norm                                     if (b < steps / k)
    }                                              norm
                                               }

No affine condition says which steps are multiples of a parameter, but how many blocks there are is a
parameter as well, as quotients are. This is strip-mining (M. Wolfe, "High Performance Compilers for Parallel
Computing", 1996, section 9.5) by a parameter; ``transform/step_blocks.py`` has it for numbers. Then the steps
of a block can be tiled over time. With ``t % k == 0`` from 0 on, the first block is one step; where that is
at the start of a step, blocks begin with it.

Where storage alternates, as ``u[t % 2]``, blocks have an even number of steps: each begins with the same grid
then. With odd ones the original loop runs. So it is where steps swap pointers (``pointer_rotation.py``); what
is done in each few steps before the swap is done behind it, with the other names.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from pycparser import c_ast

from polybuild.c.literals import integer_value
from polybuild.c.syntax_tree import duplicate, exposed_operand, key, mapped, walk
from polybuild.c.synthetic import BlockLoop, declarator, never, number, plus
from polybuild.c.types import IntegerType, PointerType
from polybuild.diagnostics import Unsupported
from polybuild.normalise.names import Names, Variable, resolve, starting_number, stepped_name, unused_name
from polybuild.normalise.pointer_rotation import find_rotation, with_moves_first
from polybuild.normalise.rotations import Rotation
from polybuild.normalise.upward_exposed import read_after
from polybuild.source.model import Region
from polybuild.values import dataclass

_EVEN = '"there must be an even number of steps between those with more to do, as grids take turns"'
_SOME = '"there must be steps, and some between those with more to do"'
_ARITHMETIC = {"+", "-"}
_JUMPS = (c_ast.Goto, c_ast.Break, c_ast.Return, c_ast.Continue, c_ast.Label)


def with_parametric_step_blocks(region: Region) -> Region:
    """``region`` with loops over blocks of steps where more is done in each few; itself if there are none."""
    if not any(_rare(_with_rare_last(each)) for statement in region.statements for each in walk(statement)):
        return region
    try:
        names = resolve(region)
    except Unsupported:
        return region  # the model says what is wrong
    blocks = _StepBlocks(region, names)
    statements = tuple(blocks.statements())
    return dataclasses.replace(region, statements=statements) if blocks.count else region


@dataclass(frozen=True, slots=True)
class _Every:
    """What a loop does at its end where its counter plus ``offset`` is a multiple of ``steps``.

    Or at its start, if ``first``.
    """

    steps: c_ast.ID
    offset: int
    rare: c_ast.Node
    first: bool = False


def _rare(loop: c_ast.Node) -> _Every | None:
    """What ``loop`` does at its end, or its start, in each few iterations; None if there is nothing such."""
    if not isinstance(loop, c_ast.For) or not isinstance(loop.stmt, c_ast.Compound):
        return None
    items, counter = list(loop.stmt.block_items or ()), stepped_name(loop)
    if len(items) < 2 or counter is None:
        return None
    last, first = _every(items[-1], counter), _every(items[0], counter)
    if last is None and first is not None and first.offset == 0:
        return dataclasses.replace(first, first=True)
    return last


def _with_rare_last(loop: c_ast.Node) -> c_ast.Node:
    """``loop`` with what it does in each few iterations behind what makes pointers change places."""
    return loop if _rare(loop) is not None else with_moves_first(loop)


def _every(item: c_ast.Node, counter: str) -> _Every | None:
    """What ``item`` does in each few values of ``counter``; None if it is nothing such."""
    if not isinstance(item, c_ast.If) or item.iffalse is not None:
        return None
    cond, remainder, wanted = item.cond, item.cond, None
    if isinstance(cond, c_ast.UnaryOp) and cond.op == "!":
        remainder = cond.expr
    elif isinstance(cond, c_ast.BinaryOp) and cond.op == "==":
        remainder, wanted = cond.left, cond.right
        if _is_number(remainder, 0):
            remainder, wanted = wanted, remainder
    else:
        return None
    if not (
        isinstance(remainder, c_ast.BinaryOp)
        and remainder.op == "%"
        and isinstance(remainder.right, c_ast.ID)
    ):
        return None
    steps, offset = remainder.right, _offset(remainder.left, counter)
    if wanted is not None and not _is_number(wanted, 0):
        before = isinstance(wanted, c_ast.BinaryOp) and wanted.op == "-" and _is_number(wanted.right, 1)
        offset = 1 if before and key(wanted.left) == key(steps) and offset == 0 else None
    return None if offset not in {0, 1} else _Every(steps, offset, item.iftrue)


def _offset(node: c_ast.Node, counter: str) -> int | None:
    """What ``node`` adds to ``counter``, not less than nothing; None if it is something else."""
    if isinstance(node, c_ast.ID):
        return 0 if node.name == counter else None
    if not isinstance(node, c_ast.BinaryOp) or node.op != "+":
        return None
    for one, other in ((node.left, node.right), (node.right, node.left)):
        value = (
            integer_value(other.value) if isinstance(other, c_ast.Constant) and other.type == "int" else None
        )
        inner = _offset(one, counter)
        if value is not None and inner is not None:
            return inner + value
    return None


def _is_number(node: c_ast.Node, value: int) -> bool:
    return isinstance(node, c_ast.Constant) and node.type == "int" and integer_value(node.value) == value


class _StepBlocks:
    """One pass over a region; ``count`` is how many loops were rewritten."""

    def __init__(self, region: Region, names: Names) -> None:
        self._region, self._names = region, names
        self._taken = region.visible.may_mean_something() | {each.name for each in names.variables.values()}
        live = read_after(region.function, region.index) if region.index >= 0 else frozenset()
        self._live = live | region.visible.lvalues.keys()
        self.count = 0

    def statements(self) -> Iterator[c_ast.Node]:
        """Those of the region, with loops in blocks."""
        for at, each in enumerate(self._region.statements):
            swapping = isinstance(each, c_ast.For) and self._rotates(each)
            rotation = (
                find_rotation(each, each, self._region.statements[:at], self._region) if swapping else None
            )
            if rotation is None or not self._only_moves(each, rotation):
                yield self._rewritten(each)
                continue
            made = self._in_blocks(each, _with_rare_last(each), rotation.period)
            yield from made.block_items if isinstance(made, c_ast.Compound) else (each,)

    def _rewritten(self, node: c_ast.Node) -> c_ast.Node:
        """``node``, if it is a loop as above, in blocks; blocks of statements are looked through."""
        if isinstance(node, c_ast.Compound):
            return mapped(node, self._rewritten)
        if isinstance(node, c_ast.For) and self._rotates(node):
            return node  # which pointer it is goes by the steps
        return self._in_blocks(node, node, 1) or node

    def _in_blocks(self, loop: c_ast.Node, changed: c_ast.Node, period: int) -> c_ast.Node | None:
        """``loop``, now ``changed``, in blocks that are multiples of ``period``; None if there are none."""
        every = _rare(changed)
        counter = self._names.iterators.get(loop) if every is not None else None
        if every is None or counter is None or not self._may_be_split(loop, counter, every):
            return None
        return self._split(changed, counter, every, period)

    def _rotates(self, loop: c_ast.For) -> bool:
        return any(isinstance(each, c_ast.ID) and self._is_rotated(each) for each in walk(loop))

    def _only_moves(self, loop: c_ast.For, rotation: Rotation) -> bool:
        """Whether ``loop`` changes no pointer but those that change places."""
        known = {*rotation.moved, *rotation.copies}
        known |= {each.name for each in walk(loop) if isinstance(each, c_ast.Decl)}
        return all(
            each.name in known for each in walk(loop) if isinstance(each, c_ast.ID) and self._is_rotated(each)
        )

    def _may_be_split(self, loop: c_ast.For, counter: Variable, every: _Every) -> bool:
        kind, body = counter.type, loop.stmt
        if not isinstance(kind, IntegerType) or not kind.signed or kind.width < 32:
            return False
        if counter in self._names.written or counter in self._names.escaping or counter.volatile:
            return False
        if counter.address_taken or (not counter.local and counter.name in self._live):
            return False
        cond = loop.cond
        if (
            not isinstance(cond, c_ast.BinaryOp)
            or not self._is_fixed(every.steps)
            or not self._is_fixed(cond.right)
        ):
            return False
        inside = [each for each in walk(body) if each is not body]
        if any(isinstance(each, _JUMPS) for each in inside) or not any(
            isinstance(each, c_ast.For) for each in inside
        ):
            return False
        hidden = {each.name for each in inside if isinstance(each, c_ast.Decl)}
        return hidden.isdisjoint({counter.name, every.steps.name})

    def _is_rotated(self, name: c_ast.ID) -> bool:
        """Whether ``name`` is a pointer that the region changes: which one it is goes by the steps."""
        variable = self._names.variables.get(name)
        return (
            variable is not None
            and isinstance(variable.type, PointerType)
            and variable in self._names.written
        )

    def _is_fixed(self, node: c_ast.Node) -> bool:
        """Whether ``node`` is a sum of signed numbers that the region does not change."""
        if isinstance(node, c_ast.BinaryOp):
            return node.op in _ARITHMETIC and self._is_fixed(node.left) and self._is_fixed(node.right)
        if isinstance(node, c_ast.Constant):
            return bool(node.type == "int")
        variable = self._names.variables.get(node) if isinstance(node, c_ast.ID) else None
        if variable is None or variable in self._names.written or variable.volatile:
            return False
        return isinstance(variable.type, IntegerType) and bool(variable.type.signed)

    def _split(self, loop: c_ast.For, counter: Variable, every: _Every, period: int) -> c_ast.Node | None:
        """The loops over blocks and their steps; None if the counter is used for more than is known of it.

        Pointers come back to their places after ``period`` steps.
        """
        start = starting_number(loop)
        # blocks, from the first one on
        whole = start is not None and start + every.offset == int(not every.first)
        cond = loop.cond
        plain = (
            isinstance(cond, c_ast.BinaryOp)
            and cond.op in {"<", "<="}
            and _offset(cond.left, counter.name) == 0
        )
        up = isinstance(loop.next, c_ast.UnaryOp) and "++" in loop.next.op
        if start is None or not plain or not up or (not whole and start + every.offset != 0):
            return None
        if not isinstance(counter.type, IntegerType):
            return None
        made = _Blocks(
            counter.name,
            counter.type,
            every.steps,
            start,
            whole=whole,
            first=every.first,
            parity=(start if whole else 1 - every.offset) % 2,
            period=period,
            block=self._unused(f"{counter.name}_1"),
            step=self._unused(f"{counter.name}_2"),
        )
        items = loop.stmt.block_items
        alternates = any(map(made.alternates, items))
        others = items[1:] if every.first else items[:-1]
        shared = [] if every.first else self._shared(others, every.rare, counter)
        if shared is None:
            return None
        mentioned = set[str]().union(*(_mentioned(each) for each in others))
        used = [each for each in others if each not in shared or each.name in mentioned]
        steps = list(map(made.in_step, used))
        rare = made.in_rare(every.rare)
        if shared:
            rare = c_ast.Compound([*(made.in_rare(duplicate(each)) for each in shared), rare], rare.coord)
        left = any(
            isinstance(each, c_ast.ID) and each.name == counter.name for one in steps for each in walk(one)
        )
        if left:
            return None
        last = (
            duplicate(cond.right)
            if cond.op == "<="
            else c_ast.BinaryOp("-", duplicate(cond.right), number(1))
        )
        self.count += 1
        return made.loops(last, steps, rare, even=alternates)

    @staticmethod
    def _shared(steps: Sequence[c_ast.Node], rare: c_ast.Node, counter: Variable) -> list[c_ast.Decl] | None:
        """The variables of ``steps`` that ``rare`` mentions, each set by ``counter``; None if one is not."""
        shared: list[c_ast.Decl] = []
        wanted = _mentioned(rare)
        operands = (exposed_operand(part) for each in (*steps, rare) for part in walk(each))
        changed = {each.name for each in operands if isinstance(each, c_ast.ID)}
        for each in reversed([each for each in steps if isinstance(each, c_ast.Decl)]):
            if each.name not in wanted:
                continue
            if each.init is None or each.name in changed:
                return None
            shared.insert(0, each)
            wanted |= _mentioned(each.init)
        own = {each.name for each in shared}
        known = {counter.name, *own}
        return shared if all(_mentioned(each.init) <= known for each in shared) else None

    def _unused(self, name: str) -> str:
        found = unused_name(name, self._taken)
        self._taken |= {found}
        return found


def _mentioned(node: c_ast.Node) -> set[str]:
    return {each.name for each in walk(node) if isinstance(each, c_ast.ID)}


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Loops over ``block`` and ``step`` instead of one over ``counter`` from ``start`` on.

    Blocks have ``size`` steps, the first one too if they are ``whole``: else it is one step. They begin with
    what is done in each few steps if that is ``first``. ``parity`` is that of the counter at step 0 of a
    block, if their size is even. Pointers come back to their places after ``period`` steps.
    """

    counter: str
    kind: IntegerType
    size: c_ast.ID
    start: int
    whole: bool
    first: bool
    parity: int
    period: int
    block: str
    step: str

    def alternates(self, node: c_ast.Node) -> bool:
        """Whether ``node`` asks if the counter is even."""
        return any(self._parity(each) is not None for each in walk(node))

    def _parity(self, node: c_ast.Node) -> int | None:
        """What is added to the counter where ``node`` is the remainder by 2; None if it is something else."""
        if not isinstance(node, c_ast.BinaryOp) or node.op not in {"%", "&"}:
            return None
        if not _is_number(node.right, 2 if node.op == "%" else 1):
            return None
        left = node.left
        if isinstance(left, c_ast.BinaryOp) and left.op == "-" and isinstance(left.right, c_ast.Constant):
            less = integer_value(left.right.value) if left.right.type == "int" else None
            if less is None or less > self.start or _offset(left.left, self.counter) != 0:
                return None
            return -less
        return _offset(left, self.counter)

    def in_step(self, node: c_ast.Node) -> c_ast.Node:
        """``node``, which runs in each step."""
        added = self._parity(node)
        if added is None:
            return mapped(node, self.in_step) if self.alternates(node) else node
        step = plus(c_ast.ID(self.step, node.coord), (added + self.parity) % 2)
        return c_ast.BinaryOp("%", step, number(2), node.coord)

    def in_rare(self, node: c_ast.Node) -> c_ast.Node:
        """``node``, which runs at the end of a block, or its start."""
        added = self._parity(node)
        if added is not None:
            return number((added + self.parity + int(not self.first)) % 2)
        block = c_ast.ID(self.block, node.coord)
        if isinstance(node, c_ast.BinaryOp) and node.op == "/" and key(node.right) == key(self.size):
            offset = _offset(node.left, self.counter)
            if offset == 0 or (offset == 1 and self.whole and not self.start and not self.first):
                return plus(block, offset + (self.start if self.whole else 0))
        if isinstance(node, c_ast.ID) and node.name == self.counter:
            later = int(self.whole and not self.first)
            ends = c_ast.BinaryOp("*", plus(block, later), duplicate(self.size), node.coord)
            return c_ast.BinaryOp("-", ends, number(1), node.coord) if later and not self.start else ends
        return mapped(node, self.in_rare)

    def loops(
        self, last: c_ast.Node, steps: Sequence[c_ast.Node], rare: c_ast.Node, *, even: bool
    ) -> c_ast.Node:
        """The loops for a counter up to ``last``, with ``even`` blocks or any, and conditions for them."""
        coord = last.coord
        block, step = (c_ast.ID(name, coord) for name in (self.block, self.step))
        count = plus(last, 1 - self.start) if self.whole else last
        full = c_ast.BinaryOp("/", count, duplicate(self.size), coord)
        rest = c_ast.BinaryOp("%", duplicate(count), duplicate(self.size), coord)
        ends = c_ast.BinaryOp("<" if self.whole else "<=", block, full, coord)
        limit = c_ast.TernaryOp(ends, duplicate(self.size), rest, coord)
        first: c_ast.Node = number(0)
        if not self.whole:
            alone = c_ast.BinaryOp("==", block, number(0), coord)
            first = c_ast.TernaryOp(alone, plus(duplicate(self.size), -1), number(0), coord)
        cond = c_ast.BinaryOp("<", step, limit, coord)
        inner = self._loop(self.step, first, cond, c_ast.Compound(list(steps), coord))
        if self.period > 1:
            inner = self._with_sizes(inner, plus(duplicate(last), 1 - self.start))
        if self.first:
            body = c_ast.Compound([rare, inner], coord)
            bound = c_ast.BinaryOp(
                "<=", block, c_ast.BinaryOp("/", duplicate(last), duplicate(self.size)), coord
            )
        else:
            body = c_ast.Compound([inner, c_ast.If(duplicate(ends), rare, None, coord)], coord)
            bound = c_ast.BinaryOp("<=", block, plus(duplicate(full), int(not self.whole)), coord)
        tests = [
            never(c_ast.BinaryOp("<", duplicate(last), number(self.start), coord), _SOME),
            never(c_ast.BinaryOp("<", duplicate(self.size), number(1), coord), _SOME),
        ]
        if even:
            odd = c_ast.BinaryOp("%", duplicate(self.size), number(2), coord)
            tests.append(never(c_ast.BinaryOp("!=", odd, number(0), coord), _EVEN))
        made = self._loop(self.block, number(0), bound, body)
        return c_ast.Compound([*tests, made], coord)

    def _with_sizes(self, loop: c_ast.For, total: c_ast.Node) -> BlockLoop:
        """``loop`` over steps, ``total`` in all blocks, which says what passes that follow pointers ask."""
        made = BlockLoop(loop.init, loop.cond, loop.next, loop.stmt, loop.coord)
        made.offset, made.steps, made.total = int(not self.whole), duplicate(self.size), total
        return made

    def _loop(self, name: str, first: c_ast.Node, cond: c_ast.Node, body: c_ast.Node) -> c_ast.For:
        start = c_ast.Decl(name, [], [], [], [], declarator(name, self.kind), first, None, cond.coord)
        following = c_ast.UnaryOp("p++", c_ast.ID(name, cond.coord), cond.coord)
        return c_ast.For(c_ast.DeclList([start], cond.coord), cond, following, body, cond.coord)
