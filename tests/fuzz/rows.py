"""The programs of ``generate`` with arrays behind tables of pointers to their rows (``T **a``)."""

from __future__ import annotations

import dataclasses
import random

from .abstractions import abstracted
from .generate import generate
from .program import Program


def rows(seed: int, index: int) -> Program:
    """Program ``index`` of the stream of ``seed``."""
    program = generate(seed, index)
    arrays = tuple(
        dataclasses.replace(each, rows=each.kind in {"parameter", "pointer"} and each.rank > 1)
        for each in program.arrays
    )
    rng = random.Random(f"rows:{seed}:{index}")  # noqa: S311 -- wants to be repeatable
    return abstracted(dataclasses.replace(program, arrays=arrays), rng)
