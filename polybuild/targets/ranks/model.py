"""What ranks share, and what they tell each other."""

from __future__ import annotations

from enum import Enum

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.analysis.reductions import Reduction
from polybuild.c.types import FloatingType, IntegerType
from polybuild.scop.model import Array, Scop
from polybuild.targets.model import identity, widest
from polybuild.values import dataclass

FIRST, END = "pb_first", "pb_end"
"""Parameters: the block of this rank, from the first value to before the end."""
FROM_FIRST, FROM_END = "pb_from_first", "pb_from_end"
"""The block of the rank that sends."""
TO_FIRST, TO_END = "pb_to_first", "pb_to_end"
"""The block of the rank that receives."""
AROUND = "pb_at"
"""How the names of the parameters begin that are the values of the loops around an exchange."""
HOME = "home"
"""The statement of a tree where the device's work ends, before values are sent that are read after it."""


class ExchangeKind(Enum):
    """What an exchange is about."""

    DURING = "other ranks read"  # as they go on with the region
    BEFORE = "this rank reads"  # of arrays that stayed distributed
    AFTER = "may be read after the region"
    ALIKE = "all ranks wrote"  # nothing is sent


@dataclass(frozen=True, slots=True)
class Message:
    """``elements`` of ``array``, ``{ array[x0, ...] }``, that one rank sends to another.

    Its parameters are the ends of the two ranks' blocks, and ``AROUND0, ...``: the values of the loops
    around the exchange, outermost first.
    """

    array: Array
    elements: isl.Set


@dataclass(frozen=True, slots=True)
class Exchange:
    """A point of the program where ranks send each other what these will read, or all learn who has it.

    It is the statement ``name`` of a schedule tree, ``{ name[t0, ...] }`` with ``depth`` dimensions, one for
    each loop around it. If it ``overlaps`` with work, messages leave at another, ``start``, before that, and
    are awaited at this one.
    """

    name: str
    depth: int
    messages: tuple[Message, ...]
    kind: ExchangeKind = ExchangeKind.DURING
    overlaps: bool = False

    @property
    def start(self) -> str:
        """The name of the statement where messages that overlap with work are posted."""
        return f"{self.name}_start"

    @property
    def text(self) -> str:
        """The names of the arrays that it sends."""
        names = [f"'{name}'" for name in dict.fromkeys(each.array.spelling for each in self.messages)]
        return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


@dataclass(frozen=True, slots=True)
class Accumulation:
    """``elements`` of an array, as those of a message, that the ``reductions`` of a group accumulate in."""

    reductions: tuple[Reduction, ...]
    elements: isl.Set

    @property
    def array(self) -> Array:
        """The array, or scalar, that the elements are of."""
        return self.reductions[0].array

    @property
    def operator(self) -> str:
        """What combines two parts, as ``Reduction`` calls it."""
        return self.reductions[0].operator

    @property
    def element(self) -> str:
        """The type of an element, as C text."""
        kind = self.array.element
        assert isinstance(kind, IntegerType | FloatingType)  # noqa: S101 - what is accumulated is a number
        return kind.name

    @property
    def type(self) -> IntegerType | FloatingType:
        """The type in which two parts are combined."""
        return widest(self.reductions)

    @property
    def identity(self) -> str:
        """What changes nothing, as C text; empty where any rank may accumulate on what there is."""
        return identity(self.operator)


@dataclass(frozen=True, slots=True)
class RankReduction:
    """What ranks accumulate together in a phase.

    It is two statements of the tree, each with ``depth`` dimensions as those of an exchange: ``start`` before
    the phase, where all ranks but the first set the elements to the identity element, and ``name`` after it,
    where all combine their parts.
    """

    name: str
    depth: int
    accumulations: tuple[Accumulation, ...]

    @property
    def start(self) -> str:
        """The name of the statement before the phase."""
        return f"{self.name}_start"

    @property
    def has_start(self) -> bool:
        """Whether there is anything to set."""
        return any(each.identity for each in self.accumulations)

    @property
    def text(self) -> str:
        """The names of what is accumulated."""
        return ", ".join(dict.fromkeys(f"'{each.array.spelling}'" for each in self.accumulations))


@dataclass(frozen=True, slots=True)
class ValueWork:
    """Instances by the values that blocks are made of, for blocks that have the same number of them.

    Each of the ``points``, ``{ [x, i0, ...] }``, is of value ``x``, and is so many instances of ``number``
    statements as the product of ``times``, functions of the parameters, says.
    """

    points: isl.Set
    times: tuple[isl.PwAff, ...] = ()
    number: int = 1

    @property
    def is_uneven(self) -> bool:
        """Whether values may have different numbers of them."""
        return bool(self.points.dim(isl.dim_type.set) > 1)


@dataclass(frozen=True, slots=True)
class DeviceBlock:
    """What a rank runs of a phase in one run of the loops around it, for its device.

    It is the statement ``name`` of the tree, with ``depth`` dimensions as those of an exchange, right before
    the mark of number ``phase`` with the loops for the host. The parameters of ``scop`` include the ends of
    the rank's block, and ``AROUND0, ...``; ``live`` are the variables that are read after it, and ``around``,
    ``{ [t0, ...] }``, the runs there are.
    """

    name: str
    depth: int
    phase: int
    scop: Scop
    live: frozenset[str]
    around: isl.Set


@dataclass(frozen=True, slots=True)
class HostWork:
    """What all ranks run alike on their hosts, with ``arrays`` that a device may have; ``name`` is before."""

    name: str
    arrays: tuple[Array, ...]


@dataclass(frozen=True, slots=True)
class Sharing:
    """How ranks share a region: blocks of the values from ``lowest`` to ``highest``, and the ``exchanges``.

    Blocks have the same ``work``, where there is any, or else equally many values. The ``notes`` are those
    that are nothing but for arrays that stay distributed.
    Values are those of the outermost loops that carry nothing, in which instances differ that
    different ranks run; functions of the parameters, of which ``context`` is known.
    Ranks meet once in ``steps`` of the loop around, and run ``extra`` instances beyond their blocks in these.
    A rank's device may run ``blocks``, between which there is ``host_work``.
    """

    context: isl.Set
    lowest: isl.PwAff
    highest: isl.PwAff
    exchanges: tuple[Exchange, ...]
    notes: tuple[Exchange, ...]
    reductions: tuple[RankReduction, ...] = ()
    work: tuple[ValueWork, ...] = ()
    steps: int = 1
    extra: float = 0.0
    blocks: tuple[DeviceBlock, ...] = ()
    host_work: tuple[HostWork, ...] = ()

    @property
    def summary(self) -> str:
        """What ranks send each other, for the user."""
        *inner, last = (each.text for each in self.exchanges)
        during = [f"{names} as others read it" for names in dict.fromkeys(filter(None, inner))]
        parts = [f"their parts of {each.text}" for each in self.reductions]
        after = [f"{last} after the region"] if last else []
        sent = ", ".join([*during, *parts, *after])
        how = "; they work while messages travel" if any(each.overlaps for each in self.exchanges) else ""
        if self.steps > 1:
            how = (
                f"; they meet once in {self.steps} steps, and compute the border of others' blocks themselves"
            )
        return f"ranks share the loops, and send each other {sent}{how}"


@dataclass(frozen=True, slots=True)
class Share:
    """What one rank runs of a region: the ``scop`` and the order of its block, between FIRST and END.

    Exchanges are statements of the order, and not of ``scop``.
    """

    scop: Scop
    dependences: Dependences
    schedule: isl.Schedule
    sharing: Sharing

    @property
    def meets_in_a_loop(self) -> bool:
        """Whether ranks run everything in parts, and send each other values in a loop around these."""
        return self.meetings == (0, 1) and not self.sharing.reductions

    @property
    def meetings(self) -> tuple[int, int]:
        """How many statements ranks run alike, and how many loops there are around what they do together."""
        alike = sum(not _is_divided(each.domain) for each in self.scop.statements)
        depths = [each.depth for each in self.sharing.exchanges]
        return alike, max([*depths, *(each.depth for each in self.sharing.reductions)], default=0)


def _is_divided(domain: isl.Set) -> bool:
    """Whether ranks run different instances of a statement."""
    position = domain.find_dim_by_name(isl.dim_type.param, FIRST)
    return position >= 0 and bool(domain.involves_dims(isl.dim_type.param, position, 1))
