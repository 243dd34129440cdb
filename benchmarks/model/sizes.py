"""The values that parameters of regions have in the programs that are timed, read from the sources."""

from __future__ import annotations

import math
import re
from pathlib import Path

_DIVISORS = {"large": 1, "medium": 4, "small": 16, "mini": 64}


def sizes_of_loop(source: Path, name: str, size: int) -> dict[str, int]:
    """Those of a loop for a problem of ``size``: what LOOP calls it with, as far as that are products."""
    text = source.read_text(encoding="utf-8")
    call = text.index(f"{name}(", text.index(f"\nLOOP({name}, ") + len(f"\nLOOP({name}, "))
    names, values = _listed(text, text.index(f" {name}(") + 1), _listed(text, call)
    given = dict(zip((each.split()[-1] for each in names), values, strict=True))
    return {
        parameter: math.prod(size if each == "n" else int(each) for each in value.split(" * "))
        for parameter, value in given.items()
        if re.fullmatch(r"(n|\d+)( \* (n|\d+))*", value)
    }


def _listed(text: str, start: int) -> list[str]:
    """What stands between commas in the first brackets from ``start`` on."""
    found, depth = [""], 0
    for letter in text[text.index("(", start) + 1 :]:
        if letter == "," and not depth:
            found.append("")
            continue
        depth += (letter in "([") - (letter in ")]")
        if depth < 0:
            break
        found[-1] += letter
    return [each.strip() for each in found]


def sizes_of_kernel(source: Path, data: str) -> dict[str, int]:
    """Those of one of our own kernels with ``data`` of a size."""
    match = re.search(r'= \{"[^"]*", "([^"]*)", \{([^}]*)\}', source.read_text(encoding="utf-8"))
    if match is None:
        return {}
    large = map(int, match[2].split(","))
    return {name: -(-each // _DIVISORS[data]) for name, each in zip(match[1].split(), large, strict=True)}


def sizes_of_polybench(source: Path, data: str) -> dict[str, int]:
    """Those of a kernel of PolyBench: the macros of its header, in small letters."""
    header = source.with_suffix(".h").read_text(encoding="utf-8")
    part = header.partition(f"ifdef {data.upper()}_DATASET")[2].partition("endif")[0]
    return {name.lower(): int(value) for name, value in re.findall(r"define (\w+) (\d+)", part)}
