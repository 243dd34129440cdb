"""Which statements share their next band: cutting between strongly connected components."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from polybuild.poly.components import components
from polybuild.schedule.pluto.hyperplane import Solution
from polybuild.schedule.pluto.state import SearchState

Solve = Callable[[SearchState], Solution | None]


class Cut(Enum):
    """When strongly connected components get bands of their own."""

    ALL = "all"  # always
    SMART = "smart"  # unless they share data, have loops alike and lose no parallelism together
    NEEDED = "needed"  # only where no hyperplane is common to them


def partition(state: SearchState, cut: Cut, solve: Solve) -> list[tuple[str, ...]]:
    """Groups of statements to run one after the other, each with bands of its own.

    Components join the latest group they may, as long as what they depend on stays before them.
    """
    solutions: dict[tuple[str, ...], Solution | None] = {}

    def once(part: SearchState) -> Solution | None:
        if part.names not in solutions:
            solutions[part.names] = solve(part)
        return solutions[part.names]

    groups: list[tuple[str, ...]] = []
    for component in components(state.names, state.arcs):
        position = None if cut is Cut.ALL else _position(state, groups, component, cut, once)
        if position is None:
            groups.append(component)
        else:
            joined = {*groups[position], *component}
            groups[position] = tuple(each for each in state.names if each in joined)
    return groups


def _position(
    state: SearchState, groups: list[tuple[str, ...]], component: tuple[str, ...], cut: Cut, solve: Solve
) -> int | None:
    """The group that ``component`` may join, None if it makes one of its own."""
    arcs = set(state.arcs)
    for index in reversed(range(len(groups))):
        if _joins(state, groups[index], component, cut, solve):
            return index
        if any((source, target) in arcs for source in groups[index] for target in component):
            return None
    return None


def _joins(
    state: SearchState, group: tuple[str, ...], component: tuple[str, ...], cut: Cut, solve: Solve
) -> bool:
    together = state.within((*group, *component))
    if together.complete:
        return False
    if cut is Cut.NEEDED:
        return solve(together) is not None
    first, second = state.within(group), state.within(component)
    if _depth(first) != _depth(second) or not _shares(together, group):
        return False
    joined = solve(together)
    if joined is None:
        return False
    separate = [solve(each) for each in (first, second)]
    return joined.coincident or not any(each is not None and each.coincident for each in separate)


def _depth(state: SearchState) -> int:
    return max(state.open_loops(each) for each in state.nodes)


def _shares(state: SearchState, group: tuple[str, ...]) -> bool:
    """Whether some edge joins ``group`` and the other statements."""
    return any((each.source in group) != (each.target in group) for each in state.active)
