"""The programs of ``generate`` with arrays behind tables of pointers to their rows (``T **a``)."""

from __future__ import annotations

import dataclasses

from .generate import generate
from .program import Program


def rows(seed: int, index: int) -> Program:
    """Program ``index`` of the stream of ``seed``."""
    program = generate(seed, index)
    arrays = tuple(
        dataclasses.replace(each, rows=each.kind in {"parameter", "pointer"} and each.rank > 1)
        for each in program.arrays
    )
    return dataclasses.replace(program, arrays=arrays)
