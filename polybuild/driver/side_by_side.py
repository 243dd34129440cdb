"""The regions of a file side by side: processes that take the next one as long as there is one left.

Each is a copy of the process that read the file, so that nothing is read twice. What one of them lost
with its end is done here, with what is known of that end.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
from collections.abc import Callable
from dataclasses import replace
from typing import NoReturn, TypeVar

from polybuild.driver.isolation import Watch, ending
from polybuild.driver.pipes import Receiver, Sender, pipe_of_values
from polybuild.values import dataclass

_T = TypeVar("_T")

_NUMBER = struct.Struct("=I")
_MAXIMUM = 4096 // _NUMBER.size  # what any pipe takes at once
_PIPE_BYTES = 1 << 20  # the result of most regions, so that nobody waits to hand it over
_SET_PIPE_SIZE = getattr(fcntl, "F_SETPIPE_SZ", None)


def side_by_side(count: int, work: Callable[[int, Watch], _T], watch: Watch) -> list[_T]:
    """``work`` of each number below ``count``, in ``watch.jobs`` processes of which this is one.

    ``work`` gives the same wherever it is called, fit for pickling. Raises what it raises here.
    """
    if watch.jobs < 2 or not 2 <= count <= _MAXIMUM:
        return [work(number, watch) for number in range(count)]
    queue = _queue(count)
    helpers = [_start(queue, work, watch) for _ in range(min(watch.jobs, count) - 1)]
    found: dict[int, _T] = {}
    while (number := _next(queue)) is not None:
        found[number] = work(number, watch)
        for helper in helpers:
            helper.collect(found, wait=False)
    os.close(queue)
    crashes = dict(watch.crashes)
    for helper in helpers:
        crash = helper.collect(found, wait=True)
        if crash is not None:
            crashes[crash[0]] = (*crashes.get(crash[0], ()), crash[1])
    watch = replace(watch, crashes=crashes)
    return [found[number] if number in found else work(number, watch) for number in range(count)]


def _queue(count: int) -> int:
    """A pipe with the numbers below ``count``, which ends behind them."""
    queue, end = os.pipe()
    os.write(end, b"".join(map(_NUMBER.pack, range(count))))
    os.close(end)
    return queue


def _next(queue: int) -> int | None:
    """The next number that nobody has taken."""
    data = os.read(queue, _NUMBER.size)
    return int(_NUMBER.unpack(data)[0]) if data else None


@dataclass(frozen=True, slots=True)
class _Helper:
    """Another process at work, and what it tells: each number as it begins, and with its result."""

    process: int
    told: Receiver
    begun: list[int]

    def collect(self, found: dict[int, _T], *, wait: bool) -> tuple[int, str] | None:
        """Add what there is to ``found``; all of it, with ``wait``: then at what it crashed, and how."""
        with contextlib.suppress(EOFError, OSError):
            while wait or self.told.has_more():
                message = self.told.receive()
                if isinstance(message, int):
                    self.begun.append(message)
                else:
                    found[message[0]] = message[1]
        if not wait:
            return None
        self.told.close()
        code = os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])
        crashed = [number for number in self.begun if number not in found]
        return (crashed[-1], ending(code)) if crashed and code < 0 else None


def _start(queue: int, work: Callable[[int, Watch], object], watch: Watch) -> _Helper:
    ours, theirs = pipe_of_values()
    if _SET_PIPE_SIZE is not None:
        with contextlib.suppress(OSError):
            fcntl.fcntl(theirs.fileno(), _SET_PIPE_SIZE, _PIPE_BYTES)
    process = os.fork()
    if not process:
        ours.close()
        _help(queue, work, watch, theirs)
    theirs.close()
    return _Helper(process, ours, [])


def _help(queue: int, work: Callable[[int, Watch], object], watch: Watch, told: Sender) -> NoReturn:
    """What another process does; it ends without a word where something fails, which fails again here."""
    try:
        own = watch.forked()
        while (number := _next(queue)) is not None:
            told.send(number)
            told.send((number, work(number, own)))
        told.close()
        os._exit(0)
    except BaseException:  # noqa: BLE001 - this process has nobody to tell
        os._exit(1)
