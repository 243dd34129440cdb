"""Every knob of polybuild, in one frozen dataclass.

The command line (``--tile-sizes``), CMake (``TILE_SIZES``), pyproject
(``tile-sizes``), Python (``tile_sizes``) and the pragma clause
(``#pragma scop tile_sizes(32,32)``) are faces of the same field, and all of
them read the help text and the parser from the field's metadata.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from polybuild.diagnostics import UsageError


@dataclass(frozen=True, slots=True)
class Choice:
    """Reads one of a few words."""

    words: tuple[str, ...]

    def __call__(self, text: str) -> str:
        """``text``; ValueError if it is none of the words."""
        if text not in self.words:
            raise ValueError(f"must be one of {', '.join(self.words)}")
        return text


def _boolean(text: str) -> bool:
    values = {"1": True, "on": True, "true": True, "yes": True, "": True}
    values |= {"0": False, "off": False, "false": False, "no": False}
    try:
        return values[text.lower()]
    except KeyError:
        raise ValueError("must be on or off") from None


def _sizes(text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(int(part) for part in re.split(r"[,;\s]+", text.strip()) if part)
    except ValueError:
        sizes = (0,)
    if any(size < 1 for size in sizes):
        raise ValueError("must be positive whole numbers separated by commas")
    return sizes


def _names(text: str) -> tuple[str, ...]:
    names = tuple(part for part in re.split(r"[,;\s]+", text.strip()) if part)
    if any(not name.isidentifier() for name in names):
        raise ValueError("must be names separated by commas")
    return names


def _positive(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise ValueError("must be a positive whole number")
    return value


def _non_negative(text: str) -> int:
    return 0 if text.strip() == "0" else _positive(text)


def _knob(
    default: Any, parse: Callable[[str], Any], help_text: str, *, metavar: str = "", finds_more: bool = False
) -> Any:
    """A field of Options, which ``parse`` reads.

    With ``finds_more`` it may make regions of what is not marked in the file itself.
    """
    if isinstance(parse, Choice):
        metavar = "|".join(parse.words)
    elif parse is _boolean:
        metavar = "on|off"
    about = {"parse": parse, "help": help_text, "metavar": metavar, "finds_more": finds_more}
    return field(default=default, metadata=about)


@dataclass(frozen=True, slots=True)
class Options:
    """What a user said should be done with the regions of one file; defaults are what a user wants.

    One value, however many fields it has: the command line, CMake's keywords, the keys of pyproject.toml and
    the clauses of pragmas are made from it. What follows from it for one file is in ``polybuild.context``.
    """

    backend: str = _knob(
        "openmp",
        Choice(("openmp", "cuda", "opencl")),
        "machine to generate code for; a GPU backend holds the openmp version, too",
    )
    nvcc: str = _knob("", str, "the CUDA compiler; empty: the one that is found", metavar="PATH")
    cuda_arch: tuple[int, ...] = _knob(
        (80, 90),
        _sizes,
        "compute capabilities to build kernels for, 90 for 9.0; newer devices get the oldest one's PTX",
        metavar="N,N,...",
    )
    without_nvcc: str = _knob(
        "opencl",
        Choice(("opencl", "openmp", "error")),
        "what to build instead of CUDA where there is no nvcc",
    )
    schedule: str = _knob(
        "auto",
        Choice(("auto", "isl", "pluto", "original")),
        "who orders the work: isl's scheduler, our own (Pluto's), the original order, or what the model says",
    )
    fusion: str = _knob(
        "auto",
        Choice(("auto", "min", "max", "depth")),
        "minimal or maximal fusion, maximal band depth, or what the model prefers",
    )
    tile: bool = _knob(True, _boolean, "tile permutable bands")
    tile_sizes: tuple[int, ...] = _knob(
        (), _sizes, "tile sizes, outermost first; empty: from the cache model", metavar="N,N,..."
    )
    tile_shape: str = _knob(
        "auto",
        Choice(("auto", "rectangular", "diamond", "hexagonal", "split", "hybrid")),
        "shape of the tiles of time-iterated stencils, or what the model prefers",
        metavar="SHAPE",
    )
    parallel: bool = _knob(True, _boolean, "run coincident loops on several threads")
    simd: bool = _knob(True, _boolean, "mark coincident innermost loops for the vector unit")
    registers: bool = _knob(True, _boolean, "keep blocks of results in vector registers, pack what they need")
    vector_size: int = _knob(
        0, _non_negative, "vector registers in bytes; 0: what the compiler's flags allow", metavar="BYTES"
    )
    allow_reassociation: bool | None = _knob(
        None,
        _boolean,
        "sums, products, minima and maxima of floating-point numbers may be computed in any order; "
        "default: where the compiler's flags let it do so, too",
    )
    contract_arrays: str = _knob(
        "auto",
        Choice(("auto", "on", "scalars", "copies", "off")),
        "keep temporary arrays in small buffers or variables: where it pays, wherever an order allows "
        "buffers, or variables, or those with copies of other arrays, or never",
    )
    scalars: int = _knob(
        14,
        _non_negative,
        "maximum number of variables that stand for elements of arrays; 0: none",
        metavar="N",
    )
    temporary: tuple[str, ...] = _knob(
        (), _names, "arrays of which nothing is needed before or after a region", metavar="NAME,..."
    )
    min_work: int = _knob(
        20000,
        _non_negative,
        "statement instances below which a region runs its original loops; 0: never",
        metavar="N",
    )
    l1_size: int = _knob(
        0,
        _non_negative,
        "first-level data cache in bytes; 0: this machine's where the code is for it, else 32768",
        metavar="BYTES",
    )
    l2_size: int = _knob(
        0,
        _non_negative,
        "second-level cache in bytes; 0: this machine's where the code is for it, else 1048576",
        metavar="BYTES",
    )
    block_sizes: tuple[int, ...] = _knob(
        (), _sizes, "threads of a GPU block along each loop, x last; empty: chosen", metavar="N,N,N"
    )
    grid_sizes: tuple[int, ...] = _knob(
        (), _sizes, "maximum number of GPU blocks along each loop, x last; empty: chosen", metavar="N,N,N"
    )
    autodetect: bool = _knob(
        False, _boolean, "find loops worth transforming that are not marked", finds_more=True
    )
    headers: bool = _knob(
        False, _boolean, "take regions in the headers that a file includes, too", finds_more=True
    )
    verify: bool = _knob(
        False, _boolean, "emit code that compares a region with its original where POLYBUILD_VERIFY=1 is set"
    )
    paranoid: bool = _knob(
        False,
        _boolean,
        "run the new order of a region for small sizes, too, and compare it with the original one",
    )
    on_unsupported: str = _knob(
        "warn",
        Choice(("warn", "error")),
        "keep a region that is not understood, or fail",
    )

    @classmethod
    def finding_more(cls) -> tuple[str, ...]:
        """The options that may make regions of what is not marked in the file itself."""
        return tuple(each.name for each in dataclasses.fields(cls) if each.metadata["finds_more"])

    @classmethod
    def plain_values(cls) -> dict[str, tuple[str, ...]]:
        """The names of options on the command line, and the values of each that are right beyond doubt.

        Those that take whole numbers have ``"N"`` among them, those that take lists of them ``"N,..."``.
        """
        found: dict[str, tuple[str, ...]] = {}
        for each in dataclasses.fields(cls):
            parse = each.metadata["parse"]
            if isinstance(parse, Choice):
                values = parse.words
            elif parse is _boolean:
                values = ("off",) if each.metadata["finds_more"] else ("on", "off")
            else:
                values = {_sizes: ("N", "N,..."), _positive: ("N",), _non_negative: ("N",)}.get(parse, ())
            if values:
                found["--" + each.name.replace("_", "-")] = values
        return found

    def with_settings(self, settings: Mapping[str, str]) -> Options:
        """A copy with ``settings`` (field name, ``-`` or ``_``, to text) parsed into it.

        Raises UsageError for an unknown name or an ill-formed value.
        """
        knobs = {knob.name: knob for knob in dataclasses.fields(self)}
        changes: dict[str, Any] = {}
        for name, text in settings.items():
            knob = knobs.get(name.replace("-", "_"))
            if knob is None:
                raise UsageError(f"unknown option '{name}'; known are {', '.join(knobs)}")
            try:
                changes[knob.name] = knob.metadata["parse"](text)
            except ValueError as error:
                raise UsageError(f"option '{name}' {error}, not '{text}'") from None
        return dataclasses.replace(self, **changes)

    def with_clauses(self, clauses: str) -> Options:
        """A copy with the clauses of a pragma, as in ``tile_sizes(32,32) fusion(max)``.

        Raises UsageError if the text is not a list of clauses.
        """
        settings: dict[str, str] = {}
        rest = clauses.strip()
        while rest:
            match = re.match(r"(\w+)\s*(?:\(([^()]*)\))?\s*,?\s*", rest)
            if match is None:
                raise UsageError(f"cannot read the pragma clause '{rest}'; write name(value)")
            settings[match.group(1)] = match.group(2) or ""
            rest = rest[match.end() :]
        return self.with_settings(settings)
