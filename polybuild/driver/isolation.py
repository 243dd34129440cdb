"""Work in a process of its own: what ends it there costs one region, not the build.

isl is a large C library. Where a fault of its own, or a want of memory, ends the process, or it
does not come to an end, the file is gone over again: with the simplest strategy for the region that was
being worked on, and in the end without it.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, NoReturn, TypeVar, cast

from polybuild import effort
from polybuild.driver.pipes import Receiver, Sender, packed, pipe_of_values, unpacked
from polybuild.driver.progress import ProgressLine
from polybuild.values import dataclass

_T = TypeVar("_T")

_MOMENT = 0.25  # seconds between two looks at the clock


class WorkerCrashError(Exception):
    """The process ended while it worked on no region in particular; the message says how."""


Position = int | tuple[int, int]
"""Which region is worked on: the position of a marked one, the offsets of a loop that is tried."""


def _nobody(_position: Position | None) -> None:
    pass


def _nowhere(_step: str) -> None:
    pass


def _forgotten(_position: Position, _found: object) -> None:
    pass


def _never() -> bool:
    return False


def _unwatched() -> Watch:
    return UNWATCHED


@dataclass(frozen=True, slots=True)
class TrialLimits:
    """Processor time for ``one`` loop that nobody marked; isl's operations for the ``search`` of its order.

    And those for ``all`` loops of a file.
    """

    one: float = effort.REGION_SECONDS
    search: int = effort.SEARCH_OPERATIONS
    all: float = math.inf


IN_BUILDS = TrialLimits(effort.TRIAL_SECONDS, effort.TRIAL_SEARCH_OPERATIONS, effort.TRIALS_OPERATIONS)
"""Where somebody waits for the file."""


@dataclass(frozen=True, slots=True)
class Watch:
    """What goes between the work and who waits for it.

    ``crashes`` says for the positions of regions how the processes ended that worked on them.
    ``begins`` is to be called with the position of each other region before it is worked on, and
    with None before work that is not for one region; ``enters`` with what is to be told of the work at hand.
    ``is_over`` tells whether all the time of the file is spent, so that no other region is to be begun.
    What was found out of a position ``is_found``, and the process ends at another one: ``found`` has it then.
    ``jobs`` processes may work on the regions; in a copy of the process at work, ``forked`` gives what is its
    own of this: limits, and nobody to tell. ``trials`` are the limits for loops that nobody marked.
    """

    crashes: Mapping[Position, tuple[str, ...]] = field(default_factory=dict)
    begins: Callable[[Position | None], None] = _nobody
    enters: Callable[[str], None] = _nowhere
    is_over: Callable[[], bool] = _never
    jobs: int = 1
    forked: Callable[[], Watch] = _unwatched
    is_found: Callable[[Position, Any], None] = _forgotten
    found: Mapping[Position, Any] = field(default_factory=dict)
    trials: TrialLimits = TrialLimits()


UNWATCHED = Watch()  # nobody waits


@dataclass(frozen=True, slots=True)
class _Done:
    result: Any


@dataclass(frozen=True, slots=True)
class _Raised:
    error: BaseException


@dataclass(frozen=True, slots=True)
class _Settled:
    """What was found of a position, packed: who waits does not need the modules that it is of."""

    position: Position
    what: bytes


@dataclass(frozen=True, slots=True)
class _Earlier:
    """What processes left to later ones: how they crashed, and what they found, by the position."""

    crashes: dict[Position, tuple[str, ...]] = field(default_factory=dict)
    found: dict[Position, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Crash:
    position: Position | None
    how: str


def run_isolated(
    work: Callable[[Watch], _T],
    seconds: int = effort.REGION_SECONDS,
    in_all: int | None = None,
    *,
    jobs: int = 1,
    trials: TrialLimits | None = None,
) -> _T:
    """The result of ``work`` in a process of its own; if that ends or hangs at a region, in another one.

    It hangs if it takes more than ``seconds`` of processor time for a region, and a quarter of that each time
    that it is tried again: less than one and a half times as many in all. Loops that nobody marked have
    limits of their own: ``trials``. After ``in_all`` seconds
    ``is_over`` holds, and the process is ended if it goes on for as long as a region may take. To come to an
    end, ``work`` must not begin for ever with a region at which it crashed. The result must be fit for
    pickling. Raises what ``work`` raises, and WorkerCrashError. Where processes cannot be forked,
    ``work`` runs in this one. On a terminal a line tells where work stands that takes long. With more than
    one of ``jobs``, ``work`` may start other processes: they end with it.
    """
    if not hasattr(os, "fork"):
        return work(UNWATCHED)
    earlier = _Earlier()
    before = _spent()
    while True:
        left = None if in_all is None else in_all - (_spent() - before)
        terms = _Terms(seconds, left, jobs=jobs, trials=trials or TrialLimits(one=seconds))
        answer = _once(work, earlier, terms)
        if isinstance(answer, _Done):
            return cast("_T", answer.result)
        if isinstance(answer, _Raised):
            raise answer.error
        if answer.position is None:
            raise WorkerCrashError(answer.how)
        earlier.crashes[answer.position] = (*earlier.crashes.get(answer.position, ()), answer.how)


def _once(work: Callable[[Watch], _T], earlier: _Earlier, terms: _Terms) -> _Done | _Raised | _Crash:
    """What comes of ``work`` in one process, which adds to what was found before."""
    ours, theirs = pipe_of_values()
    progress = ProgressLine()
    terms = replace(terms, tells=progress.shows)
    _flush()  # what is still to be written is not for two to write
    worker = os.fork()
    if not worker:
        ours.close()
        _end_after(lambda: _answer(work, earlier, terms, theirs))
    theirs.close()  # else the worker's end would not be the end of the pipe
    return _told(worker, ours, progress, earlier, terms)


def _told(
    worker: int, pipe: Receiver, progress: ProgressLine, earlier: _Earlier, terms: _Terms
) -> _Done | _Raised | _Crash:
    """What the process ``worker`` tells until it has done its work, or how it ended.

    What it finds on the way is there for later ones.
    """
    position = None
    with pipe:
        try:
            while True:
                if progress.shows and not pipe.has_more(_MOMENT):
                    progress.wait()
                    continue
                message = pipe.receive()
                if isinstance(message, _Done | _Raised):
                    return message
                if isinstance(message, str):
                    progress.at(message)
                elif isinstance(message, _Settled):
                    earlier.found[message.position] = message.what
                else:
                    position = message
        except EOFError:
            return _Crash(position, ending(_ended(worker)))
        finally:
            progress.clear()
            if terms.jobs > 1:
                with contextlib.suppress(OSError):
                    os.killpg(worker, signal.SIGKILL)
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(worker, signal.SIGKILL)
                _ended(worker)


@dataclass(frozen=True, slots=True)
class _Terms:
    """The seconds of processor time for a region, and for all; whether somebody wants to be told of steps.

    ``jobs`` processes may work. Loops that nobody marked have ``trials``.
    """

    seconds: int
    in_all: float | None = None
    tells: bool = False
    jobs: int = 1
    trials: TrialLimits = TrialLimits()


def _ended(worker: int) -> int:
    """The exit code of the process ``worker``, once it has ended."""
    return os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()


def _end_after(work: Callable[[], None]) -> NoReturn:
    """Do ``work`` and end this process, a copy of another one, with nothing of what that does at its end."""
    code = 1
    try:
        work()
        code = 0
    finally:
        _flush()
        os._exit(code)


def _answer(work: Callable[[Watch], Any], earlier: _Earlier, terms: _Terms, pipe: Sender) -> None:
    """What the process does."""
    import resource  # noqa: PLC0415 - where there is fork, there is this

    usual, maximum = resource.getrlimit(resource.RLIMIT_CPU)
    if terms.in_all is not None:
        last = max(1, math.ceil(terms.in_all)) + terms.seconds
        usual = last if usual == resource.RLIM_INFINITY else min(usual, last)
        resource.setrlimit(resource.RLIMIT_CPU, (usual, maximum))

    def is_over() -> bool:
        return terms.in_all is not None and time.process_time() > terms.in_all

    def limits(position: Position | None) -> None:
        soft = usual
        if position is not None:
            each = terms.trials.one if isinstance(position, tuple) else terms.seconds
            seconds = each / 4 ** len(earlier.crashes.get(position, ()))
            soft = math.ceil(time.process_time() + seconds)
        limits = [each for each in (soft, usual, maximum) if each != resource.RLIM_INFINITY]
        resource.setrlimit(resource.RLIMIT_CPU, (min(limits, default=resource.RLIM_INFINITY), maximum))

    def begins(position: Position | None) -> None:
        pipe.send(position)
        limits(position)

    def is_found(position: Position, what: object) -> None:
        pipe.send(_Settled(position, packed(what)))

    def forked() -> Watch:
        pipe.close()  # else its end would not be that of the process that this one is a copy of
        return Watch(earlier.crashes, limits, is_over=is_over, trials=terms.trials)

    if terms.jobs > 1:
        os.setpgid(0, 0)  # copies end with their original
    try:
        enters = pipe.send if terms.tells else _nowhere
        found = {position: unpacked(what) for position, what in earlier.found.items()}
        told = begins, enters, is_over, terms.jobs, forked, is_found, found, terms.trials
        watch = Watch(earlier.crashes, *told)
        pipe.send(_Done(work(watch)))
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - who waits for the work is to handle it
        pipe.send(_Raised(error))


def _spent() -> float:
    """Seconds of processor time of the processes that ended here."""
    times = os.times()
    return times.children_user + times.children_system


def ending(code: int) -> str:
    """How a process ended that left the exit ``code``."""
    if code == -signal.SIGXCPU:
        return "took too long"
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"ended with signal {-code} ({signal.Signals(-code).name})"
    return f"ended with exit code {code}"
