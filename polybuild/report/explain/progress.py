"""Where a long step stands: one line on a terminal, written anew; nothing in logs."""

from __future__ import annotations

import os
import shutil
import sys
from types import TracebackType
from typing import Self, TextIO

_CLEAR_LINE = "\r\x1b[K"


class ProgressLine:
    """``with Progress(n) as progress``: ``progress.at(name)`` as each of ``n`` parts begins."""

    def __init__(self, parts: int, stream: TextIO | None = None) -> None:
        """``stream`` is standard error unless another one is given."""
        self._stream = stream or sys.stderr
        self._parts = parts
        self._begun = 0
        self._shows = self._stream.isatty() and os.environ.get("TERM") != "dumb"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()

    def at(self, name: str) -> None:
        """The part ``name`` begins."""
        self._begun += 1
        line = f"[{self._begun}/{self._parts}] {name}"
        self._write(_CLEAR_LINE + line[: shutil.get_terminal_size().columns - 1])

    def clear(self) -> None:
        """Take the line away; to be called before anything else is printed."""
        self._write(_CLEAR_LINE)

    def _write(self, text: str) -> None:
        if self._shows:
            self._stream.write(text)
            self._stream.flush()
