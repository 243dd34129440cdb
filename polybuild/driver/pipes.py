"""Pipes of Python values between a process and its copies, without the modules of ``multiprocessing``.

Those take 10 ms to import, which every file with a region would pay for.
"""

from __future__ import annotations

import os
import pickle
import select
import struct
from typing import Any

_LENGTH = struct.Struct("=Q")


def packed(value: object) -> bytes:
    """``value`` as who passes it on sees it, who does not need the modules that it is of."""
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def unpacked(value: bytes) -> Any:
    """What was ``packed`` by this process or a copy of it."""
    return pickle.loads(value)  # noqa: S301 - of a copy of this process


class _End:
    """One end of a pipe, by its file descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_error: object) -> None:
        self.close()

    def fileno(self) -> int:
        """The file descriptor; of a closed end it is -1."""
        return self._descriptor

    def close(self) -> None:
        """Give the end up, once."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1


class Receiver(_End):
    """The end from which values are read."""

    def has_more(self, seconds: float = 0.0) -> bool:
        """Whether there is something to read, or the end of the pipe, within some ``seconds``."""
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        return bool(poll.poll(1000 * seconds))

    def receive(self) -> Any:
        """The next value; raises EOFError at the end of the pipe."""
        (length,) = _LENGTH.unpack(self._read(_LENGTH.size))
        return unpacked(self._read(length))

    def _read(self, length: int) -> bytes:
        parts = []
        while length:
            part = os.read(self._descriptor, min(length, 1 << 20))
            if not part:
                raise EOFError("the pipe ends")
            parts.append(part)
            length -= len(part)
        return b"".join(parts)


class Sender(_End):
    """The end to which values are written."""

    def send(self, value: object) -> None:
        """Write a ``value`` that is fit for pickling; raises OSError where nobody reads."""
        data = packed(value)
        view = memoryview(_LENGTH.pack(len(data)) + data)
        while view:
            view = view[os.write(self._descriptor, view) :]


def pipe_of_values() -> tuple[Receiver, Sender]:
    """Both ends of a new pipe, which programs that are run do not get."""
    read, write = os.pipe()
    return Receiver(read), Sender(write)
