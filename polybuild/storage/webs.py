"""The values of one variable, apart from each other: webs, and the iterations that each value belongs to.

A web is what definitions and uses that reach each other share (Muchnick 1997, section 16.3.3); two webs of a
variable could be two variables. Where every value of a web is used in the iteration of the outer loops
that wrote it, the variable could be an array with one dimension for each of these loops (array
expansion, Feautrier 1988): its *cells* are those of that array.
"""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from polybuild.analysis.dependences import accesses_of, flow_dependences
from polybuild.poly.relations import maps_of
from polybuild.scop.model import Access, AccessKind, Array, Scop, Statement

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
        instances = relation.get_space().domain().map_from_set()
        outer = isl.Map.identity(instances).reset_tuple_id(_out)
        outer = outer.project_out(_out, self.depth, outer.dim(_out) - self.depth)
        return outer.flat_range_product(relation)


def webs_of(scop: Scop, array: Array) -> list[Web]:
    """The webs of ``array`` whose values stay within iterations of one loop at least; none in doubt.

    Every access has to be exact and certain, and no value may come from before the region.
    """
    if not all(
        access.exact and access.kind is not AccessKind.MAY_WRITE and not statement.dynamic
        for statement, access in _accesses(scop, array)
    ):
        return []
    reads, writes, may_writes = accesses_of(scop, array)
    nothing_hidden = isl.UnionMap.empty(reads.get_space())
    flow, old = flow_dependences(scop, reads, writes, may_writes, nothing_hidden)
    if not old.is_empty():
        return []
    pairs = [each for each in maps_of(flow) if not each.is_empty()]
    found = (_web(scop, array, each, pairs) for each in _components(scop, array, pairs))
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
        if not pairs.is_subset(isl.Map.universe(pairs.get_space()).equate(_in, position, _out, position)):
            return position
    return maximum
