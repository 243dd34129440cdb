"""What is in scope in a loop in lanes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from polybuild.codegen.c.expressions import ExpressionPrinter
from polybuild.codegen.c.instances import InstancePrinter
from polybuild.codegen.c.names_in_scope import NamesInScope
from polybuild.codegen.c.names_in_use import NamesInUse
from polybuild.values import dataclass

if TYPE_CHECKING:
    from polybuild.targets.model import LaneLoop

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class LaneScope:
    """A loop in ``lanes``: isl calls its counter ``identifier``, and C ``counter``.

    The first lane of the first vector computes the iteration that ``counter`` says, the next one that after
    it, and so on. ``names`` are those in scope, and ``in_use`` records what the text mentions.
    """

    lanes: LaneLoop
    identifier: str
    counter: str
    names: NamesInScope
    instances: InstancePrinter
    in_use: NamesInUse

    @property
    def step(self) -> int:
        """How many iterations run at once."""
        return self.lanes.lanes * self.lanes.copies

    @property
    def expressions(self) -> ExpressionPrinter:
        """What prints bounds and subscripts."""
        return ExpressionPrinter(self.names.text, self.in_use, self.names.chosen)

    def in_lane(self, lane: int | str, text: Callable[[], _T]) -> _T:
        """What ``text`` makes of the iteration of ``lane``, a number or a variable."""
        before = self.names[self.identifier]
        self.names[self.identifier] = f"({self.counter} + {lane})" if lane else self.counter
        made = text()
        self.names[self.identifier] = before
        return made
