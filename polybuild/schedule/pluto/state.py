"""A part of the problem that is still to be ordered: some statements, under the rows already found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from polybuild.schedule.pluto.independence import rank
from polybuild.schedule.pluto.model import Edge, EdgeKind, Hyperplane, Row, StatementNode
from polybuild.schedule.pluto.problem import PrivateEdges, SchedulingProblem
from polybuild.schedule.pluto.satisfaction import left_by
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class SearchState:
    """Statements and the edges between them that the tree above leaves open.

    ``ordered`` names the private arrays whose live ranges keep their order, because
    the tree above or this part of it moves their values. ``found`` holds per statement
    the rows of the bands above.
    """

    nodes: tuple[StatementNode, ...]
    edges: tuple[Edge, ...]
    private: tuple[PrivateEdges, ...]
    ordered: frozenset[str]
    found: Mapping[str, tuple[Row, ...]]
    parameters: int

    @classmethod
    def of(cls, problem: SchedulingProblem, *, ordered: bool) -> SearchState:
        """The whole problem; ``ordered`` keeps all live ranges in order from the start."""
        names = frozenset(each.name for each in problem.private) if ordered else frozenset[str]()
        found: dict[str, tuple[Row, ...]] = {each.name: () for each in problem.nodes}
        return cls(problem.nodes, problem.edges, problem.private, names, found, problem.parameters)

    @property
    def names(self) -> tuple[str, ...]:
        """The statements in textual order."""
        return tuple(each.name for each in self.nodes)

    @property
    def active(self) -> tuple[Edge, ...]:
        """Everything that a hyperplane has to take into account."""
        chosen = [each.order if each.name in self.ordered else each.local for each in self.private]
        return (*self.edges, *(edge for edges in chosen for edge in edges))

    @property
    def arcs(self) -> list[tuple[str, str]]:
        """Which statement must not come after which other; a value that must not move ties both."""
        respected = [each for each in self.active if each.kind is not EdgeKind.INPUT]
        back = [(each.target, each.source) for each in respected if each.kind is EdgeKind.LOCAL]
        return [(each.source, each.target) for each in respected] + back

    @property
    def complete(self) -> bool:
        """Whether the rows found separate all instances of each statement."""
        return all(self.open_loops(each) == 0 for each in self.nodes)

    @property
    def keeps_values(self) -> bool:
        """Whether some private array's values must not move."""
        return any(each.local for each in self.private if each.name not in self.ordered)

    def open_loops(self, node: StatementNode) -> int:
        """How many independent rows a statement still lacks."""
        return node.depth - rank(self.found[node.name])

    def within(self, names: Sequence[str]) -> SearchState:
        """The part of some statements alone."""
        kept = set(names)

        def inside(edges: tuple[Edge, ...]) -> tuple[Edge, ...]:
            return tuple(each for each in edges if each.source in kept and each.target in kept)

        return replace(
            self,
            nodes=tuple(each for each in self.nodes if each.name in kept),
            edges=inside(self.edges),
            private=tuple(
                PrivateEdges(each.name, inside(each.local), inside(each.order)) for each in self.private
            ),
        )

    def with_rows(self, hyperplane: Hyperplane) -> SearchState:
        """With one hyperplane more found, all edges as they are."""
        found = {node.name: (*self.found[node.name], hyperplane[node.name]) for node in self.nodes}
        return replace(self, found=found)

    def below(self, band: Sequence[Hyperplane]) -> SearchState:
        """What ``band``, whose rows are in ``found``, leaves open."""
        nodes = {each.name: each for each in self.nodes}

        def left(edges: tuple[Edge, ...]) -> tuple[Edge, ...]:
            rest = (left_by(each, band, nodes) for each in edges)
            return tuple(each for each in rest if each is not None)

        return replace(
            self,
            edges=left(self.edges),
            private=tuple(
                PrivateEdges(each.name, left(each.local), left(each.order)) for each in self.private
            ),
        )

    def in_order(self) -> SearchState:
        """With all live ranges kept in order."""
        return replace(self, ordered=frozenset(each.name for each in self.private))
