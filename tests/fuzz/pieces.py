"""Random sweeps over grids whose neighbours are chosen by conditions and remainders: tori, clamped borders.

They are what subscripts in affine pieces and the splitting of index sets are for.
"""

from __future__ import annotations

import random

from .abstractions import abstracted
from .program import Array, Bin, Do, Expr, If, Loop, Num, Pick, Program, Read, Size, Stmt, Store, Var

_SIZES = ((0, 0), (1, 1), (2, 1), (3, 2), (7, 33), (34, 5), (40, 17))
_COUNTERS = "ij"


def pieces(seed: int, index: int) -> Program:
    """Program ``index`` of the stream of ``seed``."""
    rng = random.Random(f"pieces:{seed}:{index}")  # noqa: S311 -- wants to be repeatable
    return abstracted(_Grid(rng, f"g{seed}_{index}").program(), rng)


class _Grid:
    """Makes one program of sweeps from grid to grid."""

    def __init__(self, rng: random.Random, name: str) -> None:
        self.rng = rng
        self.name = name
        self.rank = rng.choice((1, 2, 2, 2))
        self.extents = ("n", "m")[: self.rank]
        self.counter = rng.choice(("int", "int", "long"))
        self.type = rng.choice(("unsigned", "double", "unsigned short", "int"))
        self.arrays = [self._array("A", "parameter"), self._array("B", "parameter")]

    def program(self) -> Program:
        body = [self._sweep("A", "B")]
        if self.rng.random() < 0.6:
            body.append(self._sweep("B", self.rng.choice(("A", "A", "B"))))
        if self.rng.random() < 0.4:
            body = [Loop("t", "int", False, Num(0), "<", Num(self.rng.choice((2, 5))), 1, tuple(body))]
        sizes = tuple(Size(each, self.rng.choice(("int", "int", "long"))) for each in ("n", "m"))
        return Program(self.name, sizes, tuple(self.arrays), (tuple(body),), _SIZES)

    def _array(self, key: str, kind: str) -> Array:
        extents = self.extents if kind == "parameter" else ()
        return Array(key, key, self.type, kind, extents, restrict=kind == "parameter", dead=kind == "local")

    def _sweep(self, source: str, target: str) -> Stmt:
        value: Expr = self._read(source)
        for _ in range(self.rng.randint(1, 4)):
            value = Bin(
                self.rng.choice("+-+"), value, Bin("*", self._read(source), Num(self.rng.randint(1, 5)))
            )
        statements: list[Stmt] = []
        if self.rng.random() < 0.4:
            key = f"t{len(self.arrays)}"
            self.arrays.append(self._array(key, "local"))
            statements.append(Do(Store(Read(key, ()), "=", value)))
            value = Bin("+", Read(key, ()), self._read(source))
        here = tuple(map(Var, _COUNTERS[: self.rank]))
        place = self._read(target) if self.rng.random() < 0.15 else Read(target, here)
        store: Stmt = Do(Store(place, self.rng.choice(("=", "=", "=", "+=")), value))
        if self.rng.random() < 0.2:
            store = If(Bin("<", self._read(source), Read(target, here)), (store,), ())
        body: tuple[Stmt, ...] = (*statements, store)
        for position in reversed(range(self.rank)):
            extent = Var(self.extents[position])
            body = (Loop(_COUNTERS[position], self.counter, False, Num(0), "<", extent, 1, body),)
        return body[0]

    def _read(self, key: str) -> Read:
        return Read(key, tuple(self._near(*each) for each in zip(_COUNTERS, self.extents, strict=False)))

    def _near(self, counter: str, extent: str) -> Expr:
        """A neighbour of ``counter`` that is on the grid, in one of the ways in which programs say it."""
        here, size = Var(counter), Var(extent)
        last = Bin("-", size, Num(1))
        before, after = Bin("-", here, Num(1)), Bin("+", here, Num(1))
        return self.rng.choice(
            (
                here,
                here,
                Pick(Bin("==", here, Num(0)), here, before),
                Pick(Bin(">", here, Num(0)), before, last),
                Pick(Bin("==", here, last), here, after),
                Pick(Bin("<", here, last), after, Num(0)),
                Pick(Bin("<", here, Num(2)), Num(0), Bin("-", here, Num(2))),
                Pick(Bin("<", here, Bin("/", size, Num(2))), here, last),
                Bin("%", after, size),
                Bin("%", Bin("-", Bin("+", here, size), Num(1)), size),
                Bin("%", Bin("+", here, last), size),
                Bin("%", here, size),
            )
        )
