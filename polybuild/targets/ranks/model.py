"""What ranks share, and what they tell each other."""

from __future__ import annotations

from enum import Enum

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.scop.model import Array, Scop
from polybuild.values import dataclass

FIRST, END = "pb_first", "pb_end"
"""Parameters: the block of this rank, from the first value to before the end."""
FROM_FIRST, FROM_END = "pb_from_first", "pb_from_end"
"""The block of the rank that sends."""
TO_FIRST, TO_END = "pb_to_first", "pb_to_end"
"""The block of the rank that receives."""
AROUND = "pb_at"
"""How the names of the parameters begin that are the values of the loops around an exchange."""


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
    each loop around it.
    """

    name: str
    depth: int
    messages: tuple[Message, ...]
    kind: ExchangeKind = ExchangeKind.DURING

    @property
    def text(self) -> str:
        """The names of the arrays that it sends."""
        names = [f"'{name}'" for name in dict.fromkeys(each.array.spelling for each in self.messages)]
        return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


@dataclass(frozen=True, slots=True)
class Sharing:
    """How ranks share a region: blocks of the values from ``lowest`` to ``highest``, and the ``exchanges``.

    The ``notes`` are those that are nothing but for arrays that stay distributed.
    These are the values of the outermost loops that carry nothing, in which instances differ that
    different ranks run; functions of the parameters, of which ``context`` is known.
    """

    context: isl.Set
    lowest: isl.PwAff
    highest: isl.PwAff
    exchanges: tuple[Exchange, ...]
    notes: tuple[Exchange, ...]

    @property
    def summary(self) -> str:
        """What ranks send each other, for the user."""
        *inner, last = (each.text for each in self.exchanges)
        during = [f"{names} as others read it" for names in dict.fromkeys(filter(None, inner))]
        after = [f"{last} after the region"] if last else []
        return f"ranks share the loops, and send each other {', '.join([*during, *after])}"


@dataclass(frozen=True, slots=True)
class Share:
    """What one rank runs of a region: the ``scop`` and the order of its block, between FIRST and END.

    Exchanges are statements of the order, and not of ``scop``.
    """

    scop: Scop
    dependences: Dependences
    schedule: isl.Schedule
    sharing: Sharing
