"""What isl calls back while it generates code.

No exception may leave a callback: isl would go on with a tree that has holes. Nor can anything be made
for isl there once its budget is spent, so what is handed back after a failure was there before.
"""

from __future__ import annotations

import traceback


class Failures:
    """Keeps what is raised under it, to be raised again when isl is done.

    ``with failures: return new`` goes on after it where ``new`` could not be made.
    """

    def __init__(self) -> None:
        self._found: list[Exception] = []

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _where: object) -> bool:
        if not isinstance(error, Exception):
            return False
        self._found.append(_detached(error))
        return True

    def check(self) -> None:
        """Raise the first of them, if there are any."""
        if self._found:
            raise self._found[0]


def _detached(error: Exception) -> Exception:
    """``error`` without hold on the callback's frames, whose arguments isl takes back; they become a note."""
    error.add_note("".join(traceback.format_tb(error.__traceback__)))
    error.__context__ = None
    return error.with_traceback(None)
