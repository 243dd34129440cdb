"""isl's operation budget: how much work a region may cost (thesis, section 12.1); and how much time, at last.

Operations are the same on every machine, and so is what comes of them. Where they do not tell the time, as
when numbers become large, or lists long, ``time_limit`` ends the search.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

import islpy as isl

from polybuild.diagnostics import Unsupported

_T = TypeVar("_T")

_SPENT = "maximal number of operations exceeded"

_END: ContextVar[float] = ContextVar(
    "end of the time limit, in processor time of the process", default=math.inf
)


@contextmanager
def operation_budget(maximum: int) -> Iterator[None]:
    """What takes more than ``maximum`` operations under this makes isl give up and raise."""
    context = isl.DEFAULT_CONTEXT
    context.reset_operations()
    context.set_max_operations(maximum)
    try:
        yield
    except Unsupported:
        raise
    except Exception as error:
        # once the budget is spent isl answers with nothing, which fails in many ways
        if _is_spent():
            raise isl.Error(_SPENT) from error
        raise
    finally:
        context.set_max_operations(0)


@contextmanager
def budget_within(maximum: int) -> Iterator[None]:
    """A budget of its own for something that can be done without; the one around it starts afresh after it.

    Raises as ``operation_budget`` does, and leaves isl usable.
    """
    context = isl.DEFAULT_CONTEXT
    around = context.get_max_operations()
    try:
        with operation_budget(min(maximum, around) if around else maximum):
            yield
    finally:
        context.reset_operations()
        context.set_max_operations(around)


def found_within(maximum: int, find: Callable[[], _T]) -> _T | None:
    """What ``find`` finds under a budget of its own, as of ``budget_within``; None if that is not enough.

    None, too, where a time limit is over.
    """
    return None if time_is_over() else settled_within(maximum, find)


def settled_within(maximum: int, find: Callable[[], _T]) -> _T | None:
    """The same however late it is: for what has to be settled before anything comes out at all."""
    try:
        with budget_within(maximum):
            return find()
    except isl.Error as error:
        if not was_spent(error):
            raise
        return None


@contextmanager
def unlimited() -> Iterator[None]:
    """What is done under this does not count; for work that is bounded in another way."""
    context = isl.DEFAULT_CONTEXT
    maximum = context.get_max_operations()
    context.set_max_operations(0)
    try:
        yield
    finally:
        context.reset_operations()
        context.set_max_operations(maximum)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """``time_is_over`` after so many seconds of processor time under this."""
    before = _END.set(time.process_time() + seconds)
    try:
        yield
    finally:
        _END.reset(before)


def time_is_over() -> bool:
    """Whether a time limit is over: what can be done without is not begun any more."""
    return time.process_time() > _END.get()


def was_spent(error: BaseException) -> bool:
    """Whether ``error`` says that the budget was spent."""
    return isinstance(error, isl.Error) and _SPENT in str(error)


def _is_spent() -> bool:
    try:
        isl.Set("{ : }")
    except isl.Error:
        return True
    return False
