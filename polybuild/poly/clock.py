"""How much processor time of a process isl takes: each of its functions behind a clock."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import islpy as isl

# the types of islpy's functions that are isl's own; those in Python call these
_METHOD, _FUNCTION = "nb_method", "nb_func"


@dataclass(slots=True)
class IslTime:
    """Calls of isl so far, and the processor seconds they took with what they called back."""

    calls: int = 0
    seconds: float = 0.0


@functools.cache
def time_isl() -> IslTime:
    """What all calls of isl from now on take in this process; each takes a microsecond more."""
    total = IslTime()
    for kind in filter(inspect.isclass, vars(isl).values()):
        for name, function in list(vars(kind).items()):
            if name.startswith("_"):
                continue
            if type(function).__name__ == _METHOD:
                setattr(kind, name, _timed(function, total))
            elif type(function).__name__ == _FUNCTION:
                setattr(kind, name, staticmethod(_timed(function, total)))
    return total


def _timed(function: Callable[..., Any], total: IslTime) -> Callable[..., Any]:
    """``function``, which adds to ``total`` unless isl called back what calls it."""

    def timed(*arguments: Any, **named: Any) -> Any:
        total.calls += 1
        before, started = total.seconds, time.process_time()
        try:
            return function(*arguments, **named)
        finally:
            total.seconds = before + time.process_time() - started  # calls within this one are part of it

    return timed
