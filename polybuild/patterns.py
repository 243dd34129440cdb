"""Regular expressions that are compiled when they are first used.

Compiling one takes up to a millisecond, and most files have use for a few of them alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, AnyStr

if TYPE_CHECKING:

    def pattern(text: AnyStr, flags: re.RegexFlag | int = 0) -> re.Pattern[AnyStr]:
        """The expression ``text`` with its ``flags``, as ``re.compile`` would give it."""
        ...
else:

    class pattern:  # noqa: N801 - called as a function is
        """The expression ``text`` with its ``flags``, which has what ``re.compile`` would give."""

        def __init__(self, text: AnyStr, flags: re.RegexFlag | int = 0) -> None:
            self.pattern = text
            self._flags = flags

        def __getattr__(self, name: str) -> Any:
            value = getattr(re.compile(self.pattern, self._flags), name)
            setattr(self, name, value)  # what is asked next time
            return value
