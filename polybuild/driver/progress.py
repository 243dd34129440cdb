"""Where work stands that takes long: one line on a terminal, written anew; nothing in logs."""

from __future__ import annotations

import os
import shutil
import sys
import time
from types import TracebackType
from typing import Self, TextIO

_CLEAR_LINE = "\r\x1b[K"
PATIENCE = 1.0
"""Seconds of silence: most files take no longer."""


class ProgressLine:
    """``at`` as each step begins, ``wait`` while it goes on, ``clear`` at the end, which ``with`` does, too.

    Under Make several commands have one terminal, and would write over each other: there is no line then.
    """

    def __init__(self, stream: TextIO | None = None, patience: float = PATIENCE, parts: int = 0) -> None:
        """``stream`` is standard error if none is given; nothing shows for ``patience`` seconds.

        Steps are counted where it is known how many ``parts`` there are.
        """
        self._stream = stream or sys.stderr
        self._parts = parts
        self._begun = 0
        self._began = time.monotonic()
        self._patience = patience
        self._step = ""
        self._shown = ""
        self.shows = (
            self._stream.isatty() and os.environ.get("TERM") != "dumb" and "MAKELEVEL" not in os.environ
        )
        """Whether anything is ever shown."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()

    def at(self, step: str) -> None:
        """The part of the work that ``step`` names begins."""
        self._begun += 1
        self._step = f"[{self._begun}/{self._parts}] {step}" if self._parts else step
        self.wait()

    def wait(self) -> None:
        """The work goes on; the line is brought up to date if it has taken long enough."""
        seconds = time.monotonic() - self._began
        if self.shows and self._step and seconds >= self._patience:
            line = f"{self._step} ({seconds:.0f} s)"[: shutil.get_terminal_size().columns - 1]
            if line != self._shown:
                self._write(_CLEAR_LINE + line)
                self._shown = line

    def clear(self) -> None:
        """Take the line away; to be called before anything else is printed."""
        if self._shown:
            self._write(_CLEAR_LINE)
            self._shown = ""

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
