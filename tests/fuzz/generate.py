"""Random programs: whatever shapes the front end takes, terminating and without undefined behaviour."""

from __future__ import annotations

import dataclasses
import random
from dataclasses import dataclass, field

from .measure import Wraps, layout
from .program import (
    Array,
    Bin,
    Bump,
    Declare,
    Do,
    Expr,
    If,
    Loop,
    Not,
    Num,
    Pick,
    Program,
    Read,
    Size,
    Stmt,
    Store,
    Var,
    walk,
)

MOST_INSTANCES = 30_000  # of statements in one run
_EXTENTS = (0, 1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 24, 33, 40)
_INTEGERS = ("unsigned", "unsigned", "unsigned", "unsigned long", "unsigned short", "unsigned char", "int",
             "short", "long", "signed char")  # fmt: skip
_COUNTERS = ("int",) * 8 + ("long", "unsigned", "unsigned long", "short", "unsigned char", "signed char")
_KINDS = ("global",) * 3 + ("parameter",) * 4 + ("pointer",) * 3 + ("local",) * 3 + (
    "member", "record", "cell")  # fmt: skip


def generate(seed: int, index: int) -> Program:
    """Program number ``index`` of the stream ``seed``; always the same one."""
    attempt = 0
    while True:
        rng = random.Random(f"{seed}:{index}:{attempt}")  # noqa: S311 -- wants to be repeatable
        program = _Generator(rng, f"k{index}").program()
        try:
            return _with_runs(program, rng)
        except (Wraps, KeyError):
            try:
                return _with_runs(_plain(program), rng)
            except (Wraps, KeyError):
                attempt += 1


def _with_runs(program: Program, rng: random.Random) -> Program:
    """``program`` with a few runs that are not too long."""
    tried: list[tuple[int, ...]] = []
    for _ in range(12):
        run = tuple(rng.choice(_EXTENTS) for _ in program.sizes)
        if run not in tried:
            tried.append(run)
    count = len(program.sizes)
    tried = [(0,) * count, (1,) * count, *tried] if count else [()]
    runs: list[tuple[int, ...]] = []
    for run in tried:
        work = layout(dataclasses.replace(program, runs=(run,))).work[run]
        if work <= MOST_INSTANCES and run not in runs:
            runs.append(run)
    if not runs:
        raise Wraps
    program = dataclasses.replace(program, runs=tuple(runs[:6]))
    layout(program)
    return program


def _plain(program: Program) -> Program:
    """``program`` with ``int`` counters and sizes."""

    def plain(node: object) -> object:
        if isinstance(node, tuple):
            return tuple(plain(each) for each in node)
        if isinstance(node, Loop):
            return dataclasses.replace(node, type="int", body=plain(node.body))
        if isinstance(node, If):
            return dataclasses.replace(node, yes=plain(node.yes), no=plain(node.no))
        return node

    return dataclasses.replace(
        program,
        regions=plain(program.regions),
        sizes=tuple(dataclasses.replace(each, type="int") for each in program.sizes),
    )


@dataclass
class _Scope:
    """What can be named at a place."""

    counters: tuple[str, ...] = ()
    arrays: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()  # counters declared before the region whose loops are over
    taken: frozenset[str] = field(default_factory=frozenset)


class _Generator:
    """Makes one program."""

    def __init__(self, rng: random.Random, name: str) -> None:
        self.rng = rng
        self.name = name
        self.arrays: dict[str, Array] = {}
        self.real = rng.random() < 0.2
        self.types = self._element_types()
        self.sizes = tuple(
            Size(
                letter,
                self._pick(("int",) * 6 + ("long", "unsigned", "short", "unsigned long")),
                self._chance(0.06),
            )
            for letter in "nmp"[: self._pick((1, 1, 2, 2, 2, 3))]
        )
        self.budget = self._pick((1, 1, 2, 2, 2, 3, 3, 4, 5))
        self.fresh = 0
        self.outside: set[str] = set()
        self.loose = self._chance(0.25)  # constructs that are often refused

    def _chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def _pick(self, choices: tuple) -> object:
        return self.rng.choice(choices)

    def _element_types(self) -> tuple[str, ...]:
        if self.real:
            return ("double", "double", "float") if self._chance(0.4) else ("double",)
        main = self._pick(_INTEGERS)
        return (main,) if self._chance(0.6) else (main, main, self._pick(_INTEGERS))

    # The whole

    def program(self) -> Program:
        for number in range(self._pick((1, 2, 2, 3, 3, 4))):
            self._array(f"A{number}", "ABCDEF"[number], self._pick((1, 1, 1, 1, 2, 2, 2, 3)))
        for number in range(self._pick((0, 0, 1, 1, 2))):
            self._array(f"x{number}", f"x{number}", 0)
        if not any(each.kind != "const" for each in self.arrays.values()):
            self._array("A9", "G", 1, "local")
        scope = _Scope(arrays=tuple(self.arrays))
        body: list[Stmt] = []
        if self._chance(0.3):
            body += self._template(scope)
        while self.budget > 0 or not body:
            body += self._statement(scope, top=True)
        regions: tuple[tuple[Stmt, ...], ...] = (tuple(body),)
        if len(body) > 1 and self._chance(0.15):
            cut = self.rng.randrange(1, len(body))
            regions = (tuple(body[:cut]), tuple(body[cut:]))
        overlaps: tuple[int | None, ...] = (None,)
        program = Program(self.name, self.sizes, tuple(self.arrays.values()), regions, ((),), overlaps)
        if len(program.may_overlap()) > 1:
            overlaps = (None, 0, self._pick((1, 2, 3, 5, 17)), -self._pick((1, 2, 7)))
            program = dataclasses.replace(program, overlaps=overlaps[: self._pick((1, 2, 4))])
        return program

    def _array(self, key: str, name: str, rank: int, kind: str = "") -> None:
        if not kind:
            scalars = ("local",) * 4 + ("global", "pointer", "member")
            kind = str(self._pick(_KINDS if rank else scalars))
            if rank and kind == "global" and self._chance(0.25):
                kind = "const"
        element = self._pick(self.types)
        names = [each.name for each in self.sizes]
        extents: list[str] = []
        if kind == "pointer" and not rank:
            rank = 1  # *x
        for position in range(rank):
            parametric = kind in {"parameter", "local", "inner"} or (kind == "pointer" and position)
            extents.append(self._pick(tuple(names)) if parametric and self._chance(0.75) else "")
        if kind in {"global", "const", "cell"}:
            name = f"{name}_{self.name}" if kind != "cell" else name
        restrict = kind in {"parameter", "pointer"} and self._chance(0.5)
        if kind == "cell":
            restrict = any(each.restrict for each in self.arrays.values() if each.kind == "cell") or (
                not any(each.kind == "cell" for each in self.arrays.values()) and self._chance(0.7)
            )
        dead = kind == "local" and self._chance(0.4)
        self.arrays[key] = Array(key, name, element, kind, tuple(extents), restrict, dead)

    # Statements

    def _statement(self, scope: _Scope, *, top: bool = False) -> list[Stmt]:
        depth = len(scope.counters)
        if (top and not self._chance(0.1)) or (depth < 4 and self._chance((0.9, 0.5, 0.25, 0.1)[depth])):
            return [self._loop(scope)]
        if self._chance(0.15):
            yes = self._body(scope, 1)
            no = self._body(scope, 1) if self._chance(0.4) else ()
            return [If(self._condition(scope), yes, no)]
        if depth and self._chance(0.12):
            return self._temporary(scope)
        self.budget -= 1
        return [Do(self._store(scope))]

    def _body(self, scope: _Scope, most: int) -> tuple[Stmt, ...]:
        found: list[Stmt] = []
        for _ in range(self.rng.randint(1, most)):
            if found and self.budget <= 0:
                break
            statements = self._statement(scope)
            found += statements
            for each in statements:
                if isinstance(each, Loop) and each.outside:
                    scope = dataclasses.replace(scope, ended=(*scope.ended, each.counter))
        return tuple(found)

    def _loop(self, scope: _Scope) -> Loop:
        counter = self._counter(scope)
        outside = counter in self.outside or (
            self._chance(0.12) and not any(counter == each for each in self._declared_counters())
        )
        if outside:
            self.outside.add(counter)
        start, relation, bound, step = self._header(scope)
        also = self._high(scope) if step > 0 and relation == "<" and self._chance(0.05) else None
        inner = dataclasses.replace(
            scope,
            counters=(*scope.counters, counter),
            ended=tuple(each for each in scope.ended if each != counter),
            arrays=tuple(key for key in scope.arrays if self.arrays[key].name != counter),
        )
        kind = self._pick(_COUNTERS) if not outside else "int"
        self.inside = getattr(self, "inside", set()) | (set() if outside else {counter})
        body = self._body(inner, self._pick((1, 1, 2, 2, 3)))
        return Loop(counter, kind, outside, start, relation, bound, step, body, also, self.rng.randrange(5))

    def _declared_counters(self) -> set[str]:
        return getattr(self, "inside", set())

    def _counter(self, scope: _Scope) -> str:
        letters = [each for each in "ijkltuvw" if each not in scope.counters and each not in scope.taken]
        return letters[0] if self._chance(0.8) else str(self._pick(tuple(letters[:5])))

    def _header(self, scope: _Scope) -> tuple[Expr, str, Expr, int]:
        step = self._pick((1,) * 9 + (2, 3, 5))
        low, high = self._low(scope), self._high(scope)
        if self._chance(0.2):  # downwards
            relation = self._pick((">=", ">=", ">"))
            return _plus(high, -1), relation, low, -step
        relation = self._pick(("<",) * 5 + ("<=",) * 2)
        if step == 1 and isinstance(low, Num) and low.value == 0 and self._chance(0.06):
            return low, "!=", Var(self._size()), 1
        return low, relation, high if relation == "<" else _plus(high, -1), step

    def _size(self) -> str:
        return str(self._pick(tuple(each.name for each in self.sizes)))

    def _low(self, scope: _Scope) -> Expr:
        choice = self.rng.random()
        if scope.counters and choice < 0.25:
            return _plus(Var(self._pick(scope.counters)), self._pick((0, 0, 1, 1, -1, 2)))
        if choice < 0.3:
            return Bin("/", Var(self._size()), Num(self._pick((2, 3))))
        if choice < 0.33:
            return Bin("-", Var(self._size()), Num(self._pick((3, 6))))
        if choice < 0.36 and scope.ended:
            return Var(self._pick(scope.ended))
        return Num(self._pick((0, 0, 0, 0, 1, 1, 2, 3)))

    def _high(self, scope: _Scope) -> Expr:
        choice = self.rng.random()
        size = Var(self._size())
        if scope.counters and choice < 0.2:
            return _plus(Var(self._pick(scope.counters)), self._pick((0, 0, 1, 1, 2, 4, -1)))
        if scope.counters and choice < 0.26:
            return Bin("-", size, Var(self._pick(scope.counters)))
        if choice < 0.32:
            return Bin("/", _plus(size, self._pick((0, 1, 5))), Num(self._pick((2, 3))))
        if choice < 0.36:
            other = self._pick((Num(6), Num(11), Var(self._size())))
            return Pick(Bin(self._pick(("<", ">")), size, other), size, other)
        if choice < 0.4:
            return Bin("%", size, Num(self._pick((3, 7))))
        if choice < 0.44 and scope.ended:
            return Var(self._pick(scope.ended))
        if choice < 0.48:
            return Num(self._pick((1, 3, 4, 6)))
        if choice < 0.52:
            return Bin("+", size, Var(self._size()))
        return _plus(size, self._pick((0,) * 8 + (-1, -1, -1, -2, 1, 2)))

    def _condition(self, scope: _Scope) -> Expr:
        def simple() -> Expr:
            value = self._value_of_loops(scope)
            choice = self.rng.random()
            if choice < 0.25:
                test: Expr = Bin("==", Bin("%", value, Num(self._pick((2, 3)))), Num(self._pick((0, 1))))
            elif choice < 0.6:
                test = Bin(self._pick(("<", ">", "<=", ">=")), value, self._value_of_loops(scope))
            else:
                test = Bin(self._pick(("<", ">", "==", "!=")), value, Num(self._pick((0, 1, 3, 5))))
            return test

        test = simple()
        if self._chance(0.25):
            test = Bin(self._pick(("&&", "||")), test, simple())
        return Not(test) if self._chance(0.1) else test

    def _value_of_loops(self, scope: _Scope) -> Expr:
        names = scope.counters or (self._size(),)
        value: Expr = Var(self._pick(names))
        if self._chance(0.2):
            value = Bin(self._pick(("+", "-")), value, Var(self._pick((*names, self._size()))))
        return value

    def _temporary(self, scope: _Scope) -> list[Stmt]:
        """A variable declared in a block, and its use there."""
        self.fresh += 1
        key = f"t{self.fresh}"
        element = self._pick(self.types)
        # names that hide others, or that generated code might want for itself
        name = str(self._pick((key, key, "t", "n", "x0", "A", "pb_i", "c0")))
        if name in scope.counters or name in scope.taken or name in {each.name for each in self.sizes}:
            name = key
        visible = tuple(each for each in scope.arrays if self.arrays[each].name != name)
        hidden = dataclasses.replace(scope, arrays=visible, taken=scope.taken | {name})
        inner = dataclasses.replace(hidden, arrays=(*visible, key))
        if self._chance(0.7):
            self.arrays[key] = Array(key, name, element, "inner", ())
            first: list[Stmt] = [Declare(key, self._data(hidden, 2))]
            if self._chance(0.3):
                first = [Declare(key, None), Do(Store(Read(key, ()), "=", self._data(hidden, 2)))]
        else:
            size = self._size() if self._chance(0.5) else ""
            self.arrays[key] = Array(key, name, element, "inner", (size,))
            counter = self._counter(hidden)
            inside = dataclasses.replace(hidden, counters=(*scope.counters, counter))
            bound = _plus(Var(size), 2) if size else Num(5)
            fill = Do(Store(Read(key, (Var(counter),)), "=", self._data(inside, 1)))
            first = [Declare(key, None), Loop(counter, "int", False, Num(0), "<", bound, 1, (fill,))]
        self.budget -= 1
        rest = [*first, *self._body(inner, 2)]
        if not any(isinstance(each, Read) and each.array == key for each in walk(tuple(rest[len(first) :]))):
            rest.append(Do(Store(self._place(hidden), "=", Bin("+", self._use(key), Num(1)))))
        return rest if name == key else [If(Num(1), tuple(rest), ())]

    def _use(self, key: str) -> Read:
        rank = self.arrays[key].rank
        return Read(key, tuple(Num(self._pick((0, 1))) for _ in range(rank)))

    # Expressions

    def _place(self, scope: _Scope) -> Read:
        keys = [each for each in scope.arrays if self.arrays[each].kind != "const"]
        if len(scope.counters) >= 1:  # elements rather than scalars
            keys += [each for each in keys if self.arrays[each].rank == len(scope.counters)] * 2
        return self._read(str(self._pick(tuple(keys))), scope)

    def _read(self, key: str, scope: _Scope) -> Read:
        array = self.arrays[key]
        if array.kind == "inner" and array.rank:
            return Read(key, (self._inner_subscript(array),))
        free = list(scope.counters)
        if self._chance(0.15):
            self.rng.shuffle(free)
        free = free[-array.rank :] if array.rank and self._chance(0.8) else free[: array.rank]
        subscripts = []
        for position in range(array.rank):
            counter = free[position] if position < len(free) else ""
            subscripts.append(self._subscript(counter, scope))
        return Read(key, tuple(subscripts))

    def _inner_subscript(self, array: Array) -> Expr:
        if array.extents[0] and self._chance(0.5):
            return Var(array.extents[0])
        return Num(self._pick((0, 1)))

    def _subscript(self, counter: str, scope: _Scope) -> Expr:
        choice = self.rng.random()
        if not counter:
            if scope.counters and choice < 0.5:
                return Var(self._pick(scope.counters))
            return _plus(Var(self._size()), -1) if choice < 0.6 else Num(self._pick((0, 0, 1, 4)))
        value: Expr = Var(counter)
        other = Var(self._pick((*scope.counters, *scope.counters, self._size())))
        if choice < 0.45:
            return value
        if choice < 0.75:
            return _plus(value, self._pick((-1, -1, 1, 1, 2, -2, 3)))
        if choice < 0.8:
            return Bin("-", Var(self._size()), value)
        if choice < 0.84:
            return _plus(Bin("*", Num(self._pick((2, 3))), value), self._pick((0, 1)))
        if choice < 0.88:
            return Bin(self._pick(("/", "%")), _plus(value, self._pick((0, 1))), Num(self._pick((2, 3, 5))))
        if choice < 0.93:
            return Bin(self._pick(("+", "-")), value, other)
        if choice < 0.95:
            return Pick(self._condition(scope), value, Num(self._pick((0, 2))))
        return Num(self._pick((0, 1, 3))) if choice < 0.98 else other

    def _store(self, scope: _Scope) -> Expr:
        target = self._place(scope)
        if self._chance(0.06):
            return Bump(target, self._pick(("++", "--", "p++", "p--")))
        choice = self.rng.random()
        if choice < 0.5:
            return Store(target, "=", self._data(scope, 2))
        if choice < 0.75:  # order shows
            return Store(target, "=", Bin("+", Bin("*", target, Num(5)), self._data(scope, 2)))
        if choice < 0.95 or not self.loose:
            return Store(target, self._pick(("+=", "+=", "-=", "*=", "^=")), self._data(scope, 2))
        return self._odd_store(target, scope)

    def _odd_store(self, target: Read, scope: _Scope) -> Expr:
        """Chains, and stores that may or may not happen."""
        others = [
            each
            for each in scope.arrays
            if each != target.array and self.arrays[each].kind in {"local", "inner", "global"}
        ]
        if not others:
            return Store(target, "=", self._data(scope, 2))
        key = self._pick(tuple(others))
        inner = Store(self._read(key, scope), "=", self._data(_without(scope, key), 1))
        rest = _without(_without(scope, key), target.array)
        form = self.rng.randrange(3)
        if form == 0:
            return Store(target, "=", inner)
        if form == 1:
            return Pick(self._data_test(rest), Store(target, "=", self._data(rest, 1)), inner)
        return Bin("&&", self._data_test(rest), Store(target, "=", self._data(rest, 1)))

    def _data_test(self, scope: _Scope) -> Expr:
        return Bin(self._pick(("<", ">", "!=")), self._data(scope, 1), self._data(scope, 0))

    def _data(self, scope: _Scope, depth: int) -> Expr:
        choice = self.rng.random()
        if depth == 0 or choice < 0.35:
            if scope.arrays and self._chance(0.8):
                return self._read(str(self._pick(scope.arrays)), scope)
            if scope.counters and self._chance(0.6):
                return Var(self._pick(scope.counters))
            return Var(self._size()) if self._chance(0.2) else Num(self.rng.randrange(1, 9))
        if choice < 0.42:
            test = self._condition(scope) if self._chance(0.6) else self._data_test(scope)
            return Pick(test, self._data(scope, depth - 1), self._data(scope, depth - 1))
        op = self._pick(("+",) * 5 + ("-",) * 3 + ("*",) * 2 + ("^", "&", "|", "/", "%", ">>", "<<"))
        return Bin(str(op), self._data(scope, depth - 1), self._data(scope, depth - 1))

    # Shapes that random nests rarely have

    def _template(self, scope: _Scope) -> list[Stmt]:
        kind = self.rng.randrange(5)
        size = Var(self._size())
        self.budget -= 2
        if kind == 0:
            return [self._stencil(size, in_place=self._chance(0.5))]
        if kind == 1:
            return self._product()
        if kind == 2:
            return [self._recurrence(size)]
        if kind == 3:
            return [self._triangular_solve(size)]
        return self._chain_of_sweeps(size, scope)

    def _new(self, rank: int) -> str:
        self.fresh += 1
        key = f"B{self.fresh}"
        self._array(key, key, rank, str(self._pick(("global", "parameter", "parameter", "local", "pointer"))))
        return key

    def _stencil(self, size: Expr, *, in_place: bool) -> Stmt:
        rank = self._pick((1, 1, 2))
        one = self._new(rank)
        other = one if in_place else self._new(rank)
        names = ("i", "j")[:rank]

        def sweep(source: str, target: str) -> Stmt:
            here = tuple(Var(each) for each in names)
            value: Expr = Read(source, here)
            for _ in range(self._pick((1, 2, 3, 4))):
                moved = tuple(_plus(each, self._pick((-1, 0, 1, 1, -2))) for each in here)
                value = Bin(str(self._pick(("+", "-", "+"))), value, Read(source, moved))
            body: Stmt = Do(
                Store(Read(target, here), "=", Bin("*", value, Num(3)) if self._chance(0.5) else value)
            )
            for name in reversed(names):
                step = self._pick((1, 1, 1, 1, 2))
                body = Loop(
                    name,
                    "int",
                    False,
                    Num(self._pick((0, 1, 2))),
                    "<",
                    _plus(size, self._pick((0, -1, 1))),
                    step,
                    (body,),
                )
            return body

        body = [sweep(one, other)]
        if not in_place:
            body.append(sweep(other, one))
        bound: Expr = Num(self._pick((2, 3, 5))) if self._chance(0.5) else Var(self._size())
        return Loop("t", "int", False, Num(0), "<", bound, 1, tuple(body))

    def _product(self) -> list[Stmt]:
        result, left, right = (self._new(2) for _ in range(3))
        i, j, k = Var("i"), Var("j"), Var("k")
        update: Stmt = Do(
            Store(
                Read(result, (i, j)),
                "+=",
                Bin("*", Read(left, (i, k)), Read(right, (k, j) if self._chance(0.6) else (j, k))),
            )
        )
        start: Stmt = Do(Store(Read(result, (i, j)), str(self._pick(("=", "*="))), Num(3)))
        bounds = [Var(self._size()) for _ in range(3)]
        low: Expr = self._pick((Num(0), Num(0), i, _plus(i, 1)))
        inner = Loop("k", "int", False, Num(0) if self._chance(0.7) else i, "<", bounds[2], 1, (update,))
        if self._chance(0.5):
            return [Loop("i", "int", False, Num(0), "<", bounds[0], 1,
                         (Loop("j", "int", False, low, "<", bounds[1], 1, (start, inner)),))]  # fmt: skip
        first = Loop("j", "int", False, low, "<", bounds[1], 1, (start,))
        second = Loop("j", "int", False, low, "<", bounds[1], 1, (update,))
        both = (first, Loop("k", "int", False, Num(0), "<", bounds[2], 1, (second,)))
        return [Loop("i", "int", False, Num(0), "<", bounds[0], 1, both)]

    def _recurrence(self, size: Expr) -> Stmt:
        data, sums = self._new(2), self._new(1)
        i, j = Var("i"), Var("j")
        down = self._chance(0.3)
        body: tuple[Stmt, ...] = (
            Do(
                Store(Read(sums, (i,)), "=", Bin("+", Bin("*", Read(sums, (i,)), Num(3)), Read(data, (i, j))))
            ),
            Do(
                Store(
                    Read(data, (i, j)),
                    "=",
                    Bin("^", Read(sums, (_plus(i, self._pick((0, -1))),)), Read(data, (j, i))),
                )
            ),
        )
        loop = (
            Loop(
                "j",
                "int",
                False,
                _plus(size, -1),
                ">=",
                self._pick((Num(0), i)),
                -1,
                body[: self._pick((1, 2))],
            )
            if down
            else Loop("j", "int", False, self._pick((Num(0), i)), "<", size, 1, body[: self._pick((1, 2, 2))])
        )
        return Loop("i", "int", False, Num(0), "<", Var(self._size()), 1, (loop,))

    def _triangular_solve(self, size: Expr) -> Stmt:
        matrix, vector = self._new(2), self._new(1)
        i, j = Var("i"), Var("j")
        scalar = f"t{self.fresh + 1}"
        self.fresh += 1
        kind = self.types[0]
        self.arrays[scalar] = Array(
            scalar, "sum", kind, "inner" if self._chance(0.5) else "local", (), dead=self._chance(0.6)
        )
        read = Read(scalar, ())
        update = Do(Store(read, "-=", Bin("*", Read(matrix, (i, j)), Read(vector, (j,)))))
        first: Stmt = (
            Declare(scalar, Read(vector, (i,)))
            if self.arrays[scalar].kind == "inner"
            else Do(Store(read, "=", Read(vector, (i,))))
        )
        last = Do(Store(Read(vector, (i,)), "=", Bin("+", read, Read(matrix, (i, i)))))
        inner = Loop("j", "int", False, Num(0), "<", i, 1, (update,))
        return Loop("i", "int", False, Num(0), "<", size, 1, (first, inner, last))

    def _chain_of_sweeps(self, size: Expr, scope: _Scope) -> list[Stmt]:
        """Loops one after the other that hand on arrays: food for fusion."""
        arrays = [self._new(1) for _ in range(3)]
        loops: list[Stmt] = []
        for source, target in zip(arrays, [*arrays[1:], arrays[0]], strict=True):
            moved = _plus(Var("i"), self._pick((0, 0, -1, 1, 2)))
            value = Bin(
                "+", Read(source, (moved,)), self._data(dataclasses.replace(scope, counters=("i",)), 1)
            )
            body = Do(Store(Read(target, (Var("i"),)), str(self._pick(("=", "+="))), value))
            loops.append(
                Loop(
                    "i",
                    "int",
                    False,
                    Num(self._pick((0, 1))),
                    "<",
                    _plus(size, self._pick((0, -1))),
                    1,
                    (body,),
                )
            )
        return loops


def _plus(node: Expr, amount: int) -> Expr:
    if amount == 0:
        return node
    if isinstance(node, Num):
        return Num(node.value + amount)
    return Bin("+" if amount > 0 else "-", node, Num(abs(amount)))


def _without(scope: _Scope, key: str) -> _Scope:
    return dataclasses.replace(scope, arrays=tuple(each for each in scope.arrays if each != key))
