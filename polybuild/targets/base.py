"""What is asked of a machine to generate code for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from polybuild.diagnostics import PolybuildError
from polybuild.machine.model import Machine
from polybuild.targets.instructions import CopyStages, MatrixInstruction
from polybuild.targets.kernel_file import KernelFile
from polybuild.targets.languages import KernelLanguage
from polybuild.values import dataclass

if TYPE_CHECKING:
    from polybuild.analysis.dependences import Dependences
    from polybuild.analysis.reductions import Reduction
    from polybuild.context import CompileContext
    from polybuild.options import Options
    from polybuild.scop.model import Array, Scop
    from polybuild.targets.device import DevicePlan, InspectedRange


class ImageError(PolybuildError):
    """The kernels could not be compiled; the message is the compiler's."""


@dataclass(frozen=True, slots=True)
class KernelImage:
    """Kernels as machine code, and what each of them needs, in words, by its name."""

    data: bytes = b""
    needs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProductShapes:
    """What products choose among: threads of a block and points of a thread along the last two mapped loops.

    ``steps`` are those of the sequential loops that a block copies at once. Loops outside of two others run
    over products of small matrices: then threads have points as in ``batched``. So many ``threads`` of a
    multiprocessor are enough, as each has several points. Those of a ``warp`` lie along both loops, so that
    they read little of either operand. They may compute products of doubles by ``matrix`` instructions if
    there is one.
    """

    blocks: tuple[tuple[int, int], ...] = ((8, 16), (16, 16), (8, 8))
    points: tuple[tuple[int, int], ...] = ((8, 8), (8, 4), (4, 8), (4, 4), (2, 4), (2, 2))
    batched: tuple[tuple[int, int], ...] = ((4, 4), (2, 4), (2, 2))
    steps: tuple[int, ...] = (16, 8, 4)
    threads: int = 256
    warp: tuple[int, int] = (4, 8)
    matrix: MatrixInstruction | None = None


@dataclass(frozen=True, slots=True)
class WarpShapes:
    """Where threads of a warp share a row, by the number of loops, or run through its ``parts`` of a loop.

    Each works on one point: tiles and blocks are the same.
    """

    rows: tuple[tuple[int, ...], ...] = ((128,), (8, 32), (4, 4, 32))
    parts: tuple[int, int] = (4, 32)
    part_grid: tuple[int, int] = (32768, 256)


@dataclass(frozen=True, slots=True)
class TimeTileShapes:
    """Tiles over time, by the dimensions of space: iterations of the loops over time and space.

    The ``tiles`` are for values in memory. Where strips keep boxes in shared memory the first of the sizes in
    ``shared`` are taken that have room there. Where tiles overlap, those in ``overlapped`` are priced. Blocks
    have so many threads along space as ``blocks`` says, where tiles overlap one of ``more_threads`` times as
    many. On small grids tiles may have a part of each size, divided by one of ``parts``; they are no narrower
    than ``narrowest`` along the last loop. What is more intricate is taken if it takes ``gain`` of the time
    of simpler tiles, or of kernels, at most.
    """

    tiles: tuple[tuple[int, ...], ...] = ((32, 512), (16, 32, 256), (8, 16, 16, 128))
    shared: tuple[tuple[tuple[int, ...], ...], ...] = (
        ((32, 512), (16, 256), (8, 128)),
        ((16, 32, 256), (16, 32, 128), (16, 32, 64), (8, 16, 64), (8, 16, 32)),
        ((8, 16, 16, 128), (6, 12, 8, 64), (6, 12, 8, 32), (4, 8, 8, 32), (4, 4, 4, 32)),
    )
    overlapped: tuple[tuple[tuple[int, ...], ...], ...] = (
        ((16, 512), (8, 256), (4, 128)),
        ((4, 32, 64), (4, 16, 64), (4, 16, 32), (2, 16, 32), (2, 8, 32)),
        ((4, 8, 8, 32), (2, 8, 8, 32), (2, 4, 8, 32), (2, 4, 4, 32)),
    )
    blocks: tuple[tuple[int, ...], ...] = ((256,), (4, 128), (2, 4, 64))
    more_threads: tuple[int, ...] = (1, 2, 4)
    parts: tuple[int, ...] = (1, 2, 4, 8)
    narrowest: int = 32
    gain: float = 0.8


@dataclass(frozen=True, slots=True)
class BlockShapes:
    """Grids, blocks and tiles that suit a device, for one, two and three loops of threads, x last.

    ``grids`` has the blocks, what has more tiles wraps around. Where the band has a sequential loop, too,
    and no access is of another element each time, values are reused and a thread works on several points:
    tiles are ``reusing_tiles`` by ``sequential_tiles``, blocks ``reusing_blocks``. Elsewhere tiles are
    ``streaming_tiles`` and blocks ``streaming_blocks``: a thread walks along the first loop, one address
    after the other. What is for warps has shapes of ``warps``: no more threads than a row has parts, and
    several blocks for each multiprocessor. Those of tiles ``over_time`` are apart. A kernel that counts
    has ``counting_blocks`` at most, some for each multiprocessor: each adds up counts of its own.
    """

    grids: tuple[tuple[int, ...], ...] = ((32768,), (256, 256), (64, 64, 64))
    streaming_tiles: tuple[tuple[int, ...], ...] = ((128,), (16, 128), (16, 4, 32))
    streaming_blocks: tuple[tuple[int, ...], ...] = ((128,), (1, 128), (1, 4, 32))
    warps: WarpShapes = WarpShapes()
    reusing_tiles: tuple[tuple[int, ...], ...] = ((64,), (64, 64), (4, 4, 32))
    reusing_blocks: tuple[tuple[int, ...], ...] = ((64,), (16, 16), (4, 4, 32))
    sequential_tiles: tuple[int, ...] = (32, 16, 16)
    products: ProductShapes = ProductShapes()
    over_time: TimeTileShapes = TimeTileShapes()
    counting_blocks: int = 1024


@dataclass(frozen=True, slots=True)
class ReductionParts:
    """In how many parts the threads of a device accumulate, and how many terms are too ``few`` for that.

    One accumulator has parts ``of_one`` along the first and the last loop of its terms, enough for all
    threads; each accumulator of a parallel loop has ``of_row``, for those of a warp. ``combined`` says how
    many parts become one, ``few_of_row`` how many terms are too few for a warp that takes a row. Of an array
    of unknown extents whose elements data choose, blocks accumulate the first ``of_block`` in copies of their
    own. Where there are no atomic operations for such elements, they have between the two numbers
    ``of_scattered`` of parts: as many as keep about ``usual`` elements, and ``kept`` at most.
    """

    of_one: tuple[int, int] = (512, 256)
    of_row: int = 32
    combined: int = 32
    few: int = 2048
    few_of_row: int = 64
    of_block: int = 1024
    of_scattered: tuple[int, int] = (16384, 1024)
    usual: int = 1 << 22
    kept: int = 1 << 28


@dataclass(frozen=True, slots=True)
class DeviceLimits:
    """What a kernel may use on every device of a target, and the shapes that suit these.

    ``block_threads`` is the maximum number of threads in a block, ``shared_bytes`` the memory that these
    share, ``thread_registers`` how many elements of an array a thread may keep in registers,
    ``stages`` how copies go to tiles of shared memory while others are used,
    ``private_elements`` how many in memory of its own, ``axes`` how many dimensions a grid has,
    ``outer_blocks`` the maximum number of blocks along each axis of it but x. A loop of ``long_trips``
    iterations has some for each thread of a warp. What work takes on the device, and what runs at once, the
    ``machine`` knows; where the compiler ``contracts`` sums with products they are one operation.
    """

    block_threads: int = 1024
    shared_bytes: int = 48 * 1024
    thread_registers: int = 64
    stages: CopyStages = CopyStages()
    private_elements: int = 64
    axes: int = 3
    outer_blocks: int = 65535
    long_trips: int = 32
    shapes: BlockShapes = BlockShapes()
    parts: ReductionParts = ReductionParts()
    machine: Machine = Machine()
    contracts: bool = False


@dataclass(frozen=True, slots=True)
class PortableLimits(DeviceLimits):
    """Those of OpenCL, whose devices are of all vendors: it promises this memory for a block, but no threads.

    The defaults above are what CUDA promises, and AMD's devices have with HIP.
    """

    block_threads: int = 256
    shared_bytes: int = 32 * 1024


@dataclass(frozen=True, slots=True)
class Target:
    """A machine: ``name`` is what ``Options.backend`` calls it, ``title`` what people do.

    Regions are mapped on the cores of the host for every target (see ``targets.cpu``), as a device may be
    missing when the program runs. A target with kernels maps them on its device, too, and answers how
    these are spelled (``language``), what they may use (``limits``) and how they are compiled. This class
    answers for those without.
    """

    name: str
    title: str
    language: KernelLanguage | None = None
    limits: DeviceLimits | None = None

    @property
    def has_kernels(self) -> bool:
        """Whether regions may run on a device."""
        return self.language is not None

    def plan(
        self,
        scop: Scop,
        dependences: Dependences,
        context: CompileContext,
        live_out: frozenset[str] | None,
        temporaries: Sequence[Array],
    ) -> DevicePlan:
        """How the iterations of ``scop`` are mapped on the device.

        ``live_out`` names variables that are read after it; None: all may be, even of ``temporaries``. Of
        these the threads keep what they can. Raises Unsupported if it cannot run there.
        """
        raise NotImplementedError(f"{self.title} has no kernels")

    def plan_overlapped(
        self,
        scop: Scop,  # noqa: ARG002 - an answer for those that have none
        dependences: Dependences,  # noqa: ARG002
        context: CompileContext,  # noqa: ARG002
        live_out: frozenset[str],  # noqa: ARG002
    ) -> tuple[Scop, DevicePlan]:
        """The plan of steps of a stencil in tiles that overlap, and the model that it is of.

        ``live_out`` is as above. Raises ValueError, with the reason, where there is none.
        """
        raise ValueError(f"{self.title} has none")

    def overlaps_steps(
        self,
        scop: Scop,  # noqa: ARG002 - an answer for those that have none
        dependences: Dependences,  # noqa: ARG002
        context: CompileContext,  # noqa: ARG002
    ) -> tuple[bool, str]:
        """Whether steps of a stencil should be in tiles that overlap, where nothing is asked for, and why.

        The reason is empty for what is no such stencil.
        """
        return False, ""

    def in_parts(
        self,
        scop: Scop,
        dependences: Dependences,  # noqa: ARG002 - an answer for those that have none
        reductions: Sequence[Reduction],  # noqa: ARG002
    ) -> tuple[Scop, tuple[InspectedRange, ...]]:
        """``scop`` with ``reductions``, which may be taken out of their order, in parts for many threads.

        Then what has to be looked at to know how many elements parts have.
        """
        return scop, ()

    def share_rows(
        self,
        scop: Scop,
        dependences: Dependences,  # noqa: ARG002 - an answer for those that have none
        reductions: Sequence[Reduction],  # noqa: ARG002
    ) -> tuple[Scop, tuple[Reduction, ...]]:
        """``scop`` with those of ``reductions`` in lanes whose rows several threads take, and these."""
        return scop, ()

    def needs_compiler(self) -> bool:
        """Whether kernels are compiled when the program is built."""
        return False

    def compiler(self, options: Options) -> str | None:  # noqa: ARG002 - an answer for those that have none
        """The path of the compiler of kernels; None if it is not found, or not needed."""
        return None

    def source_options(self, context: CompileContext) -> str:  # noqa: ARG002
        """The option with which the device's driver compiles the source of kernels; empty: none."""
        return ""

    def compile_kernels(self, file: KernelFile, context: CompileContext) -> KernelImage:  # noqa: ARG002
        """The kernels of ``file`` as machine code; empty where the device's driver compiles them.

        Raises ImageError.
        """
        return KernelImage()
