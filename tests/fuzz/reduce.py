"""Making a failing program smaller while it still fails in the same way."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

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
    Stmt,
    Store,
    Var,
    walk,
)


def reduce(program: Program, fails: Callable[[Program], bool], attempts: int = 400) -> Program:
    """The smallest program found for which ``fails`` holds; it is called at most ``attempts`` times."""
    left = attempts
    improved = True
    while improved and left > 0:
        improved = False
        for smaller in _smaller(program):
            if not _is_sound(smaller):
                continue
            left -= 1
            if fails(smaller):
                program, improved = smaller, True
                break
            if left <= 0:
                break
    return program


def _is_sound(program: Program) -> bool:
    """Whether what a program uses is there, and it stays in bounds."""
    if not any(isinstance(each, Do | Declare) for each in walk(program.regions)):
        return False
    try:
        layout(program)
    except (Wraps, KeyError):
        return False
    return True


def _smaller(program: Program) -> Iterator[Program]:
    """Programs that are one step simpler, large steps first."""
    if program.header:
        yield dataclasses.replace(program, header=False)
    for each in program.abstractions:
        fewer = tuple(way for way in program.abstractions if way != each)
        yield dataclasses.replace(program, abstractions=fewer)
    if len(program.regions) > 1:
        for region in program.regions:
            yield dataclasses.replace(program, regions=(region,))
    if len(program.runs) > 1:
        for run in program.runs:
            yield dataclasses.replace(program, runs=(run,))
    if len(program.overlaps) > 1:
        for case in program.overlaps:
            yield dataclasses.replace(program, overlaps=(case,))
    for index, region in enumerate(program.regions):
        for body in _blocks(region):
            if body:
                regions = (*program.regions[:index], body, *program.regions[index + 1 :])
                yield dataclasses.replace(program, regions=regions)
    for index, array in enumerate(program.arrays):
        for simpler in _arrays(array):
            arrays = (*program.arrays[:index], simpler, *program.arrays[index + 1 :])
            yield dataclasses.replace(program, arrays=arrays)
    for index, size in enumerate(program.sizes):
        if size.type != "int" or size.member:
            simple = dataclasses.replace(size, type="int", member=False)
            yield dataclasses.replace(
                program, sizes=(*program.sizes[:index], simple, *program.sizes[index + 1 :])
            )
        used = any(isinstance(each, Var) and each.name == size.name for each in walk(program.regions))
        used = used or any(size.name in each.extents for each in program.arrays)
        if not used:
            yield dataclasses.replace(
                program,
                sizes=(*program.sizes[:index], *program.sizes[index + 1 :]),
                runs=tuple((*run[:index], *run[index + 1 :]) for run in program.runs),
            )
    for index, run in enumerate(program.runs):
        for position, value in enumerate(run):
            for less in sorted({value // 2, value - 1}):
                if 0 <= less < value:
                    new = (*run[:position], less, *run[position + 1 :])
                    yield dataclasses.replace(
                        program, runs=(*program.runs[:index], new, *program.runs[index + 1 :])
                    )


def _arrays(array: Array) -> Iterator[Array]:
    if array.kind not in {"global", "inner", "cell"}:
        yield dataclasses.replace(array, kind="global", name=f"{array.name}_", extents=("",) * array.rank)
    if array.type not in {"unsigned", "double"}:
        yield dataclasses.replace(array, type="double" if array.type == "float" else "unsigned")
    if any(array.extents):
        yield dataclasses.replace(array, extents=("",) * array.rank)


def _blocks(body: tuple[Stmt, ...]) -> Iterator[tuple[Stmt, ...]]:
    """Simpler versions of a block."""
    if len(body) > 3:
        yield body[: len(body) // 2]
        yield body[len(body) // 2 :]
    for index in range(len(body)):
        yield (*body[:index], *body[index + 1 :])
    for index, node in enumerate(body):
        for new in _statements(node):
            yield (*body[:index], *new, *body[index + 1 :])


def _statements(node: Stmt) -> Iterator[tuple[Stmt, ...]]:
    """What may stand for ``node``, each a few statements."""
    if isinstance(node, Do):
        for expr in _values(node.expr):
            if isinstance(expr, Store | Bump | Pick | Bin):
                yield (Do(expr),)
    elif isinstance(node, Declare):
        if node.value is not None:
            for value in _values(node.value):
                yield (Declare(node.array, value),)
    elif isinstance(node, If):
        yield node.yes
        if node.no:
            yield node.no
            yield (dataclasses.replace(node, no=()),)
        for yes in _blocks(node.yes):
            if yes:
                yield (dataclasses.replace(node, yes=yes),)
        for no in _blocks(node.no):
            yield (dataclasses.replace(node, no=no),)
        for test in _integers(node.test):
            yield (dataclasses.replace(node, test=test),)
    else:
        yield from _loops(node)


def _loops(node: Loop) -> Iterator[tuple[Stmt, ...]]:
    yield tuple(_replaced(each, node.counter, node.start) for each in node.body)
    for body in _blocks(node.body):
        if body:
            yield (dataclasses.replace(node, body=body),)
    if node.also is not None:
        yield (dataclasses.replace(node, also=None),)
    if node.outside:
        yield (dataclasses.replace(node, outside=False),)
    if node.type != "int":
        yield (dataclasses.replace(node, type="int"),)
    if node.spelling:
        yield (dataclasses.replace(node, spelling=0),)
    if abs(node.step) > 1:
        yield (dataclasses.replace(node, step=1 if node.step > 0 else -1),)
    for start in _integers(node.start):
        yield (dataclasses.replace(node, start=start),)
    for bound in _integers(node.bound):
        yield (dataclasses.replace(node, bound=bound),)


def _replaced(node: object, name: str, value: Expr) -> object:
    """``node`` with ``value`` for the variable ``name``."""
    if isinstance(node, Var) and node.name == name:
        return value
    if isinstance(node, tuple):
        return tuple(_replaced(each, name, value) for each in node)
    if dataclasses.is_dataclass(node) and not isinstance(node, type):
        fields = {
            each.name: _replaced(getattr(node, each.name), name, value) for each in dataclasses.fields(node)
        }
        return type(node)(**fields)
    return node


def _integers(node: Expr) -> Iterator[Expr]:
    """Simpler versions of a bound, condition or subscript."""
    if isinstance(node, Num):
        if node.value:
            yield Num(0)
        return
    if isinstance(node, Bin):
        yield node.left
        yield node.right
        for left in _integers(node.left):
            yield dataclasses.replace(node, left=left)
        if node.op not in {"/", "%", "*"}:
            for right in _integers(node.right):
                yield dataclasses.replace(node, right=right)
    elif isinstance(node, Not):
        yield node.operand
    elif isinstance(node, Pick):
        yield node.yes
        yield node.no
        for test in _integers(node.test):
            yield dataclasses.replace(node, test=test)
    yield Num(0)


def _values(node: Expr) -> Iterator[Expr]:
    """Simpler versions of an expression over data."""
    if isinstance(node, Num):
        return
    if not isinstance(node, Store | Bump):
        yield Num(1)
    if isinstance(node, Read):
        for index, subscript in enumerate(node.subscripts):
            for simpler in _integers(subscript):
                subscripts = (*node.subscripts[:index], simpler, *node.subscripts[index + 1 :])
                yield Read(node.array, subscripts)
    elif isinstance(node, Store):
        if isinstance(node.value, Store):
            yield node.value
        if node.op != "=":
            yield dataclasses.replace(node, op="=")
        for value in _values(node.value):
            yield dataclasses.replace(node, value=value)
        for target in _values(node.target):
            if isinstance(target, Read):
                yield dataclasses.replace(node, target=target)
    elif isinstance(node, Bin):
        yield node.left
        yield node.right
        for left in _values(node.left):
            yield dataclasses.replace(node, left=left)
        for right in _values(node.right):
            yield dataclasses.replace(node, right=right)
    elif isinstance(node, Pick):
        yield node.yes
        yield node.no
        for yes in _values(node.yes):
            yield dataclasses.replace(node, yes=yes)
        for no in _values(node.no):
            yield dataclasses.replace(node, no=no)
