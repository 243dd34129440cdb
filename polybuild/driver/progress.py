"""Where work stands that takes long: one line on a terminal, written anew; nothing in logs."""

from __future__ import annotations

import os
import shutil
import sys
import time
from typing import TextIO

_CLEAR_LINE = "\r\x1b[K"
PATIENCE = 1.0
"""Seconds of silence: most files take no longer."""


class ProgressLine:
    """``at`` as each step begins, ``wait`` while it goes on, ``clear`` at the end.

    Under Make several commands have one terminal, and would write over each other: there is no line then.
    """

    def __init__(self, stream: TextIO | None = None, patience: float = PATIENCE) -> None:
        """``stream`` is standard error if none is given; nothing shows for ``patience`` seconds."""
        self._stream = stream or sys.stderr
        self._began = time.monotonic()
        self._patience = patience
        self._step = ""
        self._shown = ""
        self.shows = (
            self._stream.isatty() and os.environ.get("TERM") != "dumb" and "MAKELEVEL" not in os.environ
        )
        """Whether anything is ever shown."""

    def at(self, step: str) -> None:
        """The part of the work that ``step`` names begins."""
        self._step = step
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
