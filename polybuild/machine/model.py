"""A machine: every figure of hardware that a decision may use, in one value.

Each field says its unit and its meaning: files of machines, ``polybuild machine`` and the reference in the
documentation are made from that.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from enum import Enum
from types import MappingProxyType
from typing import Any

from polybuild.values import dataclass


class Origin(Enum):
    """Where a figure of the machine comes from."""

    OPTION = "an option"
    FILE = "the file of the machine"
    COMPILER = "the compiler's flags"
    HOST = "this machine"
    MEASURED = "measured"
    ASSUMED = "assumed"


class Unit(Enum):
    """What a figure counts."""

    BYTES = "bytes"
    COUNT = "count"
    NANOSECONDS = "ns"
    GIGABYTES_PER_SECOND = "GB/s"  # bytes a nanosecond
    GIGAFLOPS = "GFLOP/s"  # operations a nanosecond
    RATIO = "times"


def _figure(default: float, unit: Unit, meaning: str) -> Any:
    return field(default=default, metadata={"unit": unit, "meaning": meaning})


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vector unit of a core."""

    bytes: int = _figure(16, Unit.BYTES, "a vector register")
    registers: int = _figure(16, Unit.COUNT, "vector registers")
    rows: int = _figure(16, Unit.BYTES, "a vector for rows in a cache, where compilers take no longer one")
    gather: float = _figure(0.6, Unit.NANOSECONDS, "to gather one element of a vector from the first cache")
    scatter: float = _figure(0.8, Unit.NANOSECONDS, "to store one element of a vector apart from the others")
    divide: float = _figure(0.7, Unit.NANOSECONDS, "to divide one double of a vector")
    root: float = _figure(1.0, Unit.NANOSECONDS, "to take the square root of one double of a vector")
    gain: float = _figure(8.0, Unit.RATIO, "work of a usual loop in vectors over that on single numbers")
    adjacent: float = _figure(0.25, Unit.RATIO, "time of an access to neighbours over one to a single number")
    near: float = _figure(0.6, Unit.RATIO, "the same where small elements are sorted out of whole vectors")
    strided: float = _figure(1.5, Unit.RATIO, "the same where elements lie apart")
    sorted_bytes: int = _figure(4, Unit.BYTES, "how far elements lie apart, at most, to be sorted out")


SEPARATE = 2
"""Operations of a sum with a product where they are not fused."""

RECIPROCAL = 2
"""Operations of a division of integers by a constant: compilers multiply by its reciprocal."""


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """What a core takes for operations on single numbers that do not wait for each other."""

    operation: float = _figure(0.15, Unit.NANOSECONDS, "to add or multiply numbers")
    fused: int = _figure(
        SEPARATE, Unit.COUNT, "operations that a sum with a product of floating-point numbers is"
    )
    latency: float = _figure(
        1.2, Unit.NANOSECONDS, "until a product of doubles, or a sum fused with one, can be used"
    )
    sum_latency: float = _figure(1.2, Unit.NANOSECONDS, "until a sum of doubles can be used")
    step: float = _figure(0.3, Unit.NANOSECONDS, "until the result of an operation on integers can be used")
    forward: float = _figure(1.8, Unit.NANOSECONDS, "until a number that was stored is loaded again")
    window: int = _figure(256, Unit.COUNT, "operations that may wait while later ones start")
    ahead: int = _figure(12, Unit.COUNT, "iterations of a loop, at most, that begin before others end")
    foreseen: int = _figure(64, Unit.COUNT, "iterations of loops, at most, whose ends the processor foresees")
    access: float = _figure(0.25, Unit.NANOSECONDS, "to load or store a number in the first cache")
    divide: float = _figure(1.5, Unit.NANOSECONDS, "to divide doubles")
    root: float = _figure(2.0, Unit.NANOSECONDS, "to take the square root of a double")
    chain: int = _figure(4, Unit.COUNT, "operations that begin before the result of the first is there")
    call: float = _figure(12.0, Unit.NANOSECONDS, "to call a function of the mathematical library")
    loop: int = _figure(2, Unit.COUNT, "operations of a loop's own in each iteration")
    vector_loop: int = _figure(16, Unit.COUNT, "operations around a loop that a compiler runs in lanes")
    guard: int = _figure(4, Unit.COUNT, "operations that let a lane out of an access, without masks")


@dataclass(frozen=True, slots=True)
class CacheLevel:
    """One level of caches for data."""

    bytes: int = _figure(0, Unit.BYTES, "its size")
    bandwidth: float = _figure(0, Unit.GIGABYTES_PER_SECOND, "what one core reads from it")
    ways: int = _figure(8, Unit.COUNT, "lines that it keeps whose addresses differ by any power of two")


@dataclass(frozen=True, slots=True)
class Memory:
    """What lies beyond the caches."""

    line: int = _figure(64, Unit.BYTES, "what is moved at once")
    streams: int = _figure(8, Unit.COUNT, "rows that prefetchers follow at once")
    tracked: int = _figure(32, Unit.COUNT, "rows that prefetchers follow while loops come to each by turns")
    ahead: int = _figure(256, Unit.BYTES, "how far ahead of many rows lines are asked for")
    page: int = _figure(4096, Unit.BYTES, "what addresses are translated for at once")
    bandwidth: float = _figure(12.0, Unit.GIGABYTES_PER_SECOND, "what one core reads from it")
    all_cores: float = _figure(24.0, Unit.GIGABYTES_PER_SECOND, "what all cores read from it together")
    pages: int = _figure(1536, Unit.COUNT, "pages of which a core keeps the translation")
    page_miss: float = _figure(8.0, Unit.NANOSECONDS, "to translate the address of another page")
    conflict: float = _figure(5.0, Unit.NANOSECONDS, "to bring a line back that others of its set drove out")
    kept: float = _figure(0.5, Unit.RATIO, "data in a cache that stay there for certain, over its size")


@dataclass(frozen=True, slots=True)
class Threads:
    """What runs side by side."""

    processors: int = _figure(4, Unit.COUNT, "threads that run at once")
    cores: int = _figure(4, Unit.COUNT, "cores that they run on")
    sibling_gain: float = _figure(1.2, Unit.RATIO, "work of a core with all its threads over that with one")
    start: float = _figure(4000.0, Unit.NANOSECONDS, "to start and end a parallel loop on all of them")
    enter: float = _figure(300.0, Unit.NANOSECONDS, "to start and end a parallel loop on one thread")
    transfer: float = _figure(60.0, Unit.NANOSECONDS, "until a line comes from the core that wrote it")
    barrier: float = _figure(1000.0, Unit.NANOSECONDS, "for all of them to wait for each other")
    work: float = _figure(5.0, Unit.RATIO, "work of a parallel loop over the time to start it, at least")
    front_work: float = _figure(5.0, Unit.RATIO, "the same of a wavefront, over that of other loops")
    nested_work: float = _figure(
        10.0, Unit.RATIO, "the same of one in a sequential loop, over that of others"
    )
    front_share: float = _figure(0.75, Unit.RATIO, "of the threads that work where loops run as wavefronts")
    tiles: int = _figure(16, Unit.COUNT, "tiles that are enough for many threads")
    stack: int = _figure(256 * 1024, Unit.BYTES, "of a thread's stack that buffers may take")


@dataclass(frozen=True, slots=True)
class TileFigures:
    """How large tiles are that pay, where that follows from more than one figure."""

    block_rows: int = _figure(8, Unit.COUNT, "rows of a block of results in vector registers, at most")
    block_vectors: int = _figure(2, Unit.COUNT, "vectors in each of its rows")
    block_updates: int = _figure(512, Unit.COUNT, "updates of such a block one after the other, at most")
    height: int = _figure(128, Unit.COUNT, "rows of a tile of such blocks, at most")
    width: int = _figure(256, Unit.COUNT, "columns of a tile of such blocks")
    spill: float = _figure(9.0, Unit.RATIO, "what a tile over time and space may touch over the second cache")


@dataclass(frozen=True, slots=True)
class Device:
    """A device of a compute centre beside its host, in magnitudes: devices differ by factors."""

    launch: float = _figure(3000.0, Unit.NANOSECONDS, "to launch a kernel")
    meeting: float = _figure(300.0, Unit.NANOSECONDS, "for the threads of a block to wait for each other")
    latency: float = _figure(350.0, Unit.NANOSECONDS, "until operands come from its cache")
    bandwidth: float = _figure(4000.0, Unit.GIGABYTES_PER_SECOND, "what it reads from its memory")
    single: float = _figure(60_000.0, Unit.GIGAFLOPS, "its sums and products of floats, at most")
    cache: int = _figure(50 * 1024 * 1024, Unit.BYTES, "its cache")
    threads: int = _figure(132 * 2048, Unit.COUNT, "threads that run at once")
    overflow: float = _figure(8.0, Unit.RATIO, "grids of unknown extents over its cache")
    instance: float = _figure(0.0001, Unit.NANOSECONDS, "the loop around a statement, once, on all threads")
    alone: float = _figure(50.0, Unit.NANOSECONDS, "a statement once, where one thread runs it alone")
    host: float = _figure(2.0, Unit.NANOSECONDS, "a statement once on one thread of the host")
    work: int = _figure(10_000, Unit.COUNT, "statements that a launch is worth where no values are there yet")


@dataclass(frozen=True, slots=True)
class Multiprocessor:
    """One of the multiprocessors of a device, as most have them since 2016."""

    count: int = _figure(132, Unit.COUNT, "multiprocessors of the device")
    registers: int = _figure(65536, Unit.COUNT, "its registers of 32 bits")
    threads: int = _figure(512, Unit.COUNT, "threads that are enough to hide how long operations take")
    addresses: int = _figure(38, Unit.COUNT, "registers of a thread for counters and addresses")
    of_thread: int = _figure(255, Unit.COUNT, "registers that a thread may have")
    granularity: int = _figure(8, Unit.COUNT, "registers that a thread gets at once")
    schedulers: int = _figure(4, Unit.COUNT, "its parts, each with its own warps and registers")
    warp: int = _figure(32, Unit.COUNT, "threads of a warp")
    vector: int = _figure(16, Unit.BYTES, "what a thread reads from shared memory at once")
    line: int = _figure(128, Unit.BYTES, "what the threads of a warp read of memory at once")
    sector: int = _figure(32, Unit.BYTES, "the least that is read of memory")
    latency: float = _figure(225.0, Unit.NANOSECONDS, "until a point's operands come from shared memory")


@dataclass(frozen=True, slots=True)
class Residency:
    """What a multiprocessor holds at once, beside its registers."""

    threads: int = _figure(2048, Unit.COUNT, "threads that a multiprocessor holds")
    blocks: int = _figure(32, Unit.COUNT, "blocks that it holds")
    shared: int = _figure(228 * 1024, Unit.BYTES, "its shared memory")
    system: int = _figure(1024, Unit.BYTES, "of that, what the system takes for a block")


@dataclass(frozen=True, slots=True)
class Throughput:
    """What the multiprocessors of a device do together, where blocks keep them busy.

    Fitted to what an H200 took for products, sums and stencils (``benchmarks/results``, gpu-products-h200,
    gpu-accumulations and gpu-stencil-times).
    """

    double: float = _figure(34_000.0, Unit.GIGAFLOPS, "sums and products of doubles, at most")
    matrix: float = _figure(33_000.0, Unit.GIGAFLOPS, "the same by instructions for matrices")
    vectors: int = _figure(2270, Unit.COUNT, "vectors that threads read from shared memory in a nanosecond")
    sectors: int = _figure(900, Unit.COUNT, "sectors that warps access in a nanosecond, in caches")
    special: int = _figure(2000, Unit.COUNT, "divisions, roots and calls of functions in a nanosecond")
    wave: float = _figure(0.3, Unit.RATIO, "time of one block alone over that of all that are held at once")


@dataclass(frozen=True, slots=True)
class CooperativeLaunch:
    """What it takes to run the kernels of a loop in one launch."""

    meeting: float = _figure(1500.0, Unit.NANOSECONDS, "for all blocks of a device to wait for each other")
    fixed: float = _figure(
        0.05, Unit.RATIO, "time lost where blocks have their tiles from the start, over all"
    )


@dataclass(frozen=True, slots=True)
class Interconnect:
    """What it takes to get to a device and back."""

    start: float = _figure(5000.0, Unit.NANOSECONDS, "to begin and end a region on a device")
    copy: float = _figure(10000.0, Unit.NANOSECONDS, "to begin and end the copy of an array")
    bandwidth: float = _figure(10.0, Unit.GIGABYTES_PER_SECOND, "what is copied between host and device")


@dataclass(frozen=True, slots=True)
class Network:
    """What it takes ranks to send each other values (LogGP: Alexandrov, Ionescu, Schauser, Scheiman 1995)."""

    latency: float = _figure(1500.0, Unit.NANOSECONDS, "a message is on its way")
    overhead: float = _figure(400.0, Unit.NANOSECONDS, "a rank is busy with sending or receiving a message")
    gap: float = _figure(400.0, Unit.NANOSECONDS, "between two messages of a rank, at least")
    bandwidth: float = _figure(10.0, Unit.GIGABYTES_PER_SECOND, "what a rank sends")


@dataclass(frozen=True, slots=True)
class Machine:
    """The hardware that code is generated for; the defaults are those of a usual one.

    ``origins`` says where figures come from that are not assumed, by their paths (``l2.bytes``).
    """

    vector: Vectors = Vectors()
    arithmetic: Arithmetic = Arithmetic()
    l1: CacheLevel = CacheLevel(32 * 1024, 100.0)
    l2: CacheLevel = CacheLevel(1024 * 1024, 40.0)
    l3: CacheLevel = CacheLevel(16 * 1024 * 1024, 15.0)
    memory: Memory = Memory()
    threads: Threads = Threads()
    tiles: TileFigures = TileFigures()
    device: Device = Device()
    multiprocessor: Multiprocessor = Multiprocessor()
    residency: Residency = Residency()
    throughput: Throughput = Throughput()
    cooperative: CooperativeLaunch = CooperativeLaunch()
    interconnect: Interconnect = Interconnect()
    network: Network = Network()
    origins: Mapping[str, Origin] = field(default_factory=lambda: MappingProxyType({}), hash=False)

    def with_figures(self, figures: Mapping[str, float], origin: Origin) -> Machine:
        """The machine with ``figures``, by their paths, all from ``origin``.

        Registers of 64 bytes come in a file of 32 (AVX-512), others of 16 at least: that follows from their
        size unless it is given. Raises LookupError for a figure that there is none of.
        """
        if not figures:
            return self
        given, known = dict(figures), {each.path: each for each in self.figures()}
        if "vector.bytes" in given:
            given.setdefault("vector.registers", 32 if given["vector.bytes"] >= _WIDE_VECTOR else 16)
        machine = self
        for path, value in given.items():
            group, _, name = path.partition(".")
            number = round(value) if known[path].is_whole else float(value)
            changed = replace(getattr(machine, group), **{name: number})
            machine = replace(machine, **{group: changed})
        origins = MappingProxyType({**self.origins, **dict.fromkeys(given, origin)})
        return replace(machine, origins=origins)

    def figures(self) -> Iterator[Figure]:
        """All figures, group by group."""
        for group in dataclasses.fields(self):
            values = getattr(self, group.name)
            if not dataclasses.is_dataclass(values):
                continue
            for each in dataclasses.fields(values):
                path = f"{group.name}.{each.name}"
                origin = self.origins.get(path, Origin.ASSUMED)
                about = each.metadata
                yield Figure(path, getattr(values, each.name), about["unit"], about["meaning"], origin)


# The size of AVX-512's registers, in bytes.
_WIDE_VECTOR = 64

DOUBLE = 8
"""Bytes of a double: rows that fill lines and pages are counted in them."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a machine: its path (``l2.bytes``), value, unit, meaning and origin."""

    path: str
    value: float
    unit: Unit
    meaning: str
    origin: Origin

    @property
    def is_whole(self) -> bool:
        """Whether it is a whole number, of bytes or of things."""
        return self.unit in {Unit.BYTES, Unit.COUNT}
