"""Functions that move stretches of rows between memory and a buffer with the rows side by side.

Squares of elements are loaded by rows, transposed in registers and stored by columns, or the other way:
a square of 2^n vectors is transposed by n rounds that interleave the vectors of its halves.
"""

from __future__ import annotations

from collections.abc import Sequence

from polybuild.codegen.file.lane_functions import HELPER
from polybuild.codegen.file.team import NOINLINE
from polybuild.codegen.file.vector_types import VectorType
from polybuild.values import dataclass

_IN_A_LINE = 2


@dataclass(frozen=True, slots=True)
class RowTransfer:
    """A function that loads rows into a buffer of vectors of ``type``, or ``stores`` them.

    It is given the buffer, how many vectors each of its columns has, where the rows begin, the first of the
    columns to move, and the one after the last. Loading, it asks for what lies so many bytes ``ahead``.
    """

    type: VectorType
    stores: bool
    ahead: int

    @property
    def name(self) -> str:
        """What the function is called in C."""
        return f"polybuild_{'store' if self.stores else 'load'}_rows_{self.type.suffix}"

    def definition(self) -> str:
        """The function in C, and what it calls."""
        return f"{self._transposition()}{self._transfer()}"

    def _transfer(self) -> str:
        lanes, vector, element = self.type.lanes, self.type.name, self.type.element
        constant = "" if self.stores else "const "
        square = _lanes("v", lanes)
        rows = [f"*({constant}{vector} *)&row[{lane}][k]" for lane in range(lanes)]
        columns = [f"buffer[(k + {lane}) * vectors]" for lane in range(lanes)]
        loaded, stored = (columns, rows) if self.stores else (rows, columns)
        if self.stores:
            assigned = _assigned(
                [f"row[{lane}][k]" for lane in range(lanes)], _lanes("buffer[k * vectors]", lanes)
            )
            single = f"    for (; k < end; k++) {{\n{_indented(assigned, 6)}    }}\n"
        else:
            elements = ", ".join(f"row[{lane}][k]" for lane in range(lanes))
            single = f"    for (; k < end; k++)\n      buffer[k * vectors] = ({vector}){{{elements}}};\n"
        prefetch = f"__builtin_prefetch((const char *)&row[lane][k] + {self.ahead});"
        ahead = (
            "" if self.stores else f"      for (int lane = 0; lane < {lanes}; lane++)\n        {prefetch}\n"
        )
        buffer = f"{'const ' if self.stores else ''}{vector} *buffer"
        return (
            f"#ifndef {self.name.upper()}\n#define {self.name.upper()}\n"
            f"{NOINLINE} void {self.name}({buffer}, int vectors,"
            f" {constant}{element} *const *row, long long first, long long end)\n{{\n"
            f"  for (int vector = 0; vector < vectors; vector++, row += {lanes}, buffer++) {{\n"
            "    long long k = first;\n"
            f"    for (; k + {lanes} <= end; k += {lanes}) {{\n      {vector} v[{lanes}];\n{ahead}"
            f"{_indented(_assigned(square, loaded), 6)}"
            f"      polybuild_transpose_{self.type.suffix}(v);\n"
            f"{_indented(_assigned(stored, square), 6)}"
            f"    }}\n{single}  }}\n}}\n#endif\n"
        )

    def _transposition(self) -> str:
        """The function that transposes a square of vectors."""
        lanes, name, suffix = self.type.lanes, self.type.name, self.type.suffix
        macro = f"POLYBUILD_TRANSPOSE_{suffix.upper()}"
        order = [number for lane in range(lanes) for number in (lane, lanes + lane)]
        halves = {"LOW": order[:lanes], "HIGH": order[lanes:]}
        numbers = {half: ", ".join(map(str, each)) for half, each in halves.items()}
        shuffles = "".join(
            f"#define {macro}_{half}(a, b) __builtin_shufflevector(a, b, {each})\n"
            for half, each in numbers.items()
        )
        masks = "".join(
            f"#define {macro}_{half}(a, b) __builtin_shuffle(a, b, ({self.type.mask.name}){{{each}}})\n"
            for half, each in numbers.items()
        )
        half = lanes // 2
        pairs = [(f"from[{lane}], from[{lane + half}]", 2 * lane) for lane in range(half)]
        round_ = "; \\\n".join(
            f"  to[{place}] = {macro}_LOW({pair}); to[{place + 1}] = {macro}_HIGH({pair})"
            for pair, place in pairs
        )
        rounds = [("v", "t"), ("t", "v")] * (lanes.bit_length() // 2)
        calls = [f"{macro}_ROUND({source}, {target});" for source, target in rounds[: lanes.bit_length() - 1]]
        if len(calls) % 2:
            calls += _assigned(_lanes("v", lanes), _lanes("t", lanes))
        return (
            f"#ifndef {macro}\n#define {macro}\n#ifdef __clang__\n{shuffles}#else\n{masks}#endif\n"
            f"#define {macro}_ROUND(from, to) \\\n{round_}\n"
            f"{HELPER} __attribute__((always_inline)) void polybuild_transpose_{suffix}({name} *v)\n"
            f"{{\n  {name} t[{lanes}];\n{_indented(calls, 2)}}}\n#endif\n"
        )


def _lanes(stem: str, lanes: int) -> list[str]:
    """The elements of what is called ``stem``."""
    return [f"{stem}[{lane}]" for lane in range(lanes)]


def _assigned(to: Sequence[str], values: Sequence[str]) -> list[str]:
    return [f"{place} = {value};" for place, value in zip(to, values, strict=True)]


def _indented(statements: Sequence[str], indent: int) -> str:
    """Lines with a few ``statements`` each."""
    groups = (statements[at : at + _IN_A_LINE] for at in range(0, len(statements), _IN_A_LINE))
    return "".join(f"{' ' * indent}{' '.join(group)}\n" for group in groups)
