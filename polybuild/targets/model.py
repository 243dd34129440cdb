"""What a target says of the loops it chose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.reductions import Reduction, Scan, Selection
from polybuild.c.types import FloatingType, IntegerType, Type
from polybuild.poly.marks import Mark
from polybuild.scop.model import Access, Array, Statement
from polybuild.values import dataclass


class LaneKind(Enum):
    """What an expression is where each lane of a vector computes an iteration."""

    UNIFORM = "uniform"  # the same in all lanes, and written as a scalar
    REAL = "real"  # a vector of the elements that the lanes are as wide as
    INTEGER = "integer"  # a vector of integers of that width
    MASK = "mask"  # all bits of a lane set where a condition holds, else none


@dataclass(frozen=True, slots=True)
class Interleaved:
    """Elements for the lanes that lie ``step`` apart, so near that whole vectors are loaded and shuffled.

    Of members of structures ``place`` says which of the ``step`` members of each they are.
    """

    step: int
    place: int | None


@dataclass(frozen=True, slots=True)
class LaneOperand:
    """What an access is in lanes, or a name that is the same in all of them: a value of ``type``.

    If it ``varies`` between them, it is a private ``variable``, a ``counter`` of the loop itself, or the
    elements are ``adjacent``, ``interleaved`` with others, or farther apart.
    An ``element`` of an array is ``loaded`` if the statement reads it whatever the data.
    """

    type: Type
    varies: bool = False
    variable: bool = False
    adjacent: bool = False
    element: bool = False
    loaded: bool = False
    interleaved: Interleaved | None = None
    counter: bool = False

    @property
    def is_distant(self) -> bool:
        """Whether the elements are loaded one by one."""
        return self.is_scattered and self.interleaved is None

    @property
    def is_scattered(self) -> bool:
        """Whether each lane has an element of its own that is not beside that of the next one."""
        return self.varies and not (self.variable or self.counter or self.adjacent)


@dataclass(frozen=True, slots=True)
class PackedRows:
    """Rows of ``array`` that the lanes of a loop read, in a buffer with the lanes side by side.

    The first of the ``subscripts`` of the accesses ``nodes`` (by identity) says which row, and is that of the
    lane; the other one is the place in the row, and goes from one to the other of ``bounds``. Rows are
    read where ``needed``, a set of parameters, holds. The buffer has ``extent`` places; unless these are
    ``enough`` for all values of the parameters, the loop runs in lanes only where they are.
    """

    array: Array
    nodes: frozenset[int]
    subscripts: tuple[int, int]
    bounds: tuple[isl.PwAff, isl.PwAff]
    needed: isl.Set
    extent: int
    enough: bool


@dataclass(frozen=True, slots=True)
class RowWindow:
    """A stretch of the row of ``array`` that each lane goes along, in a buffer with the lanes side by side.

    An iteration of the loop inside accesses ``span`` elements of it: the nodes (by identity) at their
    ``places``, of which the one that is ``written``, if any, is stored. With the next iteration all go on by
    one element, ``upwards`` or down. They are ``loaded`` unless the loop only writes them. Where all that is
    read was written by iterations before, it is ``carried`` by the buffer: only what is read of elements
    beside the stretch is loaded.
    """

    array: Array
    places: Mapping[int, int]
    span: int
    upwards: bool
    loaded: bool
    written: int | None
    carried: bool = False


@dataclass(frozen=True, slots=True)
class RowWindows:
    """The windows of the ``loops`` inside of one in lanes, filled for a ``stretch`` of iterations at a time.

    While elements are loaded, those that lie so many bytes ``ahead`` are asked for.
    """

    loops: tuple[tuple[RowWindow, ...], ...] = ()
    stretch: int = 0
    ahead: int = 0

    @property
    def nodes(self) -> frozenset[int]:
        """The nodes, by identity, whose elements are in a window."""
        return frozenset(node for loop in self.loops for each in loop for node in each.places)

    @property
    def carried(self) -> frozenset[int]:
        """Those whose elements the buffer has from iterations before."""
        windows = (each for loop in self.loops for each in loop if each.carried)
        return frozenset(
            node for each in windows for node, place in each.places.items() if place != each.written
        )

    @property
    def are_stored(self) -> bool:
        """Whether a loop writes to one."""
        return any(each.written is not None for loop in self.loops for each in loop)


@dataclass(frozen=True, slots=True)
class LaneBodies:
    """What the parts of statements are in lanes, all by the identities of nodes.

    ``kinds`` are those of expressions, ``operands`` those of accesses. Integers that are ``converted`` are
    operands of floating-point operations; numbers among ``truths`` are conditions, and conditions
    among ``flags`` are numbers. What is ``guarded`` is computed, or set, where a lane at work asks for it.
    Statements such as ``k++``, and constants of a wider type, are what ``steps`` has for them.
    """

    kinds: Mapping[int, LaneKind]
    operands: Mapping[int, LaneOperand]
    converted: frozenset[int]
    truths: frozenset[int]
    flags: frozenset[int]
    guarded: frozenset[int]
    steps: Mapping[int, c_ast.Node]


@dataclass(frozen=True, slots=True)
class LaneLoop:
    """How a loop computes several iterations at a time, in ``lanes`` lanes of ``copies`` vectors of ``type``.

    ``bodies`` says what its statements are there; those called ``singles`` run for one lane after the other.
    ``variables`` are private scalars, and arrays whose extents are numbers: ``vectors``, by name, or with an
    element for each lane. ``packed`` is what is in buffers while the vectors are computed. It
    ``diverges`` if loops that are parts of statements end for some lanes before they do for others. Nobody
    reads a ``loose`` variable after the statement named beside it, so lanes that left the loop which this is
    may change it. Loops inside may have ``windows``.
    """

    type: FloatingType
    lanes: int
    copies: int
    bodies: LaneBodies
    variables: tuple[Array, ...]
    packed: tuple[PackedRows, ...]
    vectors: frozenset[str]
    singles: frozenset[str] = frozenset()
    diverges: bool = False
    loose: frozenset[tuple[str, str]] = frozenset()
    windows: RowWindows = RowWindows()


@dataclass(frozen=True, slots=True)
class Enough:
    """From what size on loops gain: where the sum of the products of ``counts`` reaches ``minimum``."""

    counts: tuple[tuple[isl.PwAff, ...], ...]
    minimum: int


@dataclass(frozen=True, slots=True)
class ThreadLimits:
    """From what work on threads pay for a loop, in statement instances.

    Where ``work`` is given (trip counts, per statement, of what runs each time), several threads pay if the
    sum of their products reaches the ``minimum``, and one more for each half of that. A loop within
    others is worth entering, on one thread, from ``entered_for`` on; that takes hardly any of its time from
    ``unnoticed`` on.
    """

    work: tuple[tuple[isl.PwAff, ...], ...] = ()
    minimum: int = 0
    entered_for: int = 0
    unnoticed: int = 0


@dataclass(frozen=True, slots=True)
class ThreadSharing:
    """How threads share the iterations of a loop: each takes the next one if ``dynamic``, a part of all else.

    Tiles of the size ``tile`` may be strips of any width up to ``longest`` instead, by steps of a ``line``;
    0: they are as they are.
    """

    dynamic: bool = False
    tile: int = 0
    longest: int = 0
    line: int = 0


@dataclass(frozen=True, slots=True)
class LoopDirective:
    """What is told of one loop: the loop of schedule dimension ``depth`` under a mark.

    Where that loop has a single iteration, isl leaves it out, and the directive goes with it.

    Threads share the iterations of so many loops, this one and those right inside, as ``shared`` says, in
    the way of ``sharing``. They run in the lanes of vectors if ``simd``.
    ``private`` are the arrays of which each iteration has a copy, ``accumulators`` what the iterations add up
    together, and ``reductions`` the same for variables of the generated code: an operator and its variables.
    Without any of these a loop for vectors is ``independent``: no iteration touches what another writes.
    One that is not left to the compiler is written in ``lanes``, where the conditions inside allow it.
    The nodes of the identities ``invariant`` read an element that no iteration writes.
    ``limits`` say from what work on threads pay, ``width`` how many lanes a vector has; 0 leaves that to the
    compiler.
    """

    depth: int
    shared: int = 0
    simd: bool = False
    sharing: ThreadSharing = ThreadSharing()
    independent: bool = False
    private: tuple[Array, ...] = ()
    accumulators: tuple[Accumulator, ...] = ()
    reductions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    limits: ThreadLimits = ThreadLimits()
    lanes: LaneLoop | None = None
    invariant: frozenset[int] = frozenset()
    width: int = 0

    @property
    def parallel(self) -> bool:
        """Whether threads share the iterations."""
        return self.shared > 0

    @property
    def histograms(self) -> tuple[Accumulator, ...]:
        """Those of ``accumulators`` that are arrays, of which each thread has its own."""
        return tuple(each for each in self.accumulators if each.elements)


_SELECTIONS = {"min", "max", "fmin", "fmax"}


@dataclass(frozen=True, slots=True)
class Accumulator:
    """A variable that stands for the one element that ``reductions`` accumulate in below ``mark``.

    It gets the element's value there and gives it back after all that is below. The reductions
    are of one group. Compilers compute them in vectors ``unasked``, and better than where they are asked to:
    what is left over of a row, too.
    """

    mark: Mark
    reductions: tuple[Reduction, ...]
    unasked: bool = False

    @property
    def array(self) -> Array:
        """The array, or scalar, that the element is of."""
        return self.reductions[0].array

    @property
    def operator(self) -> str:
        """What combines two accumulated values, as ``Reduction`` calls it."""
        return self.reductions[0].operator

    @property
    def selects(self) -> bool:
        """Whether it is a minimum or maximum of floating-point numbers, which OpenMP's own do not suit."""
        return self.operator in _SELECTIONS and isinstance(self.type, FloatingType)

    @property
    def selection(self) -> Selection | None:
        """What decides which values are taken, and what is carried with them; None of other reductions."""
        return self.reductions[0].selection

    @property
    def scan(self) -> Scan | None:
        """The loop that looks at its values; None if none does."""
        return self.reductions[0].scan

    @property
    def elements(self) -> int:
        """How many elements there are where data choose one of them for each term; 0 if there is but one."""
        return max(each.elements for each in self.reductions)

    @property
    def in_order(self) -> bool:
        """Whether parts are combined in the order of their terms."""
        return any(each.in_order for each in self.reductions)

    @property
    def inexact(self) -> bool:
        """Whether the order in which values are combined makes a difference."""
        return not all(each.exact for each in self.reductions)

    @property
    def type(self) -> IntegerType | FloatingType:
        """The type of the variable."""
        return widest(self.reductions)


_IDENTITIES = {"+": "0", "^": "0", "*": "1"}  # by the operators that do not take a value twice


def identity(operator: str) -> str:
    """What changes nothing by ``operator``, as C text; empty where values may be taken more than once."""
    return _IDENTITIES.get(operator, "")


def widest(reductions: Sequence[Reduction]) -> IntegerType | FloatingType:
    """The widest of the types that ``reductions`` of a group need."""
    kinds = [each.type for each in reductions]
    return max(kinds, key=lambda each: each.width if isinstance(each, IntegerType) else each.size)


@dataclass(frozen=True, slots=True)
class Offset:
    """How far ``value``, an expression of a statement's counters, is from the start of its tile of ``size``.

    That is ``value mod size``, and ``value - size * t`` where a loop counts the tiles by ``t``.
    """

    value: isl.PwAff
    size: int


@dataclass(frozen=True, slots=True)
class Packed:
    """A value of the body of ``update`` that is kept in a buffer while a tile is computed.

    ``expression`` is a part of the body that depends on fewer loops than the statement.
    The buffer is declared where ``mark`` stands, and filled by the instances of
    the statement ``copy``; ``elements`` maps these to what each access of
    ``expression`` touches. ``stored`` and ``used`` are the subscripts of the buffer in the
    copy statement and in the register tile, ``extents`` its extents. Where ``vector`` is
    true the last subscript runs along the lanes of a vector, else all lanes use one value.
    ``needs`` maps the instances of ``update`` that use it to that of the copy statement: those in register
    tiles, and all others beside them where it is ``shared``: those below ``within`` alone, if that is given.
    """

    mark: Mark
    update: Statement
    expression: c_ast.Node
    type: IntegerType | FloatingType
    elements: tuple[tuple[Access, isl.PwMultiAff], ...]
    extents: tuple[int, ...]
    stored: tuple[Offset, ...]
    used: tuple[Offset, ...]
    vector: bool
    shared: bool
    needs: isl.Map
    within: Mark | None = None

    @property
    def copy(self) -> str:
        """The name of the copy statement."""
        return self.mark.name

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The arrays that it is made from, each once."""
        arrays = [access.array for access, _ in self.elements if access.array.extents]
        return tuple({each.name: each for each in arrays}.values())


@dataclass(frozen=True, slots=True)
class BlockTransfer:
    """How the block of a register tile goes from memory to registers and back, one vector at a time.

    The instances of the copy statement ``load`` load it, those of ``store`` write it back: ``element`` maps
    an instance of ``load`` to the first element of the vector, ``block`` says which vector of the block
    (row, vector) that is. ``needs`` maps the instances of the update to that of ``load``.
    """

    load: str
    store: str
    element: isl.PwMultiAff
    block: tuple[Offset, ...]
    needs: isl.Map


@dataclass(frozen=True, slots=True)
class PartialTile:
    """What is left of register tiles where rows and columns end, and may be computed as full ones.

    It is below ``mark``, in loops of three dimensions of the schedule, those over rows, steps and lanes, of
    which there are no more ``steps`` than this. Of the ``operands`` of the update, nodes of its body by their
    identity, those ``gathered`` are other ones for each lane, and the same for all rows.
    """

    mark: Mark
    loops: tuple[int, int, int]
    steps: int
    operands: tuple[int, ...]
    gathered: frozenset[int]


@dataclass(frozen=True, slots=True)
class RegisterTile:
    """Instances of one statement whose results stay in vector registers over a whole loop.

    They stand below ``mark``. In the body of the statement ``update`` the nodes
    ``own`` (by identity) are the element of ``array`` that is updated, and of ``vectors``
    the lanes lie side by side in memory; ``types`` are those of its parts. ``block`` says which vector
    of ``lanes`` elements (row, vector) of the block of updated elements an instance works on;
    ``transfer`` moves that block. What is left where it is not full may be computed as a ``partial`` one.
    """

    mark: Mark
    update: Statement
    own: frozenset[int]
    vectors: frozenset[int]
    array: Array
    type: IntegerType | FloatingType
    types: Mapping[int, IntegerType | FloatingType]
    lanes: int
    block: tuple[Offset, ...]
    transfer: BlockTransfer
    packed: tuple[Packed, ...] = ()
    partial: PartialTile | None = None
