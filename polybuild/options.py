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
from dataclasses import field
from typing import Any

from polybuild.diagnostics import UsageError
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class Choice:
    """Reads one of a few words."""

    words: tuple[str, ...]

    def __call__(self, text: str) -> str:
        """``text``; ValueError if it is none of the words."""
        if text not in self.words:
            raise ValueError(f"must be one of {', '.join(self.words)}")
        return text


@dataclass(frozen=True, slots=True)
class Choices:
    """Reads any of a few words, separated by commas; none is allowed, too."""

    words: tuple[str, ...]

    def __call__(self, text: str) -> tuple[str, ...]:
        """The words, each once; ValueError if there are others."""
        found = tuple(dict.fromkeys(part for part in re.split(r"[,;\s]+", text.strip()) if part))
        if not set(found) <= set(self.words):
            raise ValueError(f"must be words among {', '.join(self.words)}, separated by commas")
        return found


def _boolean(text: str) -> bool:
    values = {"1": True, "on": True, "true": True, "yes": True, "": True}
    values |= {"0": False, "off": False, "false": False, "no": False}
    try:
        return values[text.lower()]
    except KeyError:
        raise ValueError("must be on or off") from None


@dataclass(frozen=True, slots=True)
class Number:
    """Reads a whole number from ``minimum`` to ``maximum``."""

    minimum: int
    maximum: int

    def __call__(self, text: str) -> int:
        """The number; ValueError if it is none or not in the range."""
        try:
            value = int(text)
        except ValueError:
            value = self.minimum - 1
        if not self.minimum <= value <= self.maximum:
            raise ValueError(f"must be a whole number from {self.minimum} to {self.maximum}")
        return value


@dataclass(frozen=True, slots=True)
class Numbers:
    """Reads at most ``length`` whole numbers, each from ``minimum`` to ``maximum``; none is allowed, too."""

    minimum: int
    maximum: int
    length: int

    def __call__(self, text: str) -> tuple[int, ...]:
        """The numbers, in order; ValueError if there are others or too many."""
        one = Number(self.minimum, self.maximum)
        try:
            numbers = tuple(one(part) for part in re.split(r"[,;\s]+", text.strip()) if part)
        except ValueError:
            raise ValueError(
                f"must be whole numbers from {self.minimum} to {self.maximum}, separated by commas"
            ) from None
        if len(numbers) > self.length:
            raise ValueError(f"must be at most {self.length} numbers")
        return numbers


def _names(text: str) -> tuple[str, ...]:
    names = tuple(part for part in re.split(r"[,;\s]+", text.strip()) if part)
    if any(not name.isidentifier() for name in names):
        raise ValueError("must be names separated by commas")
    return names


_VECTOR_SIZES = Choice(("0", "8", "16", "32", "64"))


def _vector_size(text: str) -> int:
    return int(_VECTOR_SIZES(text))


# Tiles beyond a million iterations are none, and must not overflow the counters of generated loops.
_TILE_SIZES = Numbers(1, 1 << 20, 16)
# Devices take no larger blocks, and count blocks with 31 bits.
_BLOCK_SIZES = Numbers(1, 1024, 3)
_GRID_SIZES = Numbers(1, (1 << 31) - 1, 3)
_CAPABILITIES = Numbers(50, 999, 16)
_CACHE_SIZE = Number(0, 1 << 40)
_COUNT = Number(0, (1 << 31) - 1)
_WORK = Number(0, (1 << 62) - 1)


def _knob(
    default: Any,
    parse: Callable[[str], Any],
    help_text: str,
    *,
    metavar: str = "",
    more: str = "",
    finds_more: bool = False,
    of_region: bool = True,
) -> Any:
    """A field of Options, which ``parse`` reads.

    ``more`` is what the reference adds to the help, as Markdown with links from docs/reference. With
    ``finds_more`` it may make regions of what is not marked in the file itself. What is not
    ``of_region`` is the same for all regions of a file.
    """
    if isinstance(parse, Choice):
        metavar = "|".join(parse.words)
    elif parse is _boolean:
        metavar = "on|off"
    elif parse is _vector_size:
        metavar = "|".join(_VECTOR_SIZES.words)
    about = {
        "parse": parse,
        "help": help_text,
        "more": more,
        "metavar": metavar,
        "finds_more": finds_more,
        "of_region": of_region and not finds_more,
    }
    return field(default=default, metadata=about)


SHARED_MEMORY, COPY_OUT, ALIGNED_LOADS = "shared-memory", "interleaved-copy-out", "aligned-loads"
OVERLAPPED = "overlapped"
STATIC_REUSE, DYNAMIC_REUSE, FULL_TILES = "static-reuse", "dynamic-reuse", "full-tiles"
_DEVICE_TILES = (SHARED_MEMORY, COPY_OUT, ALIGNED_LOADS, STATIC_REUSE, DYNAMIC_REUSE, FULL_TILES)


@dataclass(frozen=True, slots=True)
class Options:
    """What a user said should be done with the regions of one file; defaults are what a user wants.

    One value, however many fields it has: the command line, CMake's keywords, the keys of pyproject.toml and
    the clauses of pragmas are made from it. What follows from it for one file is in ``polybuild.context``.
    """

    backend: str = _knob(
        "openmp",
        Choice(("openmp", "cuda", "hip", "opencl")),
        "machine to generate code for; a GPU backend holds the openmp version, too",
        more="See [on the GPU](../guide/gpu.md).",
    )
    nvcc: str = _knob(
        "",
        str,
        "the CUDA compiler; empty: the one that is found",
        metavar="PATH",
        more="Looked through are `$NVCC`, `$CUDACXX`, `$CUDA_HOME`, `$CUDA_PATH`, PATH, NVIDIA's Python"
        " packages and `/usr/local/cuda`.",
    )
    cuda_arch: tuple[int, ...] = _knob(
        (80, 90),
        _CAPABILITIES,
        "compute capabilities to build kernels for, 90 for 9.0; newer devices get the oldest one's PTX",
        metavar="N,N,...",
        more="They are of those that `nvcc --list-gpu-arch` prints. Newer devices compile the PTX when the"
        " program starts.",
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
        more="See [scheduling](../how-it-works/scheduling.md).",
    )
    fusion: str = _knob(
        "auto",
        Choice(("auto", "min", "max", "depth")),
        "minimal or maximal fusion, maximal band depth, or what the model prefers",
        more="See [scheduling](../how-it-works/scheduling.md).",
    )
    tile: bool = _knob(True, _boolean, "tile permutable bands")
    tile_sizes: tuple[int, ...] = _knob(
        (),
        _TILE_SIZES,
        "tile sizes, outermost first; empty: from the cache model",
        metavar="N,N,...",
        more="With tiles in registers they are made multiples of those.",
    )
    tile_shape: str = _knob(
        "auto",
        Choice(("auto", "rectangular", "diamond", "diamond-2d", "hexagonal", "split", "hybrid", OVERLAPPED)),
        "shape of the tiles of time-iterated stencils, or what the model prefers",
        metavar="SHAPE",
        more="`auto` takes diamonds where all tiles can start together, for many processors along two"
        " dimensions; `overlapped` is for devices: see [tile shapes](../how-it-works/tile-shapes.md).",
    )
    device_tiles: tuple[str, ...] = _knob(
        (),
        Choices(_DEVICE_TILES),
        "what tiles over time on a device do: words among " + ", ".join(_DEVICE_TILES),
        metavar="WORD,WORD,...",
        more="Each is a step of table 4 of Grosser's thesis:"
        " see [tiles over time](../how-it-works/gpu.md#tiles-over-time).",
    )
    device_launches: str = _knob(
        "each",
        Choice(("each", "graphs", "together")),
        "whether loops of the host launch each kernel, many at once, or are one launch where these are short",
        more="With `graphs` launches that were made before are made again as graphs of CUDA; with `together`"
        " blocks wait for each other between kernels, with CUDA on devices that can do that:"
        " see [launches](../how-it-works/gpu.md#launches).",
    )
    parallel: bool = _knob(True, _boolean, "run coincident loops on several threads")
    simd: bool = _knob(True, _boolean, "mark coincident innermost loops for the vector unit")
    registers: bool = _knob(
        True,
        _boolean,
        "keep blocks of results in vector registers, pack what they need",
        more="Over a whole loop: see [register tiles](../how-it-works/registers.md).",
    )
    vector_size: int = _knob(0, _vector_size, "vector registers in bytes; 0: what the compiler's flags allow")
    allow_reassociation: bool | None = _knob(
        None,
        _boolean,
        "sums, products, minima and maxima of floating-point numbers may be computed in any order; "
        "default: where the compiler's flags let it do so, too",
        more="They do with `-ffast-math`, for one: see [reductions](../how-it-works/reductions.md).",
    )
    contract_arrays: str = _knob(
        "auto",
        Choice(("auto", "on", "scalars", "copies", "off")),
        "keep temporary arrays in small buffers or variables: where it pays, wherever an order allows "
        "buffers, or variables, or those with copies of other arrays, or never",
        more="With `on`, steps over time do without any copies between two grids, for the memory of a third:"
        " see [temporary arrays](../how-it-works/temporaries.md).",
    )
    scalars: int = _knob(
        14,
        _COUNT,
        "maximum number of variables that stand for elements of arrays; 0: none",
        metavar="N",
    )
    temporary: tuple[str, ...] = _knob(
        (),
        _names,
        "arrays of which nothing is needed before or after a region",
        metavar="NAME,...",
        more="That holds whatever polybuild can see of it:"
        " see [temporary arrays](../how-it-works/temporaries.md).",
    )
    min_work: int = _knob(
        1000,
        _WORK,
        "statement instances below which a region runs its original loops; 0: never, and with all threads",
        metavar="N",
    )
    l1_size: int = _knob(
        0,
        _CACHE_SIZE,
        "first-level data cache in bytes; 0: this machine's where the code is for it, else 32768",
        metavar="BYTES",
        more="The code is for this machine with `-march=native` and `-mcpu=native`.",
    )
    l2_size: int = _knob(
        0,
        _CACHE_SIZE,
        "second-level cache in bytes; 0: this machine's where the code is for it, else 1048576",
        metavar="BYTES",
        more="The code is for this machine with `-march=native` and `-mcpu=native`.",
    )
    machine: str = _knob(
        "",
        str,
        "figures of the machine the code is for, as 'polybuild machine' prints them;"
        " measured: those it has measured here",
        metavar="FILE",
        of_region=False,
        more="See [the machine](machine.md).",
    )
    tuning: str = _knob(
        "",
        str,
        "settings that 'polybuild tune' found to be fastest; off: none;"
        " empty: the nearest polybuild.tune.json from the source upwards",
        metavar="FILE",
        of_region=False,
        more="See [tuning](../guide/tuning.md).",
    )
    jobs: int = _knob(
        0,
        Number(0, 1024),
        "regions of a file that are worked on at a time; 0: what the build's job server grants, else one",
        metavar="N",
        of_region=False,
        more="See [how many at a time](cli.md#how-many-at-a-time).",
    )
    block_sizes: tuple[int, ...] = _knob(
        (), _BLOCK_SIZES, "threads of a GPU block along each loop, x last; empty: chosen", metavar="N,N,N"
    )
    grid_sizes: tuple[int, ...] = _knob(
        (),
        _GRID_SIZES,
        "maximum number of GPU blocks along each loop, x last; empty: chosen",
        metavar="N,N,N",
        more="With fewer blocks than tiles a block runs several.",
    )
    autodetect: bool = _knob(
        False,
        _boolean,
        "find loops worth transforming that are not marked",
        finds_more=True,
        more="Those that marks would make parallel, tiled or vectorised. Why others are left alone stands in"
        " the report, and `-v` tells.",
    )
    openmp: str = _knob(
        "keep",
        Choice(("keep", "use")),
        "leave loops alone that OpenMP shares out already, or find those under 'omp parallel', too",
        more="That is for `autodetect`; in marked regions such directives give way in any case. Loops under"
        " `omp parallel for` and whole blocks under `omp parallel` are found. What may run in parallel is"
        " found anew: a directive that promises too much does no harm. Functions with other directives of"
        " OpenMP, or with loops that a caller's threads share, are left alone. With `use`, a clause"
        " `reduction(+ : s)` lets that sum be computed in any order, in marked regions, too.",
    )
    headers: bool = _knob(
        False,
        _boolean,
        "take regions in the headers that a file includes, too",
        finds_more=True,
        more="The headers themselves stay as they are, and their text stands in the result, as often as they"
        " are included. Headers that C++ can read (`__cplusplus`) are left alone. C files that a C file"
        " includes are taken in any case, and so is a file that includes itself.",
    )
    verify: bool = _knob(
        False,
        _boolean,
        "emit code that compares a region with its original where POLYBUILD_VERIFY=1 is set",
        more="See [checking at run time](cli.md#checking-at-run-time).",
    )
    runtime_report: bool = _knob(
        False,
        _boolean,
        "emit code that counts what ran where POLYBUILD_VERBOSE=1 or POLYBUILD_REPORT=FILE is set",
        more="See [what ran](../guide/what-ran.md).",
    )
    distribute: str = _knob(
        "off",
        Choice(("off", "mpi")),
        "share the outermost parallel loops among the ranks of an MPI program, too",
    )
    rank_steps: int = _knob(
        0,
        Number(0, 64),
        "steps over time that ranks take between two exchanges; 0: what the figures of the network say",
        metavar="N",
        more="See [steps between exchanges](../guide/mpi.md#steps-between-exchanges).",
    )
    adapt: bool = _knob(
        False,
        _boolean,
        "emit code that times a region's versions, and keeps the fastest, where POLYBUILD_ADAPT=1 is set",
        more="See [versions that choose themselves](../guide/what-ran.md#versions-that-choose-themselves).",
    )
    paranoid: bool = _knob(
        False,
        _boolean,
        "run the new order of a region for small sizes, too, and compare it with the original one",
        more="That is done besides the proof, and takes seconds.",
    )
    on_unsupported: str = _knob(
        "warn",
        Choice(("warn", "error")),
        "keep a region that is not understood, or fail",
    )
    require: tuple[str, ...] = _knob(
        (),
        Choices(("parallel", "vector", "tiled")),
        "fail for a region that is not so: words among parallel, vector and tiled",
        metavar="WORD,WORD",
        more="`vector` stands for: run by the vector unit.",
    )

    @property
    def wants_order(self) -> bool:
        """Whether the user asks for an order, tiles, or other places for arrays, whatever that brings."""
        automatic = self.schedule == self.fusion == self.tile_shape == "auto"
        return bool(self.tile_sizes) or not automatic or self.contract_arrays not in {"auto", "off"}

    @classmethod
    def finding_more(cls) -> tuple[str, ...]:
        """The options that may make regions of what is not marked in the file itself."""
        return tuple(each.name for each in dataclasses.fields(cls) if each.metadata["finds_more"])

    @classmethod
    def words(cls) -> dict[str, tuple[str, ...]]:
        """The words that options take, by the names of those that take no others."""
        found = {each.name: each.metadata["parse"] for each in dataclasses.fields(cls)}
        special = {_boolean: ("on", "off"), _vector_size: _VECTOR_SIZES.words}
        return {
            name: parse.words if isinstance(parse, Choice) else special[parse]
            for name, parse in found.items()
            if isinstance(parse, Choice) or parse in special
        }

    @classmethod
    def numbers(cls) -> dict[str, tuple[int, int, int]]:
        """The least and the greatest whole number that options take and how many of them, by name."""
        found: dict[str, tuple[int, int, int]] = {}
        for each in dataclasses.fields(cls):
            parse = each.metadata["parse"]
            if isinstance(parse, Number):
                found[each.name] = (parse.minimum, parse.maximum, 1)
            elif isinstance(parse, Numbers):
                found[each.name] = (parse.minimum, parse.maximum, parse.length)
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
        for each in dataclasses.fields(self):
            if each.name in settings and not each.metadata["of_region"]:
                raise UsageError(f"'{each.name}' is not for single regions; give it to the command")
        return self.with_settings(settings)
