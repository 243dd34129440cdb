"""The values of one variable, apart from each other: webs, and the iterations that each value belongs to.

A web is what definitions and uses that reach each other share (Muchnick 1997, section 16.3.3); two webs of a
variable could be two variables. Where every value of a web is used in the iteration of the outer loops
that wrote it, the variable could be an array with one dimension for each of these loops (array
expansion, Feautrier 1988): its *cells* are those of that array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import islpy as isl

from polybuild.analysis.dependences import accesses_of, flow_dependences
from polybuild.c.syntax_tree import walk
from polybuild.poly.relations import equal_outer, maps_of
from polybuild.poly.spaces import outer_loops
from polybuild.scop.model import Access, AccessKind, Array, Iterator, Scop, Statement
from polybuild.values import dataclass

_in, _out = isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True, slots=True)
class Web:
    """Accesses of ``array`` that share values; no value is used outside of the iteration that wrote it.

    ``readers`` and ``writers`` are names of statements, ``depth`` is the number of outer loops of all of them
    in whose iterations the values stay.
    """

    array: Array
    readers: frozenset[str]
    writers: frozenset[str]
    depth: int

    def has(self, statement: Statement, access: Access) -> bool:
        """Whether ``access``, one of ``statement``, is part of the web."""
        if access.array.name != self.array.name:
            return False
        return statement.name in (self.readers if access.kind is AccessKind.READ else self.writers)

    def cells(self, access: Access) -> isl.Map:
        """``{ S[i] -> [i[0], ..., i[depth - 1], x] }``: the cell that ``access`` touches in each instance."""
        relation = access.relation.reset_tuple_id(_out)
        loops = outer_loops(relation.get_space().domain(), self.depth)
        return isl.Map.from_multi_aff(loops).flat_range_product(relation)

    def kept_in(
        self, scop: Scop, array: Array, places: Callable[[isl.Map], isl.Map]
    ) -> tuple[Statement, ...]:
        """The statements of ``scop`` with elements of ``array`` in place of the cells of the web.

        ``places`` gives the elements that an access touches, for the cells that it touches now.
        """

        def moved(statement: Statement, access: Access) -> Access:
            if not self.has(statement, access):
                return access
            return replace(access, array=array, relation=places(self.cells(access)))

        def changed(statement: Statement) -> Statement:
            moving = [each for each in statement.accesses if self.has(statement, each)]
            gone = {id(part) for each in moving for part in walk(each.node)}
            return replace(
                statement,
                accesses=tuple(moved(statement, each) for each in statement.accesses),
                locals=tuple((node, named) for node, named in statement.locals if id(node) not in gone),
            )

        return tuple(map(changed, scop.statements))


def may_outlast_loops(scop: Scop, array: Array) -> bool:
    """Whether values of ``array`` could be used in loops inside of those that they are private to.

    That looks at the loops around its accesses alone: where it is not so, no web of it outlasts a loop.
    """
    nests: dict[Iterator, list[tuple[Statement, Access]]] = {}
    for statement, access in _accesses(scop, array):
        if statement.iterators:
            nests.setdefault(statement.iterators[0], []).append((statement, access))
    return any(_has_inner_reader(each) for each in nests.values())


def _has_inner_reader(accesses: Sequence[tuple[Statement, Access]]) -> bool:
    """Whether one of ``accesses``, which share a loop, reads in more loops than all of them share."""
    shared = min(len(statement.iterators) for statement, _ in accesses)
    while len({statement.iterators[:shared] for statement, _ in accesses}) > 1:
        shared -= 1
    return any(access.kind is not AccessKind.READ for _, access in accesses) and any(
        access.kind is AccessKind.READ and len(statement.iterators) > shared for statement, access in accesses
    )


def webs_of(scop: Scop, array: Array, *, dynamic: bool = False) -> list[Web]:
    """The webs of ``array`` whose values stay within iterations of one loop at least; none in doubt.

    Every access of a web has to be exact and certain, and no value may come from before the region. With
    ``dynamic`` it may be in loops whose bounds are data, and happen in some of their iterations.
    """
    reads, writes, may_writes = accesses_of(scop, array)
    nothing_hidden = isl.UnionMap.empty(reads.get_space())
    flow, old = flow_dependences(scop, reads, writes, may_writes, nothing_hidden)
    pairs = [each for each in maps_of(flow) if not each.is_empty()]
    doubtful = {(each.get_tuple_name(_in), False) for each in maps_of(old) if not each.is_empty()}
    doubtful |= {
        (statement.name, access.kind is not AccessKind.READ)
        for statement, access in _accesses(scop, array)
        if not access.exact
        or (statement.dynamic and not dynamic)
        or (access.kind is AccessKind.MAY_WRITE and not statement.dynamic)
    }
    components = _components(scop, array, pairs)
    found = (_web(scop, array, each, pairs) for each in components if each.isdisjoint(doubtful))
    return [each for each in found if each.depth > 0]


_Node = tuple[str, bool]  # a statement, and whether it writes


def _accesses(scop: Scop, array: Array) -> list[tuple[Statement, Access]]:
    return [
        (statement, access)
        for statement in scop.statements
        for access in statement.accesses
        if access.array.name == array.name
    ]


def _components(scop: Scop, array: Array, pairs: list[isl.Map]) -> list[set[_Node]]:
    """Reads and writes that share values, or a place in the text (``s += x``)."""
    components: list[set[_Node]] = []

    def join(*nodes: _Node) -> None:
        touched = [each for each in components if not each.isdisjoint(nodes)]
        for each in touched:
            components.remove(each)
        components.append(set(nodes).union(*touched))

    by_node: dict[int, list[_Node]] = {}
    for statement, access in _accesses(scop, array):
        by_node.setdefault(id(access.node), []).append((statement.name, access.kind is not AccessKind.READ))
    for nodes in by_node.values():
        join(*nodes)
    for each in pairs:
        join((each.get_tuple_name(_in), True), (each.get_tuple_name(_out), False))
    return components


def _web(scop: Scop, array: Array, nodes: set[_Node], pairs: list[isl.Map]) -> Web:
    readers = frozenset(name for name, writes in nodes if not writes)
    writers = frozenset(name for name, writes in nodes if writes)
    depth = min(
        len(each.iterators) for each in scop.statements if each.name in readers or each.name in writers
    )
    for each in pairs:
        if each.get_tuple_name(_out) in readers:
            depth = _equal_outer(each, depth)
    return Web(array, readers, writers, depth)


def _equal_outer(pairs: isl.Map, maximum: int) -> int:
    """How many outer dimensions, at most ``maximum``, are equal in all of ``pairs``."""
    for position in range(maximum):
        if not pairs.is_subset(equal_outer(pairs, position + 1)):
            return position
    return maximum
