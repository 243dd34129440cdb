"""What the scheduler works on, and what it finds.

A hyperplane gives each statement one affine expression of its counters. The coefficients
are those of the *loops*, outermost first: of the counter where it ascends and of its
negative where it descends, so that the original order is a set of hyperplanes without
negative coefficients.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

import islpy as isl

from polybuild.schedule.pluto.farkas import Forms
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class StatementNode:
    """A statement: its domain, and per loop 1 if its counter ascends, -1 if it descends."""

    name: str
    domain: isl.Set
    directions: tuple[int, ...]

    @property
    def depth(self) -> int:
        """The number of loops around the statement."""
        return len(self.directions)


class EdgeKind(Enum):
    """What an edge asks of a hyperplane."""

    ORDER = "order"  # the source comes no later than the target
    LOCAL = "local"  # both on the same hyperplane: the value of a private array must not move
    INPUT = "input"  # nothing, but the nearer the better: both read the same element


@dataclass(frozen=True, slots=True)
class Edge:
    """Pairs of instances of two statements; ``relation`` maps the earlier to the later.

    It may hold more pairs than there are, as ``large_constants`` makes it. ``forms`` are the affine
    forms that are non-negative on it.
    """

    source: str
    target: str
    relation: isl.Map
    kind: EdgeKind
    forms: Forms


@dataclass(frozen=True, slots=True)
class Row:
    """One statement's part of a hyperplane: ``coefficients`` of its loops, plus ``constant``."""

    coefficients: tuple[int, ...]
    constant: int


Hyperplane = Mapping[str, Row]


@dataclass(frozen=True, slots=True)
class StatementLeaf:
    """The instances of one statement, to which the tree above gives different time stamps."""

    statement: str


@dataclass(frozen=True, slots=True)
class StatementSequence:
    """Sets of statements that run one after the other."""

    children: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class HyperplaneBand:
    """Permutable hyperplanes, outermost first; ``coincident`` ones carry no dependence."""

    hyperplanes: tuple[Hyperplane, ...]
    coincident: tuple[bool, ...]
    child: Tree


Tree = StatementLeaf | StatementSequence | HyperplaneBand


def statements_of(tree: Tree) -> tuple[str, ...]:
    """The statements below ``tree``, in their order there."""
    if isinstance(tree, StatementLeaf):
        return (tree.statement,)
    if isinstance(tree, HyperplaneBand):
        return statements_of(tree.child)
    return tuple(name for child in tree.children for name in statements_of(child))
