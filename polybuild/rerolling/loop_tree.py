"""The original order of a region as loops and blocks, read from its schedule tree.

What ``scop/order.py`` builds a schedule from, found again in the schedule: passes over the model look at
loops that follow each other in it, and build a schedule of what they leave of them.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping

import islpy as isl

from polybuild.poly.relations import sets_of, tuple_name
from polybuild.poly.trees import children, node_kind
from polybuild.values import dataclass

_in, _out = isl.dim_type.in_, isl.dim_type.out
_KIND = isl.schedule_node_type


@dataclass(frozen=True, slots=True)
class Leaf:
    """A statement, by its name."""

    statement: str


@dataclass(frozen=True, slots=True)
class Block:
    """Parts that run one after the other."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop that counts ``values``, the schedule of the statements in it, up."""

    values: isl.UnionPwAff
    body: Part


Part = Leaf | Block | Loop


def loop_tree(schedule: isl.Schedule) -> Part | None:
    """The loops and blocks of ``schedule``; None for one that no region starts with.

    Each loop counts the dimension of its statements that is as deep as it is: those over hand-made blocks,
    whose counters were projected out, do not.
    """
    root = schedule.get_root()
    return _read(root.child(0), 0) if node_kind(root) == _KIND.domain else None


def _read(node: isl.ScheduleNode, depth: int) -> Part | None:
    kind = node_kind(node)
    if kind == _KIND.leaf:
        names = [tuple_name(each) for each in sets_of(node.get_domain())]
        return Leaf(names[0]) if len(names) == 1 else None
    if kind == _KIND.filter:
        return _read(node.child(0), depth)
    if kind == _KIND.sequence:
        parts = [_read(each, depth) for each in children(node)]
        read = tuple(each for each in parts if each is not None)
        return Block(read) if len(read) == len(parts) else None
    if kind == _KIND.band and node.band_n_member() == 1:
        values = node.band_get_partial_schedule().get_union_pw_aff(0)
        body = _read(node.child(0), depth + 1) if _counts(values, depth) else None
        return body and Loop(values, body)
    return None


def _counts(values: isl.UnionPwAff, position: int) -> bool:
    """Whether ``values`` counts dimension ``position`` of all its statements."""
    counters = values.get_pw_aff_list()
    each = [counters.get_at(index) for index in range(counters.n_pw_aff())]
    return all(one.dim(_in) > position and one.involves_dims(_in, position, 1) for one in each)


def statements_of(part: Part) -> Iterator[str]:
    """The names of the statements in ``part``, in textual order."""
    if isinstance(part, Leaf):
        yield part.statement
    else:
        for each in part.parts if isinstance(part, Block) else (part.body,):
            yield from statements_of(each)


def schedule_of(
    part: Part, domains: Mapping[str, isl.Set], place: int, joined: Collection[str]
) -> isl.Schedule | None:
    """The schedule of the statements in ``domains`` in the order of ``part``; None if that says too little.

    Those in ``joined`` run more often than the loop of dimension ``place`` says: they follow their counter.
    """
    return _Order(domains, place, joined).of(part, 0)


@dataclass(frozen=True, slots=True)
class _Order:
    """Statements that are wanted in an order, as of ``schedule_of``."""

    domains: Mapping[str, isl.Set]
    place: int
    joined: Collection[str]

    def of(self, part: Part, depth: int) -> isl.Schedule | None:
        """The schedule of what ``part`` has of the statements, in ``depth`` loops."""
        if isinstance(part, Leaf):
            return isl.Schedule.from_domain(isl.UnionSet.from_set(self.domains[part.statement]))
        if isinstance(part, Block):
            there = [each for each in part.parts if not self.domains.keys().isdisjoint(statements_of(each))]
            schedules = [self.of(each, depth) for each in there]
            present = [each for each in schedules if each is not None]
            if len(present) < len(schedules):
                return None
            return functools.reduce(lambda first, then: first.sequence(then), present)
        names = [each for each in statements_of(part) if each in self.domains]
        counters = [self._counter(part, each, depth) for each in names]
        pieces = [isl.UnionPwAff.from_pw_aff(each) for each in counters if each is not None]
        inner = self.of(part.body, depth + 1)
        if inner is None or len(pieces) < len(names):
            return None
        values = functools.reduce(lambda left, right: left.union_add(right), pieces)
        return inner.insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(values))

    def _counter(self, loop: Loop, name: str, depth: int) -> isl.PwAff | None:
        """What ``loop`` counts for a statement; None where it does not say that."""
        domain = self.domains[name]
        space = domain.get_space()
        value = loop.values.extract_pw_aff(space.from_domain().add_dims(_out, 1))
        if name in self.joined and depth == self.place:
            counter = isl.PwAff.var_on_domain(isl.LocalSpace.from_space(space), isl.dim_type.set, depth)
            return counter.neg() if runs_down(value, depth) else counter
        return value if domain.is_subset(value.domain()) else None


def runs_down(value: isl.PwAff, position: int) -> bool:
    """Whether ``value``, what a loop counts, falls while dimension ``position`` rises."""
    pieces = value.get_pieces()
    return any(piece.get_coefficient_val(_in, position).is_neg() for _, piece in pieces)
