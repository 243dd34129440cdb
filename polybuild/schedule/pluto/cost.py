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

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from polybuild.schedule.pluto.model import Edge, EdgeKind, Hyperplane, Node, Row

_dim = isl.dim_type

# A linear expression of the program's variables: their positions and factors.
Terms = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Layout:
    """The positions of the variables for ``nodes`` under ``parameters`` many parameters."""

    nodes: tuple[Node, ...]
    parameters: int
    signed: bool
    joint: bool

    @property
    def space(self) -> isl.Space:
        """The space of the integer program."""
        return isl.Space.set_alloc(
            isl.DEFAULT_CONTEXT, 0, self._end + (len(self.nodes) if self.signed else 0)
        )

    @property
    def total(self) -> int:
        """The sum of the absolute values of all coefficients."""
        return self._bound_width

    def bound(self, kind: EdgeKind) -> tuple[list[int], int]:
        """The variables ``u`` and ``w`` that bound the edges of ``kind``."""
        first = self._reuse if kind is EdgeKind.INPUT and not self.joint else 0
        return [first + 1 + each for each in range(self.parameters)], first + 1 + self.parameters

    def coefficient(self, name: str, loop: int) -> Terms:
        """The coefficient of one loop of a statement."""
        node = self._node(name)
        step = 2 if self.signed else 1
        position = self._start(name) + (node.depth - 1 - loop) * step
        return [(position, 1), (position + 1, -1)] if self.signed else [(position, 1)]

    def counters(self, name: str) -> list[Terms]:
        """The coefficients of a statement's counters: the loops', with the sign of their direction."""
        return [
            scale(self.coefficient(name, loop), direction)
            for loop, direction in enumerate(self._node(name).directions)
        ]

    def constant(self, name: str) -> Terms:
        """The constant of a statement."""
        return [(self._start(name) + self._width(self._node(name)) - 1, 1)]

    def side(self, name: str) -> Terms:
        """The choice of a side, of a ``signed`` program."""
        return [(self._end + [each.name for each in self.nodes].index(name), 1)]

    def constraints(self) -> isl.BasicSet:
        """Nothing is negative, and sums are what they say."""
        space = self.space
        local = isl.LocalSpace.from_space(space)
        result = isl.BasicSet.positive_orthant(space)
        sums = [(0, [(each, 1) for each in self.bound(EdgeKind.ORDER)[0]])]
        if not self.joint:
            sums.append((self._reuse, [(each, 1) for each in self.bound(EdgeKind.INPUT)[0]]))
        parts = [
            (position, 1)
            for node in self.nodes
            for position in range(self._start(node.name), self._start(node.name) + self._width(node) - 1)
        ]
        sums.append((self.total, parts))
        for position, terms in sums:
            equality = isl.Constraint.alloc_equality(local)
            for variable, factor in [(position, -1), *terms]:
                equality = equality.set_coefficient_val(_dim.set, variable, isl.Val(factor))
            result = result.add_constraint(equality)
        return result

    def hyperplane(self, values: Sequence[int]) -> Hyperplane:
        """The solution ``values`` as a row per statement."""

        def value(terms: Terms) -> int:
            return sum(values[position] * factor for position, factor in terms)

        return {
            node.name: Row(
                tuple(value(self.coefficient(node.name, loop)) for loop in range(node.depth)),
                value(self.constant(node.name)),
            )
            for node in self.nodes
        }

    @property
    def _bound_width(self) -> int:
        return self.parameters + 2

    @property
    def _reuse(self) -> int:
        return self.total + 1

    def _node(self, name: str) -> Node:
        return next(each for each in self.nodes if each.name == name)

    @property
    def _end(self) -> int:
        last = self.nodes[-1]
        return self._start(last.name) + self._width(last)

    def _width(self, node: Node) -> int:
        return node.depth * (2 if self.signed else 1) + 1

    def _start(self, name: str) -> int:
        start = self._reuse + (0 if self.joint else self._bound_width)
        for node in self.nodes:
            if node.name == name:
                break
            start += self._width(node)
        return start


def edge_constraints(edge: Edge, layout: Layout) -> isl.BasicSet:
    """What ``edge`` asks of the variables."""
    distance = _distance(edge, layout)
    backwards = [scale(each, -1) for each in distance]
    u, w = layout.bound(edge.kind)
    bound: list[Terms] = [[(w, 1)], *([(each, 1)] for each in u)]
    bound += [[] for _ in range(len(distance) - len(bound))]
    asked = [[*limit, *step] for limit, step in zip(bound, backwards, strict=True)]
    if edge.kind is EdgeKind.INPUT:
        needs = [asked, [[*limit, *step] for limit, step in zip(bound, distance, strict=True)]]
    elif edge.kind is EdgeKind.LOCAL:
        needs = [distance, backwards]
    else:
        needs = [distance, asked]
    result = isl.BasicSet.universe(layout.space)
    for need in needs:
        result = result.intersect(_substitute(edge.forms, need, layout.space))
    return result


def scale(terms: Terms, factor: int) -> Terms:
    """``factor`` times a linear expression."""
    return [(position, each * factor) for position, each in terms]


def _distance(edge: Edge, layout: Layout) -> list[Terms]:
    """The form ``phi_target(t) - phi_source(s)``: its constant, and its coefficients of (p, s, t)."""
    return [
        [*layout.constant(edge.target), *scale(layout.constant(edge.source), -1)],
        *([] for _ in range(layout.parameters)),
        *(scale(each, -1) for each in layout.counters(edge.source)),
        *layout.counters(edge.target),
    ]


def _substitute(forms: isl.BasicSet, values: list[Terms], space: isl.Space) -> isl.BasicSet:
    """The variables for which the form with coefficients ``values`` is one of ``forms``."""
    local = isl.LocalSpace.from_space(space)
    affs = isl.AffList.alloc(isl.DEFAULT_CONTEXT, len(values))
    for terms in values:
        affine = isl.Aff.zero_on_domain(local)
        for position, factor in terms:
            affine = affine.add_coefficient_val(_dim.in_, position, isl.Val(factor))
        affs = affs.add(affine)
    map_space = isl.Space.map_from_domain_and_range(space, forms.get_space())
    return forms.preimage_multi_aff(isl.MultiAff.from_aff_list(map_space, affs))
