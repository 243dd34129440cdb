"""The scheduling problem of one region: its statements and the edges between them."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.polyhedral import maps_of
from polybuild.schedule.pluto.farkas import nonnegative_forms
from polybuild.schedule.pluto.model import Edge, EdgeKind, Node
from polybuild.scop.model import AccessKind, Scop

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
class Problem:
    """``nodes`` in textual order; ``edges`` are dependences and pairs of reads."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    private: tuple[PrivateEdges, ...]
    parameters: int


def build_problem(scop: Scop, dependences: Dependences) -> Problem:
    """The problem of ordering ``scop``."""
    directions = _directions(scop)
    nodes = tuple(
        Node(each.name, each.domain, directions.get(each.name, (1,) * int(each.domain.dim(_dim.set))))
        for each in scop.statements
    )
    edges = _edges(scop, dependences.validity, EdgeKind.ORDER)
    edges += _edges(scop, _reads_of_same(scop, dependences), EdgeKind.INPUT)
    private = tuple(
        PrivateEdges(
            each.array.name,
            tuple(_edges(scop, each.flow, EdgeKind.LOCAL)),
            tuple(_edges(scop, each.order, EdgeKind.ORDER)),
        )
        for each in dependences.private
    )
    return Problem(nodes, tuple(edges), private, int(scop.context.dim(_dim.param)))


def _edges(scop: Scop, relation: isl.UnionMap, kind: EdgeKind) -> list[Edge]:
    edges = []
    for each in maps_of(relation):
        aligned = each.align_params(scop.context.get_space()).intersect_params(scop.context).coalesce()
        if not aligned.is_empty():
            source, target = (aligned.get_tuple_name(side) for side in (_dim.in_, _dim.out))
            edges.append(Edge(source, target, aligned, kind, nonnegative_forms(aligned)))
    return edges


def _reads_of_same(scop: Scop, dependences: Dependences) -> isl.UnionMap:
    """From each read to the next one of the same element; private arrays stay in the cache anyway."""
    private = {each.array.name for each in dependences.private}
    reads = isl.UnionMap.empty(scop.context.get_space())
    for each in maps_of(scop.accesses(AccessKind.READ)):
        if each.get_tuple_name(_dim.out) not in private:
            reads = reads.union(isl.UnionMap.from_map(each))
    flow = (
        isl.UnionAccessInfo.from_sink(reads).set_must_source(reads).set_schedule(scop.schedule).compute_flow()
    )
    return flow.get_must_dependence()


def _directions(scop: Scop) -> dict[str, tuple[int, ...]]:
    """Per statement and counter, whether the original order goes up or down with it."""
    found: dict[str, tuple[int, ...]] = {}
    for each in maps_of(scop.schedule.get_map()):
        date = isl.PwMultiAff.from_map(each)
        signs = [1] * int(each.dim(_dim.in_))
        for dim in reversed(range(date.dim(_dim.out))):
            for _, affine in date.get_pw_aff(dim).get_pieces():
                for counter in range(len(signs)):
                    sign = affine.get_coefficient_val(_dim.in_, counter).to_python()
                    signs[counter] = -1 if sign < 0 else 1 if sign > 0 else signs[counter]
        found[each.get_tuple_name(_dim.in_)] = tuple(signs)
    return found
