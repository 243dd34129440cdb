"""Random chains of loop nests: each fills a temporary array that the next ones read.

They are what array contraction is for; the programs of ``generate`` seldom have arrays that
are dead before and after their region.
"""

from __future__ import annotations

import random

from .program import Array, Bin, Do, Expr, If, Loop, Num, Program, Read, Size, Stmt, Store, Var

_SIZES = ((0,), (1,), (2,), (3,), (7,), (14,), (33,))


def chain(seed: int, index: int) -> Program:
    """Program ``index`` of the stream of ``seed``."""
    return _Chain(random.Random(f"pipelines:{seed}:{index}"), f"c{seed}_{index}").program()  # noqa: S311


class _Chain:
    """Makes one program; each array is written from ``low`` to ``n + high`` along every dimension."""

    def __init__(self, rng: random.Random, name: str) -> None:
        self.rng = rng
        self.name = name
        self.rank = rng.choice((1, 2, 2))
        self.type = rng.choice(("unsigned", "double", "unsigned short"))
        self.written: dict[str, tuple[int, int]] = {"A": (0, 3)}
        self.body: list[Stmt] = []
        self.arrays = [self._array("A", "parameter")]

    def program(self) -> Program:
        stages = self.rng.randint(1, 3)
        for number in range(stages):
            key = f"t{number}"
            self.arrays.append(self._array(key, "local"))
            self._stage(key)
        self.arrays.append(self._array("B", "parameter"))
        self._stage("B")
        sizes = (Size("n", self.rng.choice(("int", "long"))),)
        return Program(self.name, sizes, tuple(self.arrays), (tuple(self.body),), _SIZES)

    def _array(self, key: str, kind: str) -> Array:
        return Array(key, key, self.type, kind, ("n",) * self.rank, restrict=True, dead=kind == "local")

    def _stage(self, key: str) -> None:
        """A nest that fills ``key`` from one or two of the arrays before it, or joins the one before."""
        sources = [each for each in self.written if each != "B"]
        chosen = [sources[-1], *self.rng.sample(sources, self.rng.choice((0, 0, 1)))]
        join = len(self.body) > 0 and self.rng.random() < 0.25
        reads: list[tuple[str, tuple[int, ...]]] = []
        for source in chosen:
            for _ in range(self.rng.choice((1, 2, 2, 3))):
                reach = (-2, -1, 0, 0) if join else (-2, -1, 0, 1, 2)
                reads.append((source, tuple(self.rng.choice(reach) for _ in range(self.rank))))
        low = max(self.written[source][0] - min(offsets) for source, offsets in reads)
        high = min(self.written[source][1] - max(offsets) for source, offsets in reads)
        swap = self.rank == 2 and self.rng.random() < 0.3 and not join
        terms = [self._read(source, offsets) for source, offsets in reads]
        value: Expr = terms[0]
        for each in terms[1:]:
            value = Bin(self.rng.choice(("+", "-", "+")), value, Bin("*", each, Num(self.rng.randint(1, 3))))
        statements: list[Stmt] = [Do(Store(self._read(key, (0,) * self.rank), "=", value))]
        if self.rng.random() < 0.2:
            statements.append(Do(Store(self._read(key, (0,) * self.rank), "+=", Num(1))))
        nest = self._nest(statements, low, high, swap=swap)
        previous = self.body[-1] if self.body else None
        if (
            join and isinstance(previous, Loop) and previous.counter == nest.counter
        ):  # one loop around both, where no value is read too early
            self.body[-1] = _joined(previous, nest)
        else:
            self.body.append(nest)
        self.written[key] = (low, high)

    def _read(self, key: str, offsets: tuple[int, ...]) -> Read:
        def at(counter: str, offset: int) -> Expr:
            if not offset:
                return Var(counter)
            return Bin("+" if offset > 0 else "-", Var(counter), Num(abs(offset)))

        return Read(key, tuple(at(counter, offset) for counter, offset in zip("ij", offsets, strict=False)))

    def _nest(self, statements: list[Stmt], low: int, high: int, *, swap: bool) -> Loop:
        counters = "ij"[: self.rank]
        body = tuple(statements)
        for counter in counters if swap else reversed(counters):
            limit: Expr = Var("n") if not high else Bin("+" if high > 0 else "-", Var("n"), Num(abs(high)))
            body = (Loop(counter, "int", False, Num(low), "<", limit, 1, body),)
        (loop,) = body
        assert isinstance(loop, Loop)
        return loop


def _joined(first: Loop, second: Loop) -> Loop:
    """``second`` in the loop of ``first``, if it runs the same way through a part of its iterations."""
    test = Bin(
        "&&", Bin(">=", Var(second.counter), second.start), Bin("<", Var(second.counter), second.bound)
    )
    return Loop(
        first.counter,
        first.type,
        False,
        first.start,
        first.relation,
        first.bound,
        first.step,
        (*first.body, If(test, second.body, ())),
    )
