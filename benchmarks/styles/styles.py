"""Writes a kernel in mechanically different styles.

A kernel is sums over inner loops for each iteration of outer loops. Every style computes the same
floating-point operations in the same order, so that results are equal to the bit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Range = tuple[str, str, str]
"""A loop: its counter, its first value, and the value it ends before."""


@dataclass(frozen=True, slots=True)
class Sum:
    """``result`` of ``name``, which starts at ``start`` and adds up ``term``."""

    name: str
    term: str
    result: str
    start: str = "0"


@dataclass(frozen=True, slots=True)
class Kernel:
    """What is computed: ``arrays`` have the extents of each parameter, in terms of ``n``.

    ``definitions`` name values that the terms use. The last of ``arrays`` are results. ``power``
    and ``factor`` say how many elements the largest array has: ``factor * (n + 8) ** power``.
    ``sizes`` is what to time.
    """

    name: str
    type: str
    arrays: Mapping[str, tuple[str, ...]]
    outer: tuple[Range, ...]
    inner: tuple[Range, ...]
    sums: tuple[Sum, ...]
    size: int
    definitions: tuple[tuple[str, str], ...] = ()
    power: int = 2
    factor: int = 1
    top: str = ""


def _for(ranges: tuple[Range, ...], body: str) -> str:
    for counter, first, end in reversed(ranges):
        body = f"for (int {counter} = {first}; {counter} < {end}; {counter}++) {{ {body} }}"
    return body


def _while(ranges: tuple[Range, ...], body: str) -> str:
    for counter, first, end in reversed(ranges):
        body = f"{{ int {counter} = {first}; while ({counter} < {end}) {{ {body} {counter}++; }} }}"
    return body


def _down(ranges: tuple[Range, ...], body: str) -> str:
    for counter, first, end in reversed(ranges):
        body = f"for (int {counter} = ({end}) - 1; {counter} >= {first}; {counter}--) {{ {body} }}"
    return body


def _blocked(ranges: tuple[Range, ...], body: str) -> str:
    """Blocks of the loops whose ends are the same in every iteration of the others."""
    counters = {counter for counter, _, _ in ranges}
    free = [each for each in ranges if counters.isdisjoint(re.findall(r"\w+", each[2]))]
    for counter, first, end in reversed(ranges):
        start, limit = first, end
        if (counter, first, end) in free:
            start = counter * 2
            limit = f"({start} + 32 < {end} ? {start} + 32 : {end})"
        body = f"for (int {counter} = {start}; {counter} < {limit}; {counter}++) {{ {body} }}"
    for counter, first, end in reversed(free):
        block = counter * 2
        body = f"for (int {block} = {first}; {block} < {end}; {block} += 32) {{ {body} }}"
    return body


def _named(kernel: Kernel) -> str:
    return " ".join(f"{kernel.type} {name} = {value};" for name, value in kernel.definitions)


def _scalars(kernel: Kernel, *, declare: bool = True, term: Callable[[str], str] | None = None) -> str:
    """The sums in variables, for one iteration of the outer loops."""
    kind = f"{kernel.type} " if declare else ""
    starts = " ".join(f"{kind}{each.name} = {each.start};" for each in kernel.sums)
    adds = [f"{each.name} += {each.term};" for each in kernel.sums]
    if term is not None:
        adds = [term(each.term).replace("@", each.name) for each in kernel.sums]
    ends = " ".join(each.result.replace("@", each.name) + ";" for each in kernel.sums)
    return f"{starts} {_for(kernel.inner, _named(kernel) + ' ' + ' '.join(adds))} {ends}"


def _inside(kernel: Kernel) -> str:
    return _for(kernel.outer, _scalars(kernel))


def _outside(kernel: Kernel) -> str:
    names = ", ".join(each.name for each in kernel.sums)
    return f"{kernel.type} {names}; {_for(kernel.outer, _scalars(kernel, declare=False))}"


def _in_elements(kernel: Kernel) -> str:
    """The sums in the elements of the result, where the result is nothing else."""
    targets = [each.result.partition(" = ")[0] for each in kernel.sums]
    pairs = list(zip(kernel.sums, targets, strict=True))
    starts = " ".join(f"{target} = {each.start};" for each, target in pairs)
    adds = " ".join(f"{target} += {each.term};" for each, target in pairs)
    ends = " ".join(
        each.result.replace("@", target) + ";" for each, target in pairs if each.result != f"{target} = @"
    )
    return _for(kernel.outer, f"{starts} {_for(kernel.inner, _named(kernel) + ' ' + adds)} {ends}")


def _written_out(kernel: Kernel) -> str:
    return _for(kernel.outer, _scalars(kernel, term=lambda text: f"@ = @ + {text};"))


def _in_steps(kernel: Kernel) -> str:
    """Each term has a name before it is added."""
    return _for(
        kernel.outer, _scalars(kernel, term=lambda text: f"{{ {kernel.type} step = {text}; @ += step; }}")
    )


def _whiles(kernel: Kernel) -> str:
    return _while(kernel.outer, _scalars(kernel))


def _downwards(kernel: Kernel) -> str:
    return _down(kernel.outer, _scalars(kernel))


def _in_blocks(kernel: Kernel) -> str:
    return _blocked(kernel.outer, _scalars(kernel))


STYLES: Mapping[str, Callable[[Kernel], str]] = {
    "elements": _in_elements,
    "inside": _inside,
    "outside": _outside,
    "written-out": _written_out,
    "steps": _in_steps,
    "while": _whiles,
    "downwards": _downwards,
    "blocks": _in_blocks,
    "flat": _inside,
    "macro": _inside,
    "flat-blocks": _in_blocks,
}
"""The loops of each style; the last ones differ in how elements are written."""

_FLAT = {"flat", "flat-blocks"}


def function(kernel: Kernel, style: str) -> str:
    """The C function ``run_STYLE`` that computes ``kernel``, its loops marked, and what stands before it."""
    body = STYLES[style](kernel)
    name = "run_" + style.replace("-", "_")
    top = kernel.top
    if style in _FLAT or style == "macro":
        parameters = [f"{kernel.type} *{array}" for array in kernel.arrays]
        for array, extents in kernel.arrays.items():
            body = _rewritten(body, array, extents, macro=style == "macro")
        if style == "macro":
            top += "#undef AT2\n#define AT2(m, w, i, j) (m)[(i) * (w) + (j)]\n"
    else:
        parameters = [
            f"{kernel.type} {array}" + "".join(f"[{each}]" for each in extents)
            for array, extents in kernel.arrays.items()
        ]
    marked = f"#pragma scop\n{body}\n#pragma endscop\n"
    return f"{top}static void {name}(int n, {', '.join(parameters)})\n{{\n{marked}}}\n"


def _rewritten(text: str, array: str, extents: tuple[str, ...], *, macro: bool) -> str:
    """``text`` with the elements of ``array`` by one subscript."""
    subscript = r"\[([^\[\]]*)\]"

    def flat(match: re.Match[str]) -> str:
        first, *rest = match.groups()
        if macro and len(rest) == 1:
            return f"AT2({array}, {extents[1]}, {first}, {rest[0]})"
        for extent, each in zip(extents[1:], rest, strict=True):
            first = f"({first}) * ({extent}) + {each}"
        return f"{array}[{first}]"

    return re.sub(rf"\b{array}{subscript * len(extents)}", flat, text)
