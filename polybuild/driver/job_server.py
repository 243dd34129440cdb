"""The job server of the build that runs us: how many more processes may work beside this one.

GNU Make and Ninja (from 1.13) lend each process they start one job, and further ones as bytes of a pipe or a
FIFO, whose name or ends stand in MAKEFLAGS. Who takes a byte may start a process more, and gives it back
(GNU Make manual, section 13.1.1).
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import threading
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

from polybuild.patterns import pattern

_PLACE = pattern(r"(?:^|\s)--jobserver-(?:auth|fds)=(?:fifo:(?P<fifo>\S+)|(?P<read>\d+),(?P<write>\d+))")


@contextlib.contextmanager
def jobs(asked: int, useful: int) -> Iterator[int]:
    """How many processes may work while this lasts: ``asked`` for, or what the job server has at this moment.

    That is one where there is none; no more than are ``useful`` are taken. All are given back at the end,
    whatever it comes by, but for a signal that cannot be caught.
    """
    if asked or useful < 2:
        yield max(1, min(asked, useful))
        return
    place = _place(os.environ.get("MAKEFLAGS", ""))
    if place is None:
        yield 1
        return
    tokens = b""
    with _ended_by_exception():
        try:
            tokens = _taken(place[0], useful - 1)
            yield 1 + len(tokens)
        finally:
            if tokens:
                _write(place[1], tokens)


def _place(flags: str) -> tuple[str, str] | None:
    """The names under which the job server is read and written; None if there is none to be reached.

    Ends of a pipe are opened anew, so that not waiting for it is nobody else's affair. Make tells their
    numbers to all processes, but keeps them open for those that it takes for another Make alone.
    """
    found = list(_PLACE.finditer(flags))
    if not found:
        return None
    last = found[-1]
    names = [last["fifo"]] * 2 if last["fifo"] else [f"/dev/fd/{last[end]}" for end in ("read", "write")]
    try:
        if not all(stat.S_ISFIFO(os.stat(name).st_mode) for name in names):  # noqa: PTH116 - not of paths
            return None
    except OSError:
        return None
    return names[0], names[1]


def _taken(name: str, wanted: int) -> bytes:
    """As many bytes as are there now, and ``wanted``."""
    try:
        end = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(end, wanted)
    except OSError:  # none is there
        return b""
    finally:
        os.close(end)


def _write(name: str, tokens: bytes) -> None:
    with contextlib.suppress(OSError):
        end = os.open(name, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            os.write(end, tokens)
        finally:
            os.close(end)


@contextlib.contextmanager
def _ended_by_exception() -> Iterator[None]:
    """A request to end is an exception under this, so that what was taken is given back."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _frame: FrameType | None) -> NoReturn:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
