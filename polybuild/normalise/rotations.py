"""Pointers or numbers that come back after a few iterations of a loop: what they are in each of these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from pycparser import c_ast

from polybuild.c.symbols import StorageClass, Symbol
from polybuild.c.syntax_tree import duplicate
from polybuild.c.synthetic import EntryValue
from polybuild.source.model import Region
from polybuild.values import dataclass

Loop: TypeAlias = c_ast.For | c_ast.While | c_ast.DoWhile
LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)
JUMPS = (c_ast.Break, c_ast.Continue, c_ast.Goto, c_ast.Label, c_ast.Return, c_ast.Switch)


@dataclass(frozen=True, slots=True)
class Rotation:
    """What the iterations of a loop do to variables that come back to their values.

    ``phases`` has the values of all that are ``moved`` at the start of each iteration of a period, in order;
    ``copies`` are variables that only keep values of those, by name. ``tests`` are calls by which the region
    does not run where that is not so. They belong in the loop: nothing is looked at where it does not run.
    """

    phases: tuple[Mapping[str, c_ast.Node], ...]
    copies: Mapping[str, str]
    tests: tuple[c_ast.Node, ...] = ()

    @property
    def moved(self) -> tuple[str, ...]:
        """The variables that come back."""
        return tuple(self.phases[0])

    @property
    def period(self) -> int:
        """After how many iterations."""
        return len(self.phases)


def is_followed(symbol: Symbol | None) -> bool:
    """Whether the function alone changes the variable ``symbol``."""
    if symbol is None or symbol.address_taken or symbol.volatile or symbol.thread_local:
        return False
    return symbol.storage in {StorageClass.LOCAL, StorageClass.PARAMETER}


def on_entry(name: str, region: Region) -> c_ast.Node:
    """What the variable ``name`` holds where the region begins."""
    lvalue = region.visible.lvalues.get(name)
    return EntryValue(name) if lvalue is None else duplicate(lvalue)


def phases_of(
    moved: Mapping[str, str], start: Mapping[str, c_ast.Node], period: int
) -> Iterator[dict[str, c_ast.Node]]:
    """The values that variables which change places have in each iteration of a period.

    ``moved`` says for each which one's value at the start of an iteration it has at the end; ``start`` has
    their values before the loop.
    """
    names = {each: each for each in moved}
    for _ in range(period):
        yield {each: start[name] for each, name in names.items()}
        names = {each: names[moved[each]] for each in names}


def returns_later(name: str, ends: Mapping[str, str]) -> bool:
    """Whether the value of ``name`` comes back to it after some iterations, but not after one."""
    seen, at = [], name
    while at in ends and at not in seen:
        seen.append(at)
        at = ends[at]
    return at == name and len(seen) > 1


def cycle_length(name: str, moved: Mapping[str, str]) -> int:
    """After how many iterations ``name`` has its value again."""
    length, at = 1, moved[name]
    while at != name:
        length, at = length + 1, moved[at]
    return length
