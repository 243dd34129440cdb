"""Functions that move stretches of rows between memory and a buffer with the rows side by side.

Squares of elements are loaded by rows, transposed in registers and stored by columns, or the other way:
a square of 2^n vectors is transposed by n rounds that interleave the vectors of its halves.
"""

from __future__ import annotations

from polybuild.codegen.file.lane_functions import HELPER
from polybuild.codegen.file.team import NOINLINE
from polybuild.codegen.file.vector_types import VectorType
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class RowTransfer:
    """A function that loads rows into a buffer of vectors of ``type``, or ``stores`` them.

    It is given the buffer, how many vectors each of its columns has, where the rows begin, the first of the
    columns to move, and the one after the last.
    """

    type: VectorType
    stores: bool

    @property
    def name(self) -> str:
        """What the function is called in C."""
        return f"polybuild_{'store' if self.stores else 'load'}_rows_{self.type.suffix}"

    def definition(self) -> str:
        """The function in C, and what it calls."""
        return f"{self._transposition()}{self._transfer()}"

    def _transfer(self) -> str:
        lanes, vector, element = self.type.lanes, self.type.name, self.type.element
        rows = [
            (f"v[{lane}]", f"*({'' if self.stores else 'const '}{vector} *)&row[{lane}][k]")
            for lane in range(lanes)
        ]
        columns = [(f"v[{lane}]", f"buffer[(k + {lane}) * vectors]") for lane in range(lanes)]
        loaded, stored = (columns, rows) if self.stores else (rows, columns)
        if self.stores:
            single = "".join(
                f"      row[{lane}][k] = buffer[k * vectors][{lane}];\n" for lane in range(lanes)
            )
            single = f"    for (; k < end; k++) {{\n{single}    }}\n"
        else:
            elements = ", ".join(f"row[{lane}][k]" for lane in range(lanes))
            single = f"    for (; k < end; k++)\n      buffer[k * vectors] = ({vector}){{{elements}}};\n"
        kinds = ("const ", "") if self.stores else ("", "const ")
        return (
            f"#ifndef {self.name.upper()}\n#define {self.name.upper()}\n"
            f"{NOINLINE} void {self.name}({kinds[0]}{vector} *buffer, int vectors,"
            f" {kinds[1]}{element} *const *row, long long first, long long end)\n{{\n"
            f"  for (int vector = 0; vector < vectors; vector++, row += {lanes}, buffer++) {{\n"
            "    long long k = first;\n"
            f"    for (; k + {lanes} <= end; k += {lanes}) {{\n      {vector} v[{lanes}];\n"
            f"{''.join(f'      {to} = {value};{chr(10)}' for to, value in loaded)}"
            f"      polybuild_transpose_{self.type.suffix}(v);\n"
            f"{''.join(f'      {place} = {value};{chr(10)}' for value, place in stored)}"
            f"    }}\n{single}  }}\n}}\n#endif\n"
        )

    def _transposition(self) -> str:
        """The function that transposes a square of vectors."""
        lanes, name, suffix = self.type.lanes, self.type.name, self.type.suffix
        macro = f"POLYBUILD_TRANSPOSE_{suffix.upper()}"
        order = [number for lane in range(lanes) for number in (lane, lanes + lane)]
        halves = ", ".join(map(str, order[:lanes])), ", ".join(map(str, order[lanes:]))
        shuffles = "".join(
            f"#ifdef __clang__\n#define {macro}_{half}(a, b) __builtin_shufflevector(a, b, {numbers})\n"
            f"#else\n#define {macro}_{half}(a, b)"
            f" __builtin_shuffle(a, b, ({self.type.mask.name}){{{numbers}}})\n#endif\n"
            for half, numbers in zip(("LOW", "HIGH"), halves, strict=True)
        )
        rounds, places = [], ("v", "t")
        for _ in range(lanes.bit_length() - 1):
            source, target = places
            for lane in range(lanes // 2):
                pair = f"{source}[{lane}], {source}[{lane + lanes // 2}]"
                rounds.append(
                    f"  {target}[{2 * lane}] = {macro}_LOW({pair});"
                    f" {target}[{2 * lane + 1}] = {macro}_HIGH({pair});\n"
                )
            places = target, source
        if places[0] == "t":
            rounds += [f"  v[{lane}] = t[{lane}];\n" for lane in range(lanes)]
        return (
            f"#ifndef {macro}\n#define {macro}\n{shuffles}"
            f"{HELPER} __attribute__((always_inline)) void polybuild_transpose_{suffix}({name} *v)\n"
            f"{{\n  {name} t[{lanes}];\n{''.join(rounds)}}}\n#endif\n"
        )
