"""Random updates of grids under conditions on data, under directives of OpenMP or without, and in headers.

Each iteration writes elements of its own alone, so that directives promise nothing false.
"""

from __future__ import annotations

import random

from .abstractions import abstracted
from .program import Array, Bin, Do, Expr, If, Loop, Num, Pick, Program, Read, Size, Stmt, Store, Var

_SIZES = ((0, 0), (1, 1), (2, 1), (3, 2), (7, 33), (34, 5), (40, 17))
_COUNTERS = "ij"
_RELATIONS = ("<", ">", "<=", ">=", "!=")


def updates(seed: int, index: int) -> Program:
    """Program ``index`` of the stream of ``seed``."""
    rng = random.Random(f"updates:{seed}:{index}")  # noqa: S311 -- wants to be repeatable
    return abstracted(_Updates(rng, f"u{seed}_{index}").program(), rng)


class _Updates:
    """Makes one program of sweeps that keep what is best so far, and where that was."""

    def __init__(self, rng: random.Random, name: str) -> None:
        self.rng = rng
        self.name = name
        self.rank = rng.choice((1, 2, 2))
        self.extents = ("n", "m")[: self.rank]
        self.counter = rng.choice(("int", "int", "long"))
        self.type = rng.choice(("unsigned", "double", "float", "unsigned short", "int"))
        self.arrays = [self._grid("A", self.type), self._grid("B", self.type), self._grid("C", "int")]
        self.total = rng.random() < 0.4
        if self.total:
            self.arrays.append(Array("T", "T", "unsigned", "local", ()))

    def program(self) -> Program:
        body = [self._sweep() for _ in range(self.rng.randint(1, 2))]
        if self.rng.random() < 0.5:
            body = [Loop("k", "int", False, Num(0), "<", Num(self.rng.choice((2, 4))), 1, tuple(body))]
        sizes = tuple(Size(each, self.rng.choice(("int", "int", "long"))) for each in ("n", "m"))
        header = self.rng.random() < 0.3
        return Program(self.name, sizes, tuple(self.arrays), (tuple(body),), _SIZES, header=header)

    def _grid(self, key: str, kind: str) -> Array:
        return Array(key, key, kind, "parameter", self.extents, restrict=True)

    def _here(self, key: str) -> Read:
        return Read(key, tuple(map(Var, _COUNTERS[: self.rank])))

    def _near(self) -> Expr:
        """An element of the array that no sweep writes, here or beside."""
        places = []
        for counter, extent in zip(_COUNTERS, self.extents, strict=False):
            here, last = Var(counter), Bin("-", Var(extent), Num(1))
            before, after = Bin("-", here, Num(1)), Bin("+", here, Num(1))
            places.append(
                self.rng.choice(
                    (
                        here,
                        here,
                        Pick(Bin(">", here, Num(0)), before, here),
                        Pick(Bin("<", here, last), after, Num(0)),
                        Bin("%", after, Var(extent)),
                    )
                )
            )
        return Read("A", tuple(places))

    def _sweep(self) -> Stmt:
        temporaries: list[str] = []
        statements = tuple(each for _ in range(self.rng.randint(1, 2)) for each in self._update(temporaries))
        clauses = ["schedule(static)"] if self.rng.random() < 0.3 else []
        if self.total:
            added = Do(Store(Read("T", ()), "+=", self._here("C")))
            kept = If(Bin("<", self._near(), self._here("B")), (added,), ())
            statements = (*statements, kept if self.rng.random() < 0.5 else added)
            clauses.append("reduction(+ : T)")
        if temporaries:
            clauses.append(f"private({', '.join(temporaries)})")
        directive = f"omp parallel for {' '.join(clauses)}".rstrip() if self.rng.random() < 0.5 else ""
        body = statements
        for position in reversed(range(self.rank)):
            extent = Var(self.extents[position])
            above = directive if position == 0 else ""
            counter = _COUNTERS[position]
            body = (Loop(counter, self.counter, False, Num(0), "<", extent, 1, body, directive=above),)
        return body[0]

    def _update(self, temporaries: list[str]) -> list[Stmt]:
        """Statements that may replace the best value, and what is kept with it."""
        value: Expr = self._near()
        for _ in range(self.rng.randint(0, 2)):
            value = Bin(self.rng.choice("+-"), value, Bin("*", self._near(), Num(self.rng.randint(1, 3))))
        before: list[Stmt] = []
        if self.rng.random() < 0.4:
            key = f"t{len(self.arrays)}"
            self.arrays.append(Array(key, key, self.type, "local", (), dead=True))
            before.append(Do(Store(Read(key, ()), "=", value)))
            value = Read(key, ())
            temporaries.append(key)
        best, place = self._here("B"), self._here("C")
        test = Bin(self.rng.choice(_RELATIONS), value, best)
        if self.rng.random() < 0.2:
            return [*before, Do(Store(best, "=", Pick(test, value, best)))]
        taken: list[Stmt] = [Do(Store(best, self.rng.choice(("=", "=", "+=")), value))]
        if self.rng.random() < 0.7:
            taken.append(Do(Store(place, "=", Num(self.rng.randint(0, 9)))))
        if self.rng.random() < 0.3:
            inner = Bin(self.rng.choice(_RELATIONS), place, Num(self.rng.randint(0, 5)))
            taken = [If(inner, tuple(taken), ())]
        otherwise: tuple[Stmt, ...] = ()
        if self.rng.random() < 0.3:
            otherwise = (Do(Store(place, "+=", Num(1))),)
        return [*before, If(test, tuple(taken), otherwise)]
