"""A random program as a small tree, which is easy to print, to measure and to make smaller.

The same expressions serve as affine ones (bounds, conditions, subscripts: signed
arithmetic) and as data (unsigned or floating arithmetic, so that nothing
overflows). Subscripts in the tree may be negative: ``layout`` finds the offset
and the extents of each array, so every tree is a program that stays in bounds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

# C type: width in bits, signed, floating
TYPES: dict[str, tuple[int, bool, bool]] = {
    "unsigned char": (8, False, False),
    "unsigned short": (16, False, False),
    "unsigned": (32, False, False),
    "unsigned long": (64, False, False),
    "signed char": (8, True, False),
    "short": (16, True, False),
    "int": (32, True, False),
    "long": (64, True, False),
    "float": (32, True, True),
    "double": (64, True, True),
}


@dataclass(frozen=True, slots=True)
class Num:
    """An integer constant."""

    value: int


@dataclass(frozen=True, slots=True)
class Var:
    """A loop counter or a size."""

    name: str


@dataclass(frozen=True, slots=True)
class Read:
    """An element of the array with the key ``array``, or where it stands on the left, its place."""

    array: str
    subscripts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Bin:
    """A binary operation of C."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Not:
    """``!operand``."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class Pick:
    """``test ? yes : no``."""

    test: Expr
    yes: Expr
    no: Expr


@dataclass(frozen=True, slots=True)
class Store:
    """An assignment, which is an expression."""

    target: Read
    op: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Bump:
    """``target++`` and its kin; ``op`` is ``++``, ``--``, ``p++`` or ``p--`` (postfix)."""

    target: Read
    op: str


Expr = Num | Var | Read | Bin | Not | Pick | Store | Bump


@dataclass(frozen=True, slots=True)
class Do:
    """An expression statement."""

    expr: Expr


@dataclass(frozen=True, slots=True)
class If:
    """``if (test) yes else no``; no ``else`` if ``no`` is empty."""

    test: Expr
    yes: tuple[Stmt, ...]
    no: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """``for (counter = start; counter relation bound; counter += step)``.

    The counter is declared in the loop, or before the region if ``outside``.
    ``also`` is a second bound, joined by ``&&``. ``spelling`` chooses among ways to write the step. A
    ``directive`` is a pragma before the loop.
    """

    counter: str
    type: str
    outside: bool
    start: Expr
    relation: str
    bound: Expr
    step: int
    body: tuple[Stmt, ...]
    also: Expr | None = None
    spelling: int = 0
    directive: str = ""


@dataclass(frozen=True, slots=True)
class Declare:
    """The declaration of a local array or scalar; a scalar may have an initial value."""

    array: str
    value: Expr | None


Stmt = Do | If | Loop | Declare


@dataclass(frozen=True, slots=True)
class Array:
    """A variable.

    ``kind`` says where it lives: ``global``, ``const``, ``parameter`` (``T a[n][m]``),
    ``pointer`` (``T *a``, ``T (*a)[8]``), ``local`` (in the function), ``inner``
    (in the region), ``member`` (``s->a``), ``record`` (``g.a``), ``cell`` (``q[i].a``).
    ``extents`` has a size per dimension that the extent follows, "" for a constant. With ``rows``
    the function gets a table of pointers to the rows (``T **a``).
    """

    key: str
    name: str
    type: str
    kind: str
    extents: tuple[str, ...]
    restrict: bool = False
    dead: bool = False  # not looked at after the region
    rows: bool = False

    @property
    def rank(self) -> int:
        return len(self.extents)


@dataclass(frozen=True, slots=True)
class Size:
    """A parameter of the program; the regions read it as ``s->name`` if it is a ``member``."""

    name: str
    type: str
    member: bool = False


@dataclass(frozen=True, slots=True)
class Program:
    """Regions over arrays, and the sizes and overlaps to run them with.

    ``runs`` has a value for each of ``sizes``; ``overlaps`` are cases, each with
    a distance in elements between consecutive arrays that may overlap (None: apart). Regions may be in a
    ``header``, as are ``abstractions``.
    """

    name: str
    sizes: tuple[Size, ...]
    arrays: tuple[Array, ...]
    regions: tuple[tuple[Stmt, ...], ...]
    runs: tuple[tuple[int, ...], ...]
    overlaps: tuple[int | None, ...] = (None,)
    header: bool = False
    abstractions: tuple[str, ...] = ()

    def array(self, key: str) -> Array:
        return next(each for each in self.arrays if each.key == key)

    def may_overlap(self) -> list[Array]:
        """Arrays reached by pointers without restrict, of the type that most of them have."""
        used = {each.array for each in walk(self.regions) if isinstance(each, Read)}
        found = [
            each
            for each in self.arrays
            if each.kind in {"pointer", "parameter"} and not each.restrict and each.key in used
        ]
        kinds = [each.type for each in found]
        best = max(kinds, key=lambda kind: (kinds.count(kind), kind), default="")
        return [each for each in found if each.type == best]


Node = Expr | Stmt


def walk(node: object) -> Iterator[object]:
    """All nodes below and including ``node``, which may be a tuple of nodes."""
    if isinstance(node, tuple):
        for each in node:
            yield from walk(each)
    elif dataclasses.is_dataclass(node):
        yield node
        for field in dataclasses.fields(node):
            yield from walk(getattr(node, field.name))


def counters_outside(program: Program) -> dict[str, str]:
    """Counters that are declared before the regions, with their types."""
    return {
        each.counter: each.type for each in walk(program.regions) if isinstance(each, Loop) and each.outside
    }
