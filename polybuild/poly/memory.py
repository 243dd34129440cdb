"""What is found once for a region: the same functions of the same sets and relations, asked for repeatedly.

Candidates and versions of a region have most statements, loops and dependences in common.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Generic, TypeVar, cast

import islpy as isl

_T = TypeVar("_T")

_NOTHING = object()

_FOUND: ContextVar[dict[Hashable, Any] | None] = ContextVar("what was found before", default=None)


class Itself(Generic[_T]):
    """A ``value`` that nothing else equals, for ``remembered`` functions of what is too large to compare."""

    __slots__ = ("value",)

    def __init__(self, value: _T) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Itself) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


@contextmanager
def remembering() -> Iterator[None]:
    """What ``remembered`` functions find under this they find once.

    It is for one region, so that its budgets know nothing of others, and isl's objects do not outlive it.
    """
    before = _FOUND.set({})
    try:
        yield
    finally:
        _FOUND.reset(before)


def remembered(function: Callable[..., _T]) -> Callable[..., _T]:
    """``function``, of hashable values by position, without effects; what it raises is not remembered."""

    @functools.wraps(function)
    def find(*arguments: Hashable) -> _T:
        found = _FOUND.get()
        if found is None:
            return function(*arguments)
        key = (function, arguments, *(_NAMES[type(each)](each) for each in arguments if type(each) in _NAMES))
        # one look: isl may change the form of values that it compares, and their hash
        known = found.get(key, _NOTHING)
        if known is _NOTHING:
            known = found[key] = function(*arguments)
        return cast("_T", known)

    return find


def _related(relation: isl.Map) -> Hashable:
    """What a relation relates."""
    return relation.get_tuple_name(isl.dim_type.in_), relation.get_tuple_name(isl.dim_type.out)


# isl's hashes do not tell what is in a set, or related, and a region has many of one form
_NAMES: dict[type, Callable[[Any], Hashable]] = {isl.Set: isl.Set.get_tuple_name, isl.Map: _related}
