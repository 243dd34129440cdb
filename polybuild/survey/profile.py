"""Flat profiles: which part of a program's time each function takes, as perf and gprof print it."""

from __future__ import annotations

import re
from collections.abc import Mapping

# "  45.31%  solver  solver  [.] relax" of perf report, " 33.34  0.02  0.02  7208  0.00  0.00  relax" of gprof
_ROW = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)%?\s+\S.*?([A-Za-z_]\w*)(?:\.[\w.]+)?\s*")


def read_profile(text: str) -> Mapping[str, float]:
    """The share of each function, from 0 to 1; functions of one name are put together."""
    shares: dict[str, float] = {}
    for line in text.splitlines():
        row = _ROW.fullmatch(line)
        if row is not None:
            shares[row[2]] = shares.get(row[2], 0.0) + float(row[1]) / 100
    return shares
