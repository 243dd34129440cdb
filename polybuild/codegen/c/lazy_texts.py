"""Texts that are printed when they are asked for: so only what is written counts as mentioned."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TypeVar

Key = TypeVar("Key")


class LazyTexts(Mapping[Key, str]):
    """A mapping whose values ``printers`` make, each time anew, but for those that are ``known``."""

    def __init__(
        self, printers: Mapping[Key, Callable[[], str]], known: Mapping[Key, str] = MappingProxyType({})
    ) -> None:
        self._printers = printers
        self._known = known

    def __getitem__(self, key: Key) -> str:
        return self._known[key] if key in self._known else self._printers[key]()

    def __contains__(self, key: object) -> bool:
        return key in self._known or key in self._printers

    def __iter__(self) -> Iterator[Key]:
        return iter({**self._printers, **self._known})

    def __len__(self) -> int:
        return len({**self._printers, **self._known})
