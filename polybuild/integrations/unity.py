"""Unity builds: one C file that includes others, compiled in one go."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from polybuild.integrations.cc import included_sources

_QUOTED_INCLUDE = re.compile(rb'^([ \t]*#[ \t]*include[ \t]*)"([^"\n]+)"', re.MULTILINE)


def put_in_place(name: str, text: bytes, pieces: Mapping[str, bytes]) -> bytes:
    """``text`` of the C file ``name`` with the lines that include the files ``pieces`` replaced by these.

    In a piece, files that are included and lie beside it are named from here.
    """
    lines = []
    for number, line in enumerate(text.split(b"\n"), 1):
        path = next((path for path, _ in included_sources(name, line)), "")
        if path in pieces:
            quoted = os.fsencode(name).replace(b"\\", b"\\\\").replace(b'"', b'\\"')
            piece = _from_here(path, pieces[path].removesuffix(b"\n"))
            lines += [piece, b'#line %d "%s"' % (number + 1, quoted)]
        else:
            lines.append(line)
    return b"\n".join(lines)


def _from_here(path: str, text: bytes) -> bytes:
    folder = os.path.dirname(path)  # noqa: PTH120 -- as the user spelt it

    def named(match: re.Match[bytes]) -> bytes:
        beside = os.path.join(folder, os.fsdecode(match[2]))  # noqa: PTH118 -- as above
        if not os.path.isfile(beside):  # noqa: PTH113 -- as above
            return match[0]
        return match[1] + b'"' + os.fsencode(beside) + b'"'

    return _QUOTED_INCLUDE.sub(named, text)
