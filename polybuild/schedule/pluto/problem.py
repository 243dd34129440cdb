"""The scheduling problem of one region: its statements and the edges between them."""

from __future__ import annotations

from collections import Counter
from itertools import chain

import islpy as isl

from polybuild.analysis.array_flow import flow_between
from polybuild.analysis.dependences import Dependences
from polybuild.poly.relations import maps_of, union_of
from polybuild.schedule.large_constants import LargeConstants
from polybuild.schedule.pluto.farkas import nonnegative_forms
from polybuild.schedule.pluto.model import Edge, EdgeKind, StatementNode
from polybuild.scop.model import AccessKind, Scop
from polybuild.values import dataclass

_dim = isl.dim_type


@dataclass(frozen=True, slots=True)
class PrivateEdges:
    """The edges of one private array, of which either set must be respected.

    Either no value moves (``local``), and then its live ranges may run in any order,
    or every access comes before the later writes of its element (``order``).
    """

    name: str
    local: tuple[Edge, ...]
    order: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class SchedulingProblem:
    """``nodes`` in textual order; ``edges`` are dependences and pairs of reads.

    ``parameters`` is the number of the edges' parameters: the region's, and the sizes in its bounds.
    """

    nodes: tuple[StatementNode, ...]
    edges: tuple[Edge, ...]
    private: tuple[PrivateEdges, ...]
    parameters: int


def build_problem(scop: Scop, dependences: Dependences) -> SchedulingProblem:
    """The problem of ordering ``scop``."""
    pairs = {
        EdgeKind.ORDER: _pairs(scop, dependences.validity),
        EdgeKind.INPUT: _pairs(scop, _reads_of_same(scop, dependences)),
    }
    private = [(_pairs(scop, each.flow), _pairs(scop, each.order)) for each in dependences.private]
    sizes = LargeConstants.of(chain(*pairs.values(), *chain(*private)))
    directions = _directions(scop)
    nodes = tuple(
        StatementNode(
            each.name, each.domain, directions.get(each.name, (1,) * int(each.domain.dim(_dim.set)))
        )
        for each in scop.statements
    )
    edges = [edge for kind, relations in pairs.items() for edge in _edges(relations, kind, sizes)]
    groups = tuple(
        PrivateEdges(
            each.array.name,
            tuple(_edges(flow, EdgeKind.LOCAL, sizes)),
            tuple(_edges(order, EdgeKind.ORDER, sizes)),
        )
        for each, (flow, order) in zip(dependences.private, private, strict=True)
    )
    parameters = int(scop.context.dim(_dim.param)) + len(sizes.smallest)
    return SchedulingProblem(nodes, tuple(edges), groups, parameters)


def _pairs(scop: Scop, relation: isl.UnionMap) -> list[isl.Map]:
    """The relations in ``relation`` that hold pairs of instances in the context."""
    aligned = (
        each.align_params(scop.context.get_space()).intersect_params(scop.context).coalesce()
        for each in maps_of(relation)
    )
    return [each for each in aligned if not each.is_empty()]


def _edges(relations: list[isl.Map], kind: EdgeKind, sizes: LargeConstants) -> list[Edge]:
    edges = []
    for each in relations:
        source, target = (each.get_tuple_name(side) for side in (_dim.in_, _dim.out))
        relation = sizes.abstract(each)
        edges.append(Edge(source, target, relation, kind, nonnegative_forms(relation)))
    return edges


def _reads_of_same(scop: Scop, dependences: Dependences) -> isl.UnionMap:
    """From each read to the next one of the same element; private arrays stay in the cache anyway.

    What a statement reads in several places of an array that it writes is tied to what is written in between,
    by flow and anti dependences, and the pairs of so many reads are the ones that take isl longest.
    """
    private = {each.array.name for each in dependences.private}
    writes = scop.accesses(AccessKind.WRITE, AccessKind.MAY_WRITE)
    counts = Counter(
        (statement.name, access.array.name)
        for statement in scop.statements
        for access in statement.accesses
        if access.kind is AccessKind.READ
    )
    tied = {names for each in maps_of(writes) if counts[names := _names_of(each)] > 1}
    reads = [
        each
        for each in maps_of(scop.accesses(AccessKind.READ))
        if each.get_tuple_name(_dim.out) not in private and _names_of(each) not in tied
    ]
    sinks = union_of(reads, scop.context.get_space())
    return flow_between(scop, sinks, must=sinks).certain.range_factor_domain()


def _names_of(access: isl.Map) -> tuple[str, str]:
    """The names of the statement and the array that are related."""
    return access.get_tuple_name(_dim.in_), access.get_tuple_name(_dim.out)


def _directions(scop: Scop) -> dict[str, tuple[int, ...]]:
    """Per statement and counter, whether the original order goes up or down with it."""
    found: dict[str, tuple[int, ...]] = {}
    for each in maps_of(scop.schedule.get_map()):
        time_stamp = isl.PwMultiAff.from_map(each)
        signs = [1] * int(each.dim(_dim.in_))
        for dim in reversed(range(time_stamp.dim(_dim.out))):
            for _, affine in time_stamp.get_pw_aff(dim).get_pieces():
                for counter in range(len(signs)):
                    sign = affine.get_coefficient_val(_dim.in_, counter).sgn()
                    signs[counter] = -1 if sign < 0 else 1 if sign > 0 else signs[counter]
        found[each.get_tuple_name(_dim.in_)] = tuple(signs)
    return found
