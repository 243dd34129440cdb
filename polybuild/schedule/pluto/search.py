"""Pluto's algorithm (PLDI 2008, sections 3 and 4): bands of permutable hyperplanes, outermost first.

Each step finds the cheapest hyperplane that respects all dependences which the bands above
leave open. When there is none left the band is complete; what it orders strictly is settled, and
the search starts again below it. Where not even a first hyperplane exists the statements are cut
into their strongly connected components.
"""

from __future__ import annotations

from polybuild.effort import SCHEDULER_EFFORT
from polybuild.poly.components import components
from polybuild.schedule.pluto.fusion import Cut, partition
from polybuild.schedule.pluto.hyperplane import Solution, find_hyperplane
from polybuild.schedule.pluto.model import (
    EdgeKind,
    Hyperplane,
    HyperplaneBand,
    StatementLeaf,
    StatementSequence,
    Tree,
)
from polybuild.schedule.pluto.problem import SchedulingProblem
from polybuild.schedule.pluto.program import Effort, TooLarge
from polybuild.schedule.pluto.satisfaction import is_carried
from polybuild.schedule.pluto.state import SearchState
from polybuild.values import dataclass


class NoHyperplane(Exception):
    """The algorithm found no order; the message says for which statements."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """What the search prefers where there is a choice.

    ``joint`` bounds pairs of reads together with dependences. ``inner`` ends a band
    after a first hyperplane that carries a dependence, so that the loops inside
    may be parallel. ``ordered`` keeps all live ranges of private arrays in order.
    """

    cut: Cut = Cut.SMART
    joint: bool = False
    inner: bool = False
    ordered: bool = False


def find_tree(problem: SchedulingProblem, strategy: Strategy, effort: int = SCHEDULER_EFFORT) -> Tree:
    """The order of ``problem`` under ``strategy``; raises NoHyperplane.

    ``effort`` bounds the size of all integer programs together, in coefficients.
    """
    try:
        return _Search(strategy, effort).order(SearchState.of(problem, ordered=strategy.ordered))
    except TooLarge as error:
        raise NoHyperplane("the region has too many statements and dependences") from error


class _Search:
    def __init__(self, strategy: Strategy, effort: int) -> None:
        self._strategy = strategy
        self._effort = Effort(effort)

    def order(self, state: SearchState) -> Tree:
        """All instances of ``state``, first of all cut where the strategy wants it."""
        if state.complete:
            return _textual(state)
        groups = partition(state, self._strategy.cut, self._fuse)
        return _sequence([self._band(state.within(each)) for each in groups])

    def _band(self, state: SearchState) -> Tree:
        """The next band of statements that are to share it."""
        if state.complete:
            return _textual(state)
        band: list[Hyperplane] = []
        reached = state
        while not reached.complete:
            solution = self._solve(reached)
            if solution is None:
                break
            band.append(solution.hyperplane)
            reached = reached.with_rows(solution.hyperplane)
            if self._strategy.inner and len(band) == 1 and not solution.coincident:
                break
        if not band:
            return self._without_band(state)
        nodes = {each.name: each for each in state.nodes}
        respected = [each for each in state.active if each.kind is EdgeKind.ORDER]
        coincident = tuple(
            not any(is_carried(edge, hyperplane, nodes) for edge in respected) for hyperplane in band
        )
        return HyperplaneBand(tuple(band), coincident, self.order(reached.below(band)))

    def _without_band(self, state: SearchState) -> Tree:
        """Where no hyperplane is common to all: let values move, or cut."""
        if state.keeps_values:
            return self.order(state.in_order())
        parts = components(state.names, state.arcs)
        if len(parts) == 1:
            raise NoHyperplane(f"no hyperplane is common to {', '.join(state.names)}")
        return _sequence([self._band(state.within(each)) for each in parts])

    def _solve(self, state: SearchState, *, bounded: bool = False) -> Solution | None:
        return find_hyperplane(
            state.nodes,
            state.active,
            state.found,
            state.parameters,
            self._effort,
            joint=self._strategy.joint,
            bounded=bounded,
        )

    def _fuse(self, state: SearchState) -> Solution | None:
        """A hyperplane on which fused statements are near each other."""
        return self._solve(state, bounded=True)


def _textual(state: SearchState) -> Tree:
    """Statements whose instances are already separated, in an order of the dependences that are left."""
    parts = components(state.names, state.in_order().arcs)
    if any(len(part) > 1 for part in parts):
        raise NoHyperplane("dependences between instances with the same time stamp form a cycle")
    return _sequence([StatementLeaf(name) for (name,) in parts])


def _sequence(children: list[Tree]) -> Tree:
    if len(children) == 1:
        return children[0]
    flat: list[Tree] = []
    for child in children:
        flat += child.children if isinstance(child, StatementSequence) else [child]
    return StatementSequence(tuple(flat))
