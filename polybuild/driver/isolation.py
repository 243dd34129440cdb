"""Work in a process of its own: what ends it there costs one region, not the build.

isl is a large C library. Where a fault of its own, or a want of memory, ends the process, or it
does not come to an end, the file is gone over again: with the simplest strategy for the region that was
being worked on, and in the end without it.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, TypeVar, cast

from polybuild.driver.progress import ProgressLine

_T = TypeVar("_T")

_MOMENT = 0.25  # seconds between two looks at the clock

# Seconds of processor time for one region, whatever else the machine does. The budget of operations
# ends the analysis long before; this is for what it does not count.
MAXIMUM_SECONDS = 120


class WorkerCrashError(Exception):
    """The process ended while it worked on no region in particular; the message says how."""


def _nobody(_position: int | None) -> None:
    pass


def _nowhere(_step: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Watch:
    """What goes between the work and who waits for it.

    ``crashes`` says for the positions of regions how the processes ended that worked on them.
    ``begins`` is to be called with the position of each other region before it is worked on, and
    with None before work that is not for one region; ``enters`` with what is to be told of the work at hand.
    """

    crashes: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    begins: Callable[[int | None], None] = _nobody
    enters: Callable[[str], None] = _nowhere


UNWATCHED = Watch()  # nobody waits


@dataclass(frozen=True, slots=True)
class _Done:
    result: Any


@dataclass(frozen=True, slots=True)
class _Raised:
    error: BaseException


@dataclass(frozen=True, slots=True)
class _Crash:
    position: int | None
    how: str


def run_isolated(work: Callable[[Watch], _T], seconds: int = MAXIMUM_SECONDS) -> _T:
    """The result of ``work`` in a process of its own; if that ends or hangs at a region, in another one.

    It hangs if it takes more than ``seconds`` of processor time for a region. To come to
    an end, ``work`` must not begin for ever with a region at which it crashed. The result must be fit for
    pickling. Raises what ``work`` raises, and WorkerCrashError. Where processes cannot be forked,
    ``work`` runs in this one. On a terminal a line tells where work stands that takes long.
    """
    if "fork" not in multiprocessing.get_all_start_methods():
        return work(UNWATCHED)
    crashes: dict[int, tuple[str, ...]] = {}
    while True:
        answer = _once(work, crashes, seconds)
        if isinstance(answer, _Done):
            return cast("_T", answer.result)
        if isinstance(answer, _Raised):
            raise answer.error
        if answer.position is None:
            raise WorkerCrashError(answer.how)
        crashes[answer.position] = (*crashes.get(answer.position, ()), answer.how)


def _once(
    work: Callable[[Watch], _T], crashes: Mapping[int, tuple[str, ...]], seconds: int
) -> _Done | _Raised | _Crash:
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    progress = ProgressLine()
    terms = _Terms(seconds, tells=progress.shows)
    worker = context.Process(target=_answer, args=(work, crashes, terms, theirs), daemon=True)
    worker.start()
    theirs.close()  # else the worker's end would not be the end of the pipe
    position = None
    with ours:
        try:
            while True:
                if progress.shows and not ours.poll(_MOMENT):
                    progress.wait()
                    continue
                message = ours.recv()
                if isinstance(message, _Done | _Raised):
                    return message
                if isinstance(message, str):
                    progress.at(message)
                else:
                    position = message
        except EOFError:
            worker.join()
            return _Crash(position, _ending(worker.exitcode))
        finally:
            progress.clear()
            worker.kill()
            worker.join()


@dataclass(frozen=True, slots=True)
class _Terms:
    """The seconds of processor time for a region, and whether somebody wants to be told of steps."""

    seconds: int
    tells: bool


def _answer(
    work: Callable[[Watch], Any], crashes: Mapping[int, tuple[str, ...]], terms: _Terms, pipe: Connection
) -> None:
    """What the process does."""
    import resource  # noqa: PLC0415 - where there is fork, there is this

    usual, maximum = resource.getrlimit(resource.RLIMIT_CPU)

    def begins(position: int | None) -> None:
        pipe.send(position)
        soft = usual if position is None else math.ceil(time.process_time()) + terms.seconds
        limits = [each for each in (soft, usual, maximum) if each != resource.RLIM_INFINITY]
        resource.setrlimit(resource.RLIMIT_CPU, (min(limits, default=resource.RLIM_INFINITY), maximum))

    try:
        pipe.send(_Done(work(Watch(crashes, begins, pipe.send if terms.tells else _nowhere))))
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - who waits for the work is to handle it
        pipe.send(_Raised(error))


def _ending(code: int | None) -> str:
    if code == -signal.SIGXCPU:
        return "took too long"
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f"ended with signal {-code} ({signal.Signals(-code).name})"
    return f"ended with exit code {code}"
