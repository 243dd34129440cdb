"""The files whose compilation is timed: ours, stencils of every kind, and what is named."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cpu.suites import OwnKernels, PolyBench
from benchmarks.ordinary.loops import all_loops, source_of
from benchmarks.overhead.timing import ROOT

_COUNTERS = ("i", "j", "k")
_BORDERS = ("fixed", "periodic")
_BOXES = (
    3,
    4,
)  # dimensions and reach together: boxes in one dimension are stars, larger ones have 125 points


@dataclass(frozen=True, slots=True)
class Subject:
    """One C file, with the flags that it needs; ``group`` is where its figure counts."""

    group: str
    name: str
    source: Path
    flags: Sequence[str] = ()


def own_subjects(folder: Path) -> Iterator[Subject]:
    """Our kernels, the ordinary loops, and stencils, which are written to ``folder``."""
    kernels = OwnKernels()
    for each in kernels.kernels:
        yield Subject("kernels", each.name, each.source, kernels.flags(each, "large", timed=True))
    for field in dict.fromkeys(each.field for each in all_loops()):
        yield Subject("ordinary loops", field, source_of(field), ("-I", str(source_of(field).parent)))
    for name in ("filters", "sparse", "contraction"):
        yield Subject("other kernels", name, ROOT / "benchmarks" / name / "kernels.c")
    for name, text in stencils().items():
        source = folder / f"{name}.c"
        source.write_text(text, encoding="ascii")
        yield Subject("stencils", name, source)


def polybench(directory: Path) -> Iterator[Subject]:
    """The kernels of an unpacked PolyBench/C."""
    suite = PolyBench(directory)
    for each in suite.kernels:
        yield Subject("PolyBench", each.name, each.source, suite.flags(each, "large", timed=True))


def named(files: Sequence[Path], flags: Sequence[str]) -> Iterator[Subject]:
    """Files of others, compiled with ``flags`` and what lies beside them."""
    for each in files:
        yield Subject("named", each.stem, each, (*flags, "-I", str(each.parent)))


def stencils() -> dict[str, str]:
    """Steps over time of grids of one to three dimensions, by name.

    Stars and boxes that reach one or two elements far, from one grid to another and back, in one that has
    the parity of the step as a subscript, or in place; with fixed borders, or those that touch each other.
    """
    kinds = itertools.product((1, 2, 3), ("star", "box"), (1, 2), ("copied", "parity", "in-place"), _BORDERS)
    found = {}
    for dimensions, shape, reach, storage, border in kinds:
        if shape == "box" and dimensions + reach not in _BOXES:
            continue
        if storage == "in-place" and border == "periodic":
            continue
        name = f"{shape}-{dimensions}d-{reach}-{storage}-{border}"
        found[name] = _Stencil(dimensions, shape, reach, storage, border).text()
    return found


@dataclass(frozen=True, slots=True)
class _Stencil:
    """One step over time, as C."""

    dimensions: int
    shape: str
    reach: int
    storage: str
    border: str

    def text(self) -> str:
        """The file."""
        grid = "".join(f"[N + {2 * self.reach}]" for _ in range(self.dimensions))
        arrays = {"copied": f"a{grid}, b{grid}", "parity": f"a[2]{grid}", "in-place": f"a{grid}"}
        steps = {
            "copied": (self._nest("b", "a"), self._nest("a", "b")),
            "parity": (self._nest("a[(t + 1) % 2]", "a[t % 2]"),),
            "in-place": (self._nest("a", "a"),),
        }
        body = "\n".join(steps[self.storage])
        return (
            f"#define N 400\ndouble {arrays[self.storage]};\n\nvoid step(int steps) {{\n#pragma scop\n"
            f"  for (int t = 0; t < steps; t++) {{\n{body}\n  }}\n#pragma endscop\n}}\n"
        )

    def _nest(self, target: str, source: str) -> str:
        periodic = self.border == "periodic"
        first, last = (0, f"N + {2 * self.reach}") if periodic else (self.reach, f"N + {self.reach}")
        loops = "".join(
            f"    for (int {each} = {first}; {each} < {last}; {each}++)\n"
            for each in _COUNTERS[: self.dimensions]
        )
        terms = " + ".join(f"{source}{self._subscripts(each)}" for each in self._offsets())
        here = self._subscripts((0,) * self.dimensions)
        return f"{loops}      {target}{here} = 0.1 * ({terms});"

    def _offsets(self) -> Iterator[tuple[int, ...]]:
        for each in itertools.product(range(-self.reach, self.reach + 1), repeat=self.dimensions):
            if self.shape == "box" or sum(value != 0 for value in each) <= 1:
                yield each

    def _subscripts(self, offset: Sequence[int]) -> str:
        size = f"(N + {2 * self.reach})"
        if self.border == "periodic":
            wrapped = zip(_COUNTERS, offset, strict=False)
            return "".join(
                f"[({each} + {value} + {size}) % {size}]" if value else f"[{each}]" for each, value in wrapped
            )
        return "".join(f"[{each} + {value}]" for each, value in zip(_COUNTERS, offset, strict=False))
