"""Random nests with private variables: sums in scalars, buffers of rows, loops unrolled and blocked by hand.

So are the best of some terms and its place, in variables or in elements.

They are what is coalesced, expanded, forwarded and rerolled; the programs of ``generate`` seldom have
values that one iteration of outer loops computes in a loop of its own.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from .program import Array, Bin, Declare, Do, Expr, If, Loop, Num, Pick, Program, Read, Size, Stmt, Store, Var

_SIZES = ((0,), (1,), (2,), (3,), (7,), (14,), (33,))
_LARGE = (140,)  # more than a tile of what is expanded
_N = Var("n")
_Update = Callable[[Expr], list[Stmt]]  # the statements for a value of the inner counter
_TYPES = ("unsigned", "double", "float", "unsigned short", "unsigned long")


def private_values(seed: int, index: int) -> Program:
    """Program ``index`` of the stream of ``seed``."""
    return _Privates(random.Random(f"privates:{seed}:{index}"), f"p{seed}_{index}").program()  # noqa: S311


class _Privates:
    """Makes one program of one or two nests, whose outer iterations have values of their own."""

    def __init__(self, rng: random.Random, name: str) -> None:
        self.rng = rng
        self.name = name
        self.type = rng.choice(_TYPES)
        self.fresh = 0
        self.arrays: list[Array] = []
        self.inputs = [self._array("X", 2), self._array("Y", 2), self._array("Z", 1)]

    def program(self) -> Program:
        nests = self.rng.choice((1, 1, 1, 2))
        body = tuple(each for _ in range(nests) for each in self._nest())
        runs = (*_SIZES, _LARGE) if self.rng.random() < 0.2 else _SIZES
        return Program(
            self.name,
            (Size("n", self.rng.choice(("int", "int", "long"))),),
            tuple(self.arrays),
            (body,),
            runs,
        )

    # Variables

    def _array(
        self, name: str, rank: int, kind: str = "parameter", *, dead: bool = False, element: str = ""
    ) -> str:
        self.fresh += 1
        key = f"{name}{self.fresh}"
        restrict = kind == "parameter" and self.rng.random() < 0.8
        self.arrays.append(Array(key, key, element or self.type, kind, ("n",) * rank, restrict, dead))
        return key

    def _private(self, name: str, rank: int = 0) -> tuple[str, list[Stmt]]:
        """A variable, and its declaration where that is within the loops."""
        wide = {"float": "double", "unsigned short": "unsigned", "unsigned": "unsigned long"}
        kind = wide.get(self.type, self.type) if self.rng.random() < 0.25 else self.type
        if self.rng.random() < 0.5:
            key = self._array(name, rank, "inner", element=kind)
            return key, [Declare(key, None)]
        return self._array(name, rank, "local", dead=self.rng.random() < 0.7, element=kind), []

    def _input(self, *counters: Expr) -> Expr:
        """An element of an input; ``counters`` are those of the outer loops and of the inner one."""
        *outer, inner = counters
        key = self.rng.choice(self.inputs)
        if key.startswith("row"):
            return Read(key, (inner,))
        if key.startswith("Z"):
            return Read(key, (self.rng.choice(counters),))
        pair = (self.rng.choice(outer), _moved(inner, self.rng.choice((0, 0, 0, 1, -1))))
        return Read(key, pair if self.rng.random() < 0.6 else pair[::-1])

    # Nests

    def _nest(self) -> list[Stmt]:
        outer = ("i", "j")[: self.rng.choice((1, 2, 2, 2))]
        counters = tuple(Var(each) for each in outer)
        result = self._array("R", len(outer))
        buffer: list[Stmt] = []
        if len(outer) == 2 and self.rng.random() < 0.25:
            buffer = self._row_buffer(counters[0])
        body = self._values(counters, result)
        low: Expr = counters[0] if self.rng.random() < 0.15 else Num(0)
        if self.rng.random() < 0.15:
            body = [
                If(
                    Bin(self.rng.choice(("<", "!=", ">=")), counters[-1], Num(self.rng.choice((2, 5)))),
                    tuple(body),
                    (),
                )
            ]
        if len(outer) == 2:
            body = [*buffer, self._loop("j", low, tuple(body))]
        if buffer:
            self.inputs = [each for each in self.inputs if not each.startswith("row")]
        return [self._loop("i", Num(0), tuple(body))]

    def _row_buffer(self, row: Expr) -> list[Stmt]:
        """A copy of a row or column, which the sums of the row may use."""
        key, declared = self._private("row", 1)
        source = Read(self.inputs[0], (row, Var("k")) if self.rng.random() < 0.5 else (Var("k"), row))
        value = source if self.rng.random() < 0.6 else Bin("+", source, Num(1))
        fill = self._loop("k", Num(0), (Do(Store(Read(key, (Var("k"),)), "=", value)),))
        self.inputs = [*self.inputs, key, key]
        return [*declared, fill]

    def _loop(self, counter: str, low: Expr, body: tuple[Stmt, ...]) -> Loop:
        if self.rng.random() < 0.1 and low == Num(0):
            return Loop(counter, "int", False, Bin("-", _N, Num(1)), ">=", low, -1, body)
        return Loop(counter, "int", False, low, "<", _N, 1, body)

    def _values(self, counters: tuple[Expr, ...], result: str) -> list[Stmt]:
        """Sums of one iteration of the outer loops, and what becomes of them; or a choice of its terms."""
        if self.rng.random() < 0.2:
            return self._choice(counters, Read(result, counters))
        declared: list[Stmt] = []
        starts: list[Stmt] = []
        sums: list[str] = []
        for _ in range(self.rng.choice((1, 1, 1, 2))):
            key, statements = self._private("s")
            declared += statements
            sums.append(key)
            start = Read(result, counters) if self.rng.random() < 0.15 else Num(self.rng.choice((0, 0, 1)))
            starts.append(Do(Store(Read(key, ()), "=", start)))
        term = ""
        if self.rng.random() < 0.3:
            term, statements = self._private("t")
            declared += statements
        seed = self.rng.random()

        def update(inner: Expr) -> list[Stmt]:
            outer, self.rng = self.rng, random.Random(seed)  # noqa: S311 -- all copies of an update are the same
            made = self._update(sums, term, (*counters, inner))
            self.rng = outer
            return made

        return [*declared, *starts, *self._steps(update), *self._ends(sums, counters, result)]

    def _choice(self, counters: tuple[Expr, ...], best: Read) -> list[Stmt]:
        """The best term, in an element or a variable, and where it is: in either, too."""
        declared: list[Stmt] = []
        ends: list[Stmt] = []
        place = Read(self._array("Q", len(counters)), counters)
        starts = [Do(Store(place, "=", Num(0)))]
        if self.rng.random() < 0.3:
            key, declared = self._private("p")
            ends = [Do(Store(place, "=", Read(key, ())))]
            place = Read(key, ())
            starts = [Do(Store(place, "=", Num(0)))]
        if self.rng.random() < 0.8:
            starts.append(Do(Store(best, "=", Num(self.rng.choice((0, 5, 40))))))
        relation, seed = self.rng.choice(("<", ">", "<=")), self.rng.random()

        def update(inner: Expr) -> list[Stmt]:
            rng = random.Random(seed)  # noqa: S311 -- all copies of an update are the same
            outer, self.rng = self.rng, rng
            value = Bin("*", self._input(*counters, inner), self._input(*counters, inner))
            self.rng = outer
            chosen = (Do(Store(best, "=", value)), Do(Store(place, "=", inner)))
            return [If(Bin(relation, value, best), chosen, ())]

        return [*declared, *starts, *self._steps(update), *ends]

    def _update(self, sums: list[str], term: str, counters: tuple[Expr, ...]) -> list[Stmt]:
        made: list[Stmt] = []
        if term:
            value: Expr = Read(term, ())
            made.append(Do(Store(value, "=", Bin("-", self._input(*counters), self._input(*counters)))))
            value = Bin("*", value, value)
        else:
            value = Bin("*", self._input(*counters), self._input(*counters))
        for key in sums:
            old = Read(key, ())
            form = self.rng.randrange(5)
            if form < 2:
                made.append(Do(Store(old, "+=", value)))
            elif form == 2:  # order shows
                made.append(Do(Store(old, "=", Bin("+", Bin("*", old, Num(3)), value))))
            elif form == 3:
                made.append(Do(Store(old, "=", Pick(Bin(">", value, old), value, old))))
            else:
                made.append(Do(Store(old, "=", Bin("+", old, value))))
        return made

    def _steps(self, update: _Update) -> list[Stmt]:
        """The inner loop over ``k``: plain, unrolled, in blocks, or with its first iteration outside."""
        k, form = Var("k"), self.rng.randrange(8)
        if form < 3:
            return [self._loop("k", Num(0), tuple(update(k)))]
        if form < 6:
            return self._unrolled(update, self.rng.choice((2, 2, 3, 4)))
        if form == 6:
            size = self.rng.choice((3, 4, 8))
            end = Bin("+", Var("l"), Num(size))
            limit = Pick(Bin("<", end, _N), end, _N)
            inside = Loop("k", "int", False, Var("l"), "<", limit, 1, tuple(update(k)))
            return [Loop("l", "int", False, Num(0), "<", _N, size, (inside,))]
        first = If(Bin("<", Num(0), _N), tuple(update(Num(0))), ())
        return [first, Loop("k", "int", False, Num(1), "<", _N, 1, tuple(update(k)))]

    def _unrolled(self, update: _Update, copies: int) -> list[Stmt]:
        """``copies`` of an update in an iteration, at times with a wrong one, and a loop for what is left."""
        k = Var("k")
        offsets = list(range(copies))
        if self.rng.random() < 0.15:
            offsets[-1] = self.rng.choice((0, copies - 2))
        body = tuple(each for offset in offsets for each in update(_moved(k, offset)))
        whole = Bin("*", Bin("/", _N, Num(copies)), Num(copies))
        if self.rng.random() < 0.5:
            main = Loop("k", "int", False, Num(0), "<", whole, copies, body)
            rest = Loop("l", "int", False, whole, "<", _N, 1, tuple(update(Var("l"))))
        else:
            main = Loop("k", "int", True, Num(0), "<", _moved(_N, 1 - copies), copies, body)
            rest = Loop("k", "int", True, k, "<", _N, 1, tuple(update(k)))
        if self.rng.random() < 0.1:
            return [main]
        return [main, rest]

    def _ends(self, sums: list[str], counters: tuple[Expr, ...], result: str) -> list[Stmt]:
        here = Read(result, counters)
        value: Expr = Read(sums[0], ())
        for key in sums[1:]:
            value = Bin("+", value, Read(key, ()))
        form = self.rng.randrange(5)
        if form < 2:
            return [Do(Store(here, "=", value))]
        if form == 2:
            return [Do(Store(here, "+=", value))]
        if form == 3:
            return [Do(Store(here, "=", Bin("+", Bin("*", value, Num(2)), here)))]
        again = replace(here, subscripts=tuple(_moved(each, 1) for each in counters))
        return [Do(Store(here, "=", value)), Do(Store(again, "+=", value))]


def _moved(node: Expr, amount: int) -> Expr:
    if not amount:
        return node
    if isinstance(node, Num):
        return Num(node.value + amount)
    return Bin("+" if amount > 0 else "-", node, Num(abs(amount)))
