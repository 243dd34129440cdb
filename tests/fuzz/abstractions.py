"""Parts of random programs that stand in a header, and have names there: as real programs name theirs.

Elements are behind macros of index arithmetic, of casts of memory without a type, and of rows that begin
after so many bytes; operations and updates behind small inline functions, numbers are constants, types have
names, and loops or their bodies are macros.
"""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Sequence

from .program import Array, Program

_CONSTANTS = ("#define", "enum {{ {} }};", "static const int {};")  # ways to name a number
_ELEMENTS = ("elements", "flat", "memory", "bytes")
WAYS = (*_ELEMENTS, "operations", "updates", "types", "body", "block", "nest", *_CONSTANTS)
"""What may be in a header: see ``Abstractions``."""


def abstracted(program: Program, rng: random.Random) -> Program:
    """``program``, half of the time with some of its parts in a header."""
    if rng.random() < 0.5:
        return program
    ways = tuple(sorted(rng.sample(WAYS, rng.randint(1, 3))))
    header = program.header or rng.random() < 0.2
    return dataclasses.replace(program, abstractions=ways, header=header)


class Abstractions:
    """What one program has in its header, gathered while it is printed."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.lines: dict[str, None] = {}
        self.constants = next((each for each in _CONSTANTS if self.has(each)), "")

    def has(self, way: str) -> bool:
        return way in self.program.abstractions

    def is_flat(self, array: Array) -> bool:
        """Whether an array is one row, all of its elements behind one another."""
        ways = any(map(self.has, _ELEMENTS[1:]))
        return ways and array.kind == "parameter" and array.rank > 1 and not array.rows

    def pointed_to(self, array: Array) -> str:
        """What the parameter of a flat ``array`` leads to."""
        if self.has("memory"):
            return "void"
        return "char" if self.has("bytes") else self.type(array.type)

    def element(self, array: Array, name: str, offsets: Sequence[int], extents: Sequence[str]) -> str | None:
        """The name of the macro for elements of ``array``, whose subscripts start at ``-offsets``."""
        if not array.rank or not (self.has("elements") or self.is_flat(array)):
            return None
        macro = f"{array.key}_{self.program.name}"
        letters = [f"x{position}" for position in range(array.rank)]
        places = [
            f"({letter}) {'-' if offset < 0 else '+'} {abs(offset)}" if offset else f"({letter})"
            for letter, offset in zip(letters, offsets, strict=True)
        ]
        if self.is_flat(array):
            *rows, last = zip(places[1:], extents[1:], strict=True)
            index = places[0]
            for place, extent in rows:
                index = f"({index}) * ({extent}) + {place}"
            kind, (place, extent) = array.type, last
            if self.has("bytes"):  # sizes are of type int or wider, so that these are signed
                row = f"(char *){name} + ({index}) * (({extent}) * (int)sizeof({kind}))"
                name, places = f"(({kind} *)({row}))", [place]
            else:
                name = f"(({kind} *){name})" if self.has("memory") else name
                places = [f"({index}) * ({extent}) + {place}"]
        text = f"{name}{''.join(f'[{each}]' for each in places)}"
        self._add(f"#define {macro}({', '.join(letters)}) {text}")
        return macro

    def constant(self, value: int) -> str:
        """``value``, or the name of a constant."""
        if not self.constants or value < 0:
            return str(value) if value >= 0 else f"({value})"
        name = f"K{value}_{self.program.name}"
        if self.constants.startswith("#"):
            self._add(f"#define {name} {value}")
        else:
            self._add(self.constants.format(f"{name} = {value}"))
        return name

    def type(self, name: str) -> str:
        """A name for the type ``name``."""
        if not self.has("types"):
            return name
        alias = f"{name.replace(' ', '_')}_{self.program.name}"
        self._add(f"typedef {name} {alias};")
        return alias

    def operation(self, left: str, op: str, right: str, kind: str) -> str:
        """``left op right`` of operands of the type ``kind``."""
        names = {"+": "plus", "-": "minus", "*": "times"}
        if not self.has("operations") or op not in names:
            return f"({left} {op} {right})"
        function = f"{names[op]}_{kind.replace(' ', '_')}_{self.program.name}"
        self._add(f"static inline {kind} {function}({kind} x, {kind} y) {{ return x {op} y; }}")
        return f"{function}({bare(left)}, {bare(right)})"

    def update(self, element: str, type_name: str, op: str, value: str, kind: str) -> str:
        """A call that updates ``element``."""
        words = re.sub(r"[^a-z]+", "_", f"{type_name} {kind}")
        function = f"update{len(op)}{ord(op[0])}_{words}_{self.program.name}"
        self._add(f"static inline void {function}({type_name} *to, {kind} value) {{ *to {op} value; }}")
        return f"{function}(&{element}, {bare(value)})"

    def body(self, lines: Sequence[str], counters: Sequence[str], *, nested: bool) -> list[str]:
        """The body of a loop, or the whole of one that is not ``nested`` in another."""
        whole = self.has("nest") if not nested else self.has("body") or self.has("block")
        if not whole or any(each.lstrip().startswith("#") for each in lines):
            return list(lines)
        text = " ".join(each.strip() for each in lines)
        clash = re.search(rf"(->|\.)({'|'.join(counters)})\b", text) if counters else None
        arguments = "" if clash or not nested else ", ".join(counters)
        macro = f"{'BODY' if nested else 'NEST'}{len(self.lines)}_{self.program.name}"
        parameters = f"({arguments})" if arguments else ""
        if nested:
            text = f"do {{ {text} }} while (0)" if self.has("body") else f"{{ {text} }}"
        self._add(f"#define {macro}{parameters} \\\n  {text}")
        indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
        return [f"{indent}{macro}{parameters}{';' if nested else ''}"]

    def _add(self, line: str) -> None:
        self.lines[line] = None


def bare(text: str) -> str:
    """``text`` without parentheses around all of it."""
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and position < len(text) - 1:
            return text
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text
