"""The names that mean something in the generated code at hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import islpy as isl

from polybuild.codegen.file.names import PREFIX, fresh, fresh_stem


class NamesInScope(dict[str, str]):
    """The C name, or text, of each parameter and counter by what isl calls it.

    ``taken`` are the names that a generated one must not hide, ``chosen`` the expressions in constants.
    """

    def __init__(self, names: Mapping[str, str], taken: Iterable[str]) -> None:
        super().__init__(names)
        self.taken = frozenset(taken)
        self.chosen: list[tuple[isl.AstExpr, str]] = []
        self._declared: dict[str, int] = {}
        self._count = 0

    def text(self, name: str) -> str:
        """What stands for what isl calls ``name``."""
        return self.get(name, name)

    def fresh(self, wanted: str) -> str:
        """``wanted``, or something like it where that is taken."""
        if wanted in self.taken:
            wanted = PREFIX + wanted
        return fresh(wanted, self.taken.union(self.values(), self._declared))

    def declare(self, wanted: str) -> str:
        """A fresh name that is taken from now on, until ``leave`` is told to go back to before."""
        return self._add(self.fresh(wanted))

    def declare_stem(self, wanted: str) -> str:
        """The same for a name that others begin with, before an underscore."""
        name = fresh_stem(wanted, self.taken.union(self.values(), self._declared))
        return self._add(name)

    def _add(self, name: str) -> str:
        self._count += 1
        self._declared = {**self._declared, name: self._count}
        return name

    def declaration_of(self, name: str) -> int:
        """Which declaration ``name`` is of, a number that no other has; 0 where there is none."""
        return self._declared.get(name, 0)

    def restore(self, identifier: str, name: str | None) -> None:
        """``identifier`` is called ``name`` again, or not at all."""
        if name is None:
            del self[identifier]
        else:
            self[identifier] = name

    def enter(self) -> dict[str, int]:
        """Begin a block; returns what ``leave`` wants to know."""
        return self._declared

    def leave(self, declared: dict[str, int]) -> None:
        """End a block, and what was declared in it."""
        self._declared = declared
