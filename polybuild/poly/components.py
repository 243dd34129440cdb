"""Strongly connected components of the statements, in an order that respects the edges between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from graphlib import TopologicalSorter


def components(names: Sequence[str], arcs: Iterable[tuple[str, str]]) -> list[tuple[str, ...]]:
    """The components of the graph of ``names`` and ``arcs``, each before those it has arcs to.

    Those that are free to go in any order keep the order of ``names``.
    """
    leader, sorter = condensation(names, arcs)
    position = {name: index for index, name in enumerate(names)}
    ready: list[str] = []
    order: list[str] = []
    while sorter.is_active():
        ready += sorter.get_ready()
        ready.sort(key=position.__getitem__)
        order.append(ready.pop(0))
        sorter.done(order[-1])
    return [tuple(name for name in names if leader[name] == each) for each in order]


def condensation(
    names: Sequence[str], arcs: Iterable[tuple[str, str]]
) -> tuple[dict[str, str], TopologicalSorter[str]]:
    """For each of ``names`` the first one of its component, and a prepared sorter of these first ones."""
    follows: dict[str, set[str]] = {name: set() for name in names}
    for source, target in arcs:
        follows[source].add(target)
    reach = {name: _reachable(name, follows) for name in names}
    leader = {
        name: next(each for each in names if each == name or (each in reach[name] and name in reach[each]))
        for name in names
    }
    sorter: TopologicalSorter[str] = TopologicalSorter(dict.fromkeys(leader.values(), ()))
    for name in names:
        for other in reach[name]:
            if leader[other] != leader[name]:
                sorter.add(leader[other], leader[name])
    sorter.prepare()
    return leader, sorter


def _reachable(start: str, follows: Mapping[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for name in follows[waiting.pop()] - seen:
            seen.add(name)
            waiting.append(name)
    return seen
