"""The integer program of one hyperplane: its variables, in the order in which they are minimised.

::

    [ sum(u), u0, ..., w,  sum|c|,  sum(u'), u'0, ..., w',  then per statement:  c..., constant,  side... ]

``u.p + w`` bounds how many hyperplanes a dependence crosses (PLDI 2008, section 3.2,
equations 4 and 5), ``u'.p + w'`` the same for pairs of reads (section 4.1). Dependences go first, and
loops that are not skewed: both are worth more than a nearer second read. With ``joint`` bounds there
is one bound for all, as in the paper: then reuse may be bought with a pipeline.

Coefficients are non-negative (section 4.2) unless ``signed``; then each is the difference of two
variables, and a variable per statement, 0 or 1, chooses on which side of its earlier hyperplanes
the new one is (Acharya and Bondhugula, "Pluto+", PPoPP 2015). The coefficients of inner loops come
first, so that at equal cost the outer loops stay outermost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from polybuild.effort import LARGEST_COEFFICIENT
from polybuild.schedule.pluto.model import Edge, EdgeKind, Hyperplane, Row, StatementNode
from polybuild.schedule.pluto.program import Constraint, Terms, scale
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class VariableLayout:
    """The positions of the variables for ``nodes`` under ``parameters`` many parameters.

    ``starts`` has the first variable of each statement, ``end`` is the first one after them all.
    """

    nodes: tuple[StatementNode, ...]
    parameters: int
    signed: bool
    joint: bool
    starts: Mapping[str, int]
    end: int

    @classmethod
    def of(
        cls, nodes: Sequence[StatementNode], parameters: int, *, signed: bool, joint: bool
    ) -> VariableLayout:
        """The layout of the program for ``nodes``."""
        starts: dict[str, int] = {}
        end = (1 if joint else 2) * (parameters + 2) + 1
        for node in nodes:
            starts[node.name] = end
            end += node.depth * (2 if signed else 1) + 1
        return cls(tuple(nodes), parameters, signed, joint, starts, end)

    @property
    def variables(self) -> int:
        """How many there are."""
        return self.end + (len(self.nodes) if self.signed else 0)

    @property
    def total(self) -> int:
        """The sum of the absolute values of all coefficients."""
        return self.parameters + 2

    def bound(self, kind: EdgeKind) -> tuple[list[int], int]:
        """The variables ``u`` and ``w`` that bound the edges of ``kind``; before them is the sum of ``u``."""
        first = self._distance(kind)
        return [first + 1 + each for each in range(self.parameters)], first + 1 + self.parameters

    def coefficients(self, node: StatementNode) -> list[Terms]:
        """The coefficients of a statement's loops, outermost first."""
        step = 2 if self.signed else 1
        start = self.starts[node.name]
        positions = [start + (node.depth - 1 - loop) * step for loop in range(node.depth)]
        return [[(each, 1), (each + 1, -1)] if self.signed else [(each, 1)] for each in positions]

    def constant(self, node: StatementNode) -> Terms:
        """The constant of a statement."""
        return [(self.starts[node.name] + node.depth * (2 if self.signed else 1), 1)]

    def sides(self) -> dict[str, Terms]:
        """Each statement's choice of a side, of a ``signed`` program."""
        return {node.name: [(self.end + index, 1)] for index, node in enumerate(self.nodes)}

    def sums(self) -> Iterator[Constraint]:
        """Sums are what they say."""
        for kind in (EdgeKind.ORDER,) if self.joint else (EdgeKind.ORDER, EdgeKind.INPUT):
            u, _ = self.bound(kind)
            yield _sum(self._distance(kind), u)
        constants = {position for node in self.nodes for position, _ in self.constant(node)}
        parts = [each for each in range(self.starts[self.nodes[0].name], self.end) if each not in constants]
        yield _sum(self.total, parts)

    def small(self) -> Iterator[Constraint]:
        """No variable but the sums is larger than coefficients usually are.

        Where cuts do not converge without bounds, they do so at once with them.
        """
        sums = {self._distance(EdgeKind.ORDER), self._distance(EdgeKind.INPUT), self.total}
        for position in range(self.variables):
            if position not in sums:
                yield Constraint(((position, -1),), LARGEST_COEFFICIENT)

    def hyperplane(self, values: Sequence[int]) -> Hyperplane:
        """The solution ``values`` as a row per statement."""

        def value(terms: Terms) -> int:
            return sum(values[position] * factor for position, factor in terms)

        return {
            node.name: Row(tuple(map(value, self.coefficients(node))), value(self.constant(node)))
            for node in self.nodes
        }

    def _distance(self, kind: EdgeKind) -> int:
        """Where the variables for edges of ``kind`` begin, with the sum of ``u``."""
        return self.total + 1 if kind is EdgeKind.INPUT and not self.joint else 0


def edge_constraints(
    edge: Edge, layout: VariableLayout, nodes: Mapping[str, StatementNode]
) -> Iterator[Constraint]:
    """What ``edge`` asks of the variables."""
    distance = _distance(edge, layout, nodes)
    backwards = [scale(each, -1) for each in distance]
    u, w = layout.bound(edge.kind)
    bound: list[Terms] = [[(w, 1)], *([(each, 1)] for each in u)]
    bound += [[] for _ in range(len(distance) - len(bound))]
    asked: list[Terms] = [[*limit, *step] for limit, step in zip(bound, backwards, strict=True)]
    if edge.kind is EdgeKind.INPUT:
        needs: list[list[Terms]] = [
            asked,
            [[*limit, *step] for limit, step in zip(bound, distance, strict=True)],
        ]
    elif edge.kind is EdgeKind.LOCAL:
        needs = [distance, backwards]
    else:
        needs = [distance, asked]
    for need in needs:
        yield from _nonnegative(edge, need)


def _nonnegative(edge: Edge, form: Sequence[Terms]) -> Iterator[Constraint]:
    """That ``form``, whose coefficients are expressions of the variables, is not negative on ``edge``."""
    for rows, equality in ((edge.forms.zero, True), (edge.forms.positive, False)):
        for row in rows:
            terms = [
                term for factor, each in zip(row, form, strict=True) if factor for term in scale(each, factor)
            ]
            yield Constraint(tuple(terms), equality=equality)


def _distance(edge: Edge, layout: VariableLayout, nodes: Mapping[str, StatementNode]) -> list[Terms]:
    """The form ``phi_target(t) - phi_source(s)``: its constant, and its coefficients of (p, s, t)."""
    source, target = nodes[edge.source], nodes[edge.target]
    return [
        [*layout.constant(target), *scale(layout.constant(source), -1)],
        *([] for _ in range(layout.parameters)),
        *(scale(each, -1) for each in _counters(source, layout)),
        *_counters(target, layout),
    ]


def _counters(node: StatementNode, layout: VariableLayout) -> list[Terms]:
    """The coefficients of a statement's counters: the loops', with the sign of their direction."""
    loops = zip(layout.coefficients(node), node.directions, strict=True)
    return [scale(each, direction) for each, direction in loops]


def _sum(position: int, parts: Sequence[int]) -> Constraint:
    return Constraint(((position, -1), *((each, 1) for each in parts)), equality=True)
