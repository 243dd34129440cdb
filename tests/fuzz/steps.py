"""Random steps over time: rings and borders, in grids that are copied back, or written in turn.

They are what tiles over time, folded grids, residue classes of steps and ghost cells are for; and so are sums
over the grid each few steps, sources at a point, sweeps in two colours, and variables that steps set anew.
"""

from __future__ import annotations

import random

from .program import Array, Bin, Do, Expr, If, Loop, Num, Pick, Program, Read, Size, Stmt, Store, Var

_SIZES = ((0, 1, 1), (1, 1, 2), (2, 2, 1), (3, 3, 2), (5, 7, 12), (6, 33, 5), (9, 20, 17))
_COUNTERS = "ij"


def steps(seed: int, index: int) -> Program:
    """Program ``index`` of the stream of ``seed``."""
    rng, values = (random.Random(f"{each}:{seed}:{index}") for each in ("steps", "values"))  # noqa: S311
    return _Steps(rng, values, f"s{seed}_{index}").program()


def stencils(seed: int, index: int) -> Program:
    """Program ``index`` of plain steps: what is beside a grid stays as it is, and nothing is summed up."""
    rng, values = (random.Random(f"{each}:{seed}:{index}") for each in ("stencils", "plain"))  # noqa: S311
    return _Steps(rng, values, f"st{seed}_{index}", plain=True).program()


class _Steps:
    """Makes one program: a loop over ``steps`` with sweeps over places 1 to the extent of each dimension."""

    def __init__(self, rng: random.Random, values: random.Random, name: str, *, plain: bool = False) -> None:
        self.rng = rng
        self.values = values
        self.name = name
        self.variable = f"F_{name}"  # programs of a file may all have global ones
        self.varying = values.random() < 0.4
        self.rank = rng.choice((1, 1, 2))
        self.extents = ("n", "m")[: self.rank]
        self.type = rng.choice(("unsigned", "double", "unsigned char", "float"))
        self.period = rng.choice((0, 0, 2, 2, 3))
        # what stands beside a grid: the other border, a place of the same side, copies of these, or nothing
        borders = ("fixed",) if plain else ("ring", "ring", "clamped", "ghosts", "fixed")
        self.borders = [rng.choice(borders) for _ in self.extents]
        self.plain = plain

    def program(self) -> Program:
        now, after = (self._grid(each) for each in (0, 1))
        coloured = not self.period and self.rng.random() < 0.25
        body = self._colours(now) if coloured else [self._sweep(now, after)]
        if not self.period and not coloured:
            body = self._copied(body)
        ghosts = [
            each
            for dim, border in enumerate(self.borders)
            if border == "ghosts"
            for each in self._copies(dim)
        ]
        body = [*ghosts, *body] if self.period or self.rng.random() < 0.6 else [*body, *ghosts]
        if self.rng.random() < 0.25 and not self.plain:
            body.append(Do(Store(self._place(after, *(Num(1) for _ in self.extents)), "+=", Num(3))))
        rarely = self.rng.random() < 0.35 and not self.plain
        if rarely:
            body = [*body, self._sum(now)] if self.rng.random() < 0.6 else [self._sum(now), *body]
        body = self._with_values(body)
        loop = Loop("t", "int", False, Num(0), "<", Var("steps"), 1, tuple(body))
        sizes = tuple(Size(each, "int") for each in ("steps", "n", "m"))
        arrays = [
            Array("A", "A", self.type, "parameter", ("",) * bool(self.period) + self.extents, restrict=True)
        ]
        if rarely:
            arrays.append(Array("N", "N", self.type, "parameter", ("n",), restrict=True))
        if self.varying:
            arrays.append(
                Array(self.variable, self.variable, self.type, self.values.choice(("local", "global")), ())
            )
        if not self.period:
            arrays.append(Array("B", "B", self.type, "parameter", self.extents, restrict=True))
        return Program(self.name, sizes, tuple(arrays), ((loop,),), _SIZES)

    def _with_values(self, body: list[Stmt]) -> list[Stmt]:
        """The ``body`` of a step that sets a variable in one place or two, in all steps or in some."""
        if not self.varying:
            return body
        for _ in range(self.values.choice((1, 1, 2))):
            value: Expr = self.values.choice((Var("t"), Num(3), Bin("*", Var("t"), Num(2))))
            made: Stmt = Do(Store(Read(self.variable, ()), self.values.choice(("=", "+=", "-=")), value))
            if self.values.random() < 0.2:
                made = If(Bin("<", Var("t"), Num(self.values.randint(1, 5))), (made,), ())
            at = self.values.randint(0, len(body))
            body = [*body[:at], made, *body[at:]]
        return body

    def _copied(self, sweep: list[Stmt]) -> list[Stmt]:
        """A ``sweep`` from A to B with a copy back; or one from B to A, with a copy before or after it."""
        copy = Do(Store(self._at("A"), "=", self._at("B")))
        kind = self.rng.random()
        if kind < 0.5:
            return [*sweep, self._nest(copy)]
        whole = self._nest(copy, beside=int(self.rng.random() < 0.7))
        if kind < 0.75:
            return [*sweep, whole]
        back = self._sweep(("B", ()), ("A", ()))
        copy = Do(Store(self._at("B"), "=", self._at("A")))
        return [self._nest(copy, beside=int(self.rng.random() < 0.8)), back]

    def _grid(self, later: int) -> tuple[str, tuple[Expr, ...]]:
        """The array of a grid, and the subscripts that say which grid of it."""
        if not self.period:
            return "AB"[later], ()
        step: Expr = Bin("+", Var("t"), Num(1)) if later else Var("t")
        return "A", (Bin("%", step, Num(self.period)),)

    def _at(self, key: str) -> Read:
        return Read(key, tuple(map(Var, _COUNTERS[: self.rank])))

    def _place(self, grid: tuple[str, tuple[Expr, ...]], *place: Expr) -> Read:
        """An element of a grid; of one that is copied back, of the first of the two arrays."""
        key, turn = grid
        return Read(key if self.period else "A", (*turn, *place))

    def _sum(self, now: tuple[str, tuple[Expr, ...]]) -> Stmt:
        """The sum of all of the grid, after each few steps."""
        period = self.rng.randint(3, 6)
        test = Bin("==", Bin("%", Var("t"), Num(period)), Num(self.rng.randrange(period)))
        here = self._place(now, *map(Var, _COUNTERS[: self.rank]))
        return If(test, (self._nest(Do(Store(Read("N", (Num(0),)), "+=", here))),), ())

    def _colours(self, now: tuple[str, tuple[Expr, ...]]) -> list[Stmt]:
        """A sweep over the places whose counters have an even sum, then one over the others."""
        total: Expr = Var(_COUNTERS[0])
        for each in _COUNTERS[1 : self.rank]:
            total = Bin("+", total, Var(each))
        found = []
        for colour in self.rng.sample((0, 1), 2):
            test = Bin("==", Bin("%", total, Num(2)), Num(colour))
            found.append(self._nest(If(test, (self._update(now, now),), ())))
        return found

    def _sweep(self, now: tuple[str, tuple[Expr, ...]], after: tuple[str, tuple[Expr, ...]]) -> Stmt:
        return self._nest(self._update(now, after))

    def _update(self, now: tuple[str, tuple[Expr, ...]], after: tuple[str, tuple[Expr, ...]]) -> Stmt:
        """An element of ``after`` as a sum over some of those of ``now`` beside it."""
        here = tuple(map(Var, _COUNTERS[: self.rank]))
        value: Expr = Read(now[0], (*now[1], *here))
        for _ in range(self.rng.randint(1, 4)):
            place = tuple(self._near(dim) for dim in range(self.rank))
            value = Bin("+", value, Bin("*", Read(now[0], (*now[1], *place)), Num(self.rng.randint(1, 3))))
        if self.varying and self.values.random() < 0.8:
            value = Bin("+", value, Read(self.variable, ()))
        return Do(Store(Read(after[0], (*after[1], *here)), "=", value))

    def _nest(self, statement: Stmt, beside: int = 0) -> Stmt:
        """Loops over all places, and over some ``beside`` these at each border."""
        for dim in reversed(range(self.rank)):
            statement = self._loop(dim, statement, beside=beside)
        return statement

    def _loop(self, dim: int, *body: Stmt, beside: int = 0) -> Loop:
        end: Expr = Bin("+", Var(self.extents[dim]), Num(beside)) if beside else Var(self.extents[dim])
        return Loop(_COUNTERS[dim], "int", False, Num(1 - beside), "<=", end, 1, body)

    def _near(self, dim: int) -> Expr:
        """A place at most one beside the counter, as the border asks for."""
        here, size, border = Var(_COUNTERS[dim]), Var(self.extents[dim]), self.borders[dim]
        before, after = Bin("-", here, Num(1)), Bin("+", here, Num(1))
        if border in {"ghosts", "fixed"}:
            return self.rng.choice((here, before, after))
        low, high = (size, Num(1)) if border == "ring" else (Num(1), size)
        chosen = [
            here,
            Pick(Bin("==", here, Num(1)), low, before),
            Pick(Bin("<", here, size), after, high),
        ]
        if border == "ring":
            chosen += [
                Bin("+", Bin("%", here, size), Num(1)),
                Bin("+", Bin("%", Bin("-", Bin("+", here, size), Num(2)), size), Num(1)),
            ]
        return self.rng.choice(chosen)

    def _copies(self, dim: int) -> list[Stmt]:
        """What is beside the grid along ``dim``, copied from the other border or from the same one."""
        key, turn = self._grid(0)
        size, ring = Var(self.extents[dim]), self.rng.random() < 0.7
        low, high = (size, Num(1)) if ring else (Num(1), size)
        made: list[Stmt] = []
        for ghost, source in ((Num(0), low), (Bin("+", size, Num(1)), high)):
            left, right = (
                tuple(place if other == dim else Var(_COUNTERS[other]) for other in range(self.rank))
                for place in (ghost, source)
            )
            made.append(Do(Store(Read(key, (*turn, *left)), "=", Read(key, (*turn, *right)))))
        if self.rank == 1:
            return made
        if self.rng.random() < 0.5:
            return [self._loop(1 - dim, *made)]
        return [self._loop(1 - dim, each) for each in made]
