"""The C files that a C file includes, as unity builds and templates do, without the preprocessor's help."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIX = ".c"
"""How the name of a C file ends."""


def included_sources(path: str, text: bytes) -> "Iterator[bytes]":
    """The texts of C files that the ``text`` of the one at ``path`` includes, from beside it."""
    if b'.c"' not in text:
        return
    for line in text.split(b"\n"):
        words = line.split(b'"')
        if len(words) == 3 and words[0].replace(b" ", b"") == b"#include" and words[1].endswith(b".c"):
            other = os.path.join(os.path.dirname(path), os.fsdecode(words[1]))  # noqa: PTH118, PTH120 -- start-up
            try:
                with open(other, "rb") as file:  # noqa: PTH123 -- start-up
                    yield file.read()
            except OSError:
                continue
