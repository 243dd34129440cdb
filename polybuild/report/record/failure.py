"""A failure of polybuild itself, told in one line."""

from __future__ import annotations

import os
import sys
import traceback

DEBUG_VARIABLE = "POLYBUILD_DEBUG"


def describe(error: BaseException) -> str:
    """An unexpected error in one line; its traceback goes to standard error if it was asked for."""
    if os.environ.get(DEBUG_VARIABLE, "") not in {"", "0"}:
        traceback.print_exception(error, file=sys.stderr)
    first_line = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}: {first_line}" if first_line else type(error).__name__
