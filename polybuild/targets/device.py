"""The plan for a device: its kernels, what each keeps in its memories, and what goes there and back.

These are the values that a target with kernels hands to code generation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from enum import Enum

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.inspectors import Inspector
from polybuild.analysis.reductions import Reduction
from polybuild.c.basic_types import INT
from polybuild.c.types import FloatingType
from polybuild.poly.marks import Mark, MarkKind
from polybuild.scop.model import Access, AccessKind, Array, Statement
from polybuild.storage.buffers import Buffer
from polybuild.targets.instructions import MatrixInstruction
from polybuild.values import dataclass

SERIAL = "device-serial"
"""The code of what is refused because one thread would do most of it alone."""

STEP_BY_STEP = "each step has kernels of its own"
"""What is said of a stencil without tiles over time."""


class LargeTiles(ValueError):
    """Tiles of sizes that were asked for have no room."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One dimension of the grid or of a block: the isl parameter that is its index, and how many there are.

    Iteration ``i`` of the loop that is mapped to it runs at index ``floor(i / run) mod size``: ``run``
    iterations side by side are one thread's.
    """

    parameter: str
    size: int
    run: int = 1

    @property
    def turn(self) -> int:
        """The iterations until the first index comes again."""
        return self.size * self.run


@dataclass(frozen=True, slots=True)
class MatrixOperand:
    """An operand of a product: its subscripts ``own`` and ``terms`` follow two loops, one by one."""

    access: Access
    own: int
    terms: int


@dataclass(frozen=True, slots=True)
class MatrixProduct:
    """What matrix instructions compute: ``statement`` adds products of ``left`` and ``right``, or subtracts.

    The loops that ``left`` follows are those of the rows of the result and of the terms of its sums, for
    ``right`` its columns and the terms. The ``others`` are factors that stay the same.
    """

    statement: Statement
    left: MatrixOperand
    right: MatrixOperand
    instruction: MatrixInstruction
    others: tuple[c_ast.Node, ...] = ()
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Kernel:
    """The kernel of number ``index``; ``blocks`` and ``threads`` are outermost first, x last.

    ``tile`` has the sizes of all members of its band; the first ``len(blocks)``
    members are mapped to the grid and, of their points, to the threads. Both are
    empty for a serial kernel. One ``in_steps`` runs a phase of tiles over time: the threads of a
    block meet before each step, and values pass between them from step to step. It has no ``tile``,
    and may have fewer loops on blocks than on threads. The threads of a ``warp`` lie
    along the last two loops so, or one after the other along x. Warps compute a ``product`` by instructions.
    So many blocks should be ``resident`` on a multiprocessor at once, or as many as are.
    """

    index: int
    blocks: tuple[Axis, ...] = ()
    threads: tuple[Axis, ...] = ()
    tile: tuple[int, ...] = ()
    in_steps: bool = False
    warp: tuple[int, int] | None = None
    product: MatrixProduct | None = None
    resident: int = 0

    def mark(self, kind: MarkKind = MarkKind.KERNEL) -> Mark:
        """The mark of ``kind`` that the tree of this kernel has."""
        return Mark(kind, self.index)

    @property
    def is_serial(self) -> bool:
        """Whether one thread runs it all."""
        return not self.blocks

    @property
    def has_sums(self) -> bool:
        """Whether it has tiles along sequential loops, whose results may be in registers."""
        return not self.in_steps and len(self.tile) > len(self.blocks) > 0

    @property
    def axes(self) -> tuple[Axis, ...]:
        """All dimensions of the grid and of its blocks."""
        return self.blocks + self.threads


@dataclass(frozen=True, slots=True)
class Box:
    """``sizes`` elements per dimension from ``offset`` on, affine functions ``{ [d0, ..., dn] -> [x] }``."""

    offset: tuple[isl.Aff, ...]
    sizes: tuple[int, ...]

    @property
    def elements(self) -> int:
        """How many elements it has."""
        count = 1
        for size in self.sizes:
            count *= size
        return count


@dataclass(frozen=True, slots=True)
class KernelAccess:
    """An access of a statement of the kernel."""

    statement: Statement
    access: Access


@dataclass(frozen=True, slots=True)
class SharedTile:
    """A box of ``array`` that the block copies to shared memory, for the first ``depth`` loops.

    ``loops`` gives these loops for each statement, ``{ S[i] -> [d0, ..., dn] }``. The dimensions of the
    box are kept in the ``order`` in which they lie there, outermost first. ``row`` is the size of the last of
    them, with more where threads would meet in one bank, or so that rows begin where the runs of a thread do.
    One in two ``stages`` is there twice, for even and odd values of the last loop: while one is used the
    other is filled for the next value. A thread finds ``run`` elements side by side there. Along the first
    dimension of a ``ring`` an element has the place that its subscript leaves divided by the second.
    """

    name: str
    array: Array
    references: tuple[KernelAccess, ...]
    depth: int
    loops: Mapping[str, isl.PwMultiAff]
    box: Box
    order: tuple[int, ...]
    row: int
    inner: bool
    run: int = 1
    stages: int = 1
    ring: tuple[int, int] | None = None

    @property
    def vector(self) -> int:
        """How many elements side by side are copied at once, of a type of which devices have vectors."""
        kind = self.array.element
        plain = isinstance(kind, FloatingType) or kind == INT
        return math.gcd(self.run, self.box.sizes[-1]) if plain else 1

    @property
    def lies_alike(self) -> bool:
        """Whether the elements of a vector lie side by side in shared memory, too."""
        return self.order[-1] == len(self.order) - 1

    @property
    def extents(self) -> tuple[int, ...]:
        """The extents of the array in shared memory."""
        stages = (self.stages,) if self.stages > 1 else ()
        sizes = list(self.box.sizes)
        if self.ring is not None:
            sizes[self.ring[0]] = self.ring[1]
        return (*stages, *(sizes[dim] for dim in self.order[:-1]), self.row)


@dataclass(frozen=True, slots=True)
class ThreadTile:
    """The elements of ``array`` that belong to the points of one thread in a tile.

    ``sizes`` has how many points the thread has along each mapped loop, ``threads``
    how many threads there are, and ``points`` for each statement the turns of the threads and
    the values of these loops, ``{ S[i] -> [s0, ..., p0, ...] }``; ``loops`` as for a shared tile. Of a tile
    with a ``reduction`` each thread along x has a part, which begins with what changes nothing: they are
    combined in the end.
    """

    name: str
    array: Array
    references: tuple[KernelAccess, ...]
    depth: int
    loops: Mapping[str, isl.PwMultiAff]
    sizes: tuple[int, ...]
    threads: tuple[Axis, ...]
    points: Mapping[str, isl.PwMultiAff]
    reduction: Reduction | None = None

    @property
    def loads(self) -> bool:
        """Whether the old values may be needed."""
        return any(each.access.kind is not AccessKind.WRITE for each in self.references)

    @property
    def stores(self) -> bool:
        """Whether the values change."""
        return any(each.access.kind is not AccessKind.READ for each in self.references)


Tile = SharedTile | ThreadTile


@dataclass(frozen=True, slots=True)
class BlockCopy:
    """What a block counts in shared memory: ``size`` elements of ``array`` from the subscript ``first`` on.

    They begin with what ``operator`` leaves as it is; in the end each that has changed is combined with its
    element. If the copy is not ``whole``, other elements are updated as well, where they are.
    """

    array: Array
    operator: str
    first: int
    size: int
    whole: bool = True


class Purpose(Enum):
    """What an added statement does; all threads of a block come to ``COMBINE`` and to ``BARRIER``."""

    COPY = "copy"
    MOVE = "move"
    FETCH = "fetch"
    PUT = "put"
    LOAD = "load"
    STORE = "store"
    BEGIN = "begin"
    COMBINE = "combine"
    BARRIER = "barrier"


MEETINGS = (Purpose.COMBINE, Purpose.BARRIER)
"""What no thread of a block may miss."""


@dataclass(frozen=True, slots=True)
class StagedCopy:
    """A copy in two halves: a thread fetches vectors of a box into registers, and puts them later.

    Those ``wanted`` are copied, ``{ [d0, ..., dn, x0, ...] }``, others in the box become zero; for loops in
    ``whole`` all of the box is wanted. ``threads`` share it, outermost first. What is fetched by an
    ``asynchronous`` copy goes to its place on its own, and to put it is to wait for that.
    """

    wanted: isl.Set
    whole: isl.Set
    threads: tuple[Axis, ...]
    asynchronous: bool = False


@dataclass(frozen=True, slots=True)
class AddedStatement:
    """A statement that is no instance of the region's.

    ``depth`` is the number of loops above it. ``element`` gives, for an instance of a load or a store, or of
    what serves a strip, the element that registers or shared memory hold a copy of, ``staged`` what is
    fetched or put. It is done for instances in ``only``, if there is one.
    """

    name: str
    purpose: Purpose
    depth: int
    tile: SharedTile | ThreadTile | None = None
    element: isl.PwMultiAff | None = None
    staged: StagedCopy | None = None
    only: isl.Set | None = None


@dataclass(frozen=True, slots=True)
class FullTiles:
    """The full ``tiles`` of a kernel, ``{ [d0, ..., dn, t0, ...] }``: the loops above its mark, and the tile.

    ``loops`` gives these for each statement, ``{ S[i] -> [d0, ..., dn, t0, ...] }``. Tiles are ``alike`` if
    a point of the mapped loops that one statement has all have.
    """

    tiles: isl.Set
    loops: isl.UnionMap
    alike: bool


@dataclass(frozen=True, slots=True)
class InspectedRange:
    """What ``inspector`` sees before the kernels run: two parameters of ``Transfer`` have the extrema.

    Where it ``counts`` the elements of parts, the maximum is a parameter of the kernels, and the device runs
    nothing if there is none, or one below 0.
    """

    inspector: Inspector
    minimum: str
    maximum: str
    counts: bool = False


@dataclass(frozen=True, slots=True)
class Transfer:
    """The box of ``array`` that the kernels touch, and whether it goes in and comes out.

    ``lowest`` and ``highest`` are its corners, functions of the parameters that
    mean something for parameters in ``touched``; elsewhere nothing is touched. Where data choose the
    elements, ``inspected`` have parameters of their own.
    """

    array: Array
    lowest: tuple[isl.PwAff, ...]
    highest: tuple[isl.PwAff, ...]
    touched: isl.Set
    goes_in: bool
    comes_out: bool
    inspected: tuple[InspectedRange, ...] = ()


def with_measures(transfers: Sequence[Transfer], measured: Sequence[InspectedRange]) -> tuple[Transfer, ...]:
    """``transfers``, those of which the maxima of ``measured`` tell the size after the others."""
    found = [
        replace(each, inspected=(*each.inspected, *own))
        for each in transfers
        for own in (tuple(one for one in measured if _mentions(each, one.maximum)),)
    ]
    return tuple(sorted(found, key=lambda each: any(one.counts for one in each.inspected)))


def _mentions(transfer: Transfer, parameter: str) -> bool:
    """Whether a corner of the box is a function of ``parameter``; where it means something does not count."""
    values = [value for corner in (*transfer.lowest, *transfer.highest) for _, value in corner.get_pieces()]
    places = ((each, each.find_dim_by_name(isl.dim_type.param, parameter)) for each in values)
    return any(at >= 0 and each.involves_dims(isl.dim_type.param, at, 1) for each, at in places)


@dataclass(frozen=True, slots=True)
class MemoryRequest:
    """What a warp asks memory for at once when it reads ``array``, or ``writes`` it.

    That is so many ``sectors``, while its elements would fit the ``minimum`` number.
    """

    array: Array
    writes: bool
    sectors: int
    minimum: int


@dataclass(frozen=True, slots=True)
class KernelCost:
    """What a kernel takes: nanoseconds of an instance of each of its ``statements``, by name.

    That is where all multiprocessors are busy. ``grid`` bounds the blocks along its axes, functions of the
    parameters; a multiprocessor has ``at_once`` of them at a time.
    """

    statements: Mapping[str, float]
    grid: tuple[isl.PwAff, ...]
    at_once: int


@dataclass(frozen=True, slots=True)
class KernelTree:
    """A tree from which the code of the host and of the threads can be generated.

    ``grids`` gives, per kernel, the number of blocks along each axis, as a
    function ``{ [d0, ..., dn] -> [n] }`` of the host's loops around it, and ``hosts``
    these loops for each statement, ``{ S[i] -> [d0, ..., dn] }``; ``tiles``
    what it keeps in shared memory and registers; ``added`` the statements that are
    no instances of the region's, by name; ``full`` the full tiles, by the name of the
    mark around what is done for a tile. ``told`` is what is said of tiles without room. ``requests`` are,
    per kernel, those for what is in no tile, ``costs`` what those take that many threads run.
    """

    schedule: isl.Schedule
    grids: Mapping[Mark, tuple[isl.PwAff, ...]]
    hosts: Mapping[Mark, isl.UnionMap]
    tiles: Mapping[Mark, tuple[Tile, ...]]
    added: Mapping[str, AddedStatement]
    full: Mapping[Mark, FullTiles]
    told: tuple[str, ...] = ()
    requests: Mapping[Mark, tuple[MemoryRequest, ...]] = field(default_factory=dict)
    costs: Mapping[Mark, KernelCost] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DevicePlan:
    """What runs on the device for a region.

    ``tree`` is ready for code generation; ``private`` are the arrays that each
    thread has a copy of; ``transfers`` are the boxes of the others, except for
    scalars that are only read. All indices fit ``int`` while no parameter is
    beyond ``limit``, in either direction; 0: never. ``launches`` has, per kernel,
    bounds on the trip counts of the host's loops around it, and ``serial`` names the statements that one
    thread runs. ``buffers`` stand for temporary arrays: each thread has a copy. ``remarks`` are about these.
    ``atomics`` are updates of elements that data choose: threads may make them at the same time, in the
    ``copies`` of kernels that have some. ``exceeded`` says what tiles that were asked for take too much of.
    """

    tree: KernelTree
    kernels: tuple[Kernel, ...]
    private: tuple[Array, ...]
    transfers: tuple[Transfer, ...]
    limit: int
    launches: tuple[tuple[isl.PwAff, ...], ...]
    serial: frozenset[str] = frozenset()
    buffers: tuple[Buffer, ...] = ()
    remarks: tuple[str, ...] = ()
    atomics: tuple[Reduction, ...] = ()
    copies: Mapping[Mark, tuple[BlockCopy, ...]] = field(default_factory=dict)
    exceeded: tuple[str, ...] = ()
