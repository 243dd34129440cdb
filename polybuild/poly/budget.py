"""isl's operation budget: how much work a region may cost (thesis, section 12.1).

Operations are the same on every machine, and so is what comes of them: budgets for single questions as well
as ``effort_limit`` for all of them together. Where they do not tell the time, as when numbers become large,
or lists long, the process at work on a region is ended by whoever waits for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

import islpy as isl

from polybuild.diagnostics import Unsupported
from polybuild.effort import QUESTION_OPERATIONS

_T = TypeVar("_T")

_SPENT = "maximal number of operations exceeded"

_END: ContextVar[float] = ContextVar("end of the effort limit, in operations", default=math.inf)


class _Meter:
    """isl's operations in this process: those that were counted before its counter last started afresh."""

    counted = 0


def _start(maximum: int) -> None:
    """Let isl count afresh, to ``maximum``, or for ever if that is 0."""
    context = isl.DEFAULT_CONTEXT
    _Meter.counted += _operations()
    context.reset_operations()
    context.set_max_operations(maximum)


def _operations() -> int:
    """What isl has counted since it last started afresh: an eighth less at most."""
    counted = step = QUESTION_OPERATIONS
    while _counts(counted + step):
        counted += step
        step = counted
    while step > max(QUESTION_OPERATIONS, counted // 8):
        step //= 2
        counted += step if _counts(counted + step) else 0
    return counted


def _counts(operations: int) -> bool:
    """Whether isl has counted so many: it does not tell how many, but is at its maximum or not."""
    context = isl.DEFAULT_CONTEXT
    maximum = context.get_max_operations()
    context.set_max_operations(operations)
    try:
        isl.Val.zero(context)  # one operation, and next to no time
    except isl.Error:
        return True
    finally:
        context.set_max_operations(maximum)
    return False


@contextmanager
def operation_budget(maximum: int) -> Iterator[None]:
    """What takes more than ``maximum`` operations under this makes isl give up and raise."""
    _start(maximum)
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
        isl.DEFAULT_CONTEXT.set_max_operations(0)


@contextmanager
def budget_within(maximum: int) -> Iterator[None]:
    """A budget of its own for something that can be done without; the one around it starts afresh after it.

    Raises as ``operation_budget`` does, and leaves isl usable.
    """
    around = isl.DEFAULT_CONTEXT.get_max_operations()
    try:
        with operation_budget(min(maximum, around) if around else maximum):
            yield
    finally:
        _start(around)


def found_within(maximum: int, find: Callable[[], _T]) -> _T | None:
    """What ``find`` finds under a budget of its own, as of ``budget_within``; None if that is not enough.

    None, too, where an effort limit is over.
    """
    return None if effort_is_spent() else settled_within(maximum, find)


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
        _start(maximum)


def operations_done() -> int:
    """What isl has done in this process, in operations: an eighth less at most. A budget starts afresh."""
    _start(isl.DEFAULT_CONTEXT.get_max_operations())
    return _Meter.counted


@contextmanager
def effort_limit(operations: int) -> Iterator[None]:
    """``effort_is_spent`` after so many operations of all budgets under this."""
    before = _END.set(operations_done() + operations)
    try:
        yield
    finally:
        _END.reset(before)


@contextmanager
def effort_part(part: float) -> Iterator[None]:
    """``effort_is_spent`` under this after that ``part`` of what is left, where there is an effort limit."""
    left = _END.get() - operations_done()
    before = _END.set(_Meter.counted + part * left)
    try:
        yield
    finally:
        _END.reset(before)


def effort_is_spent() -> bool:
    """Whether an effort limit is over: what can be done without is not begun any more."""
    left = _END.get() - _Meter.counted
    return left <= 0 or (left < math.inf and _counts(int(left)))


def was_spent(error: BaseException) -> bool:
    """Whether ``error`` says that the budget was spent."""
    return isinstance(error, isl.Error) and _SPENT in str(error)


def _is_spent() -> bool:
    try:
        isl.Set("{ : }")
    except isl.Error:
        return True
    return False
