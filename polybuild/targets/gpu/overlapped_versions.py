"""What is copied around tiles that overlap: what versions begin with, what a tile loads, what it stores.

See ``overlapped_steps``. Of an array that steps write::

    V[0][x] = A[x]; V[1][x] = A[x]           before all tiles
    a[T][b][x] = V[T % 2][x]                 for all x that the tile touches, as a box
    V[(T + 1) % 2][x] = a[T][b][x]           for the tile's own part; the last tile of time: A[x] = a[T][b][x]
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.dependences import accesses_of
from polybuild.c.basic_types import LONG_LONG
from polybuild.c.syntax_tree import duplicate
from polybuild.scop.model import Access, AccessKind, Array, Iterator, Scop, Statement
from polybuild.targets.gpu.copy_statements import inside as within
from polybuild.targets.gpu.footprint import box_of
from polybuild.targets.gpu.overlapped_values import CarriedArray
from polybuild.targets.gpu.tile_caches import as_map
from polybuild.values import dataclass

_out, _set = isl.dim_type.out, isl.dim_type.set


@dataclass(frozen=True, slots=True)
class VersionStatements:
    """Makes the statements that copy arrays of ``scop``, whose tiles have ``widths`` along space.

    Their first counters are those of a tile: of time, and one along each dimension of space.
    """

    scop: Scop
    widths: tuple[int, ...]

    @property
    def depth(self) -> int:
        """How many counters a tile has."""
        return 1 + len(self.widths)

    def begin(self, name: str, carried: CarriedArray, when: isl.Set) -> Statement:
        """Both versions of an array get its old values."""
        array = carried.array
        elements = elements_between(self.scop, array).intersect_params(when)
        version = isl.Set("{ [q] : 0 <= q <= 1 }")
        domain = version.flat_product(elements.reset_tuple_id()).set_tuple_name(name)
        identity = domain.identity()
        read = identity.project_out(_out, 0, 1).set_tuple_name(_out, array.name)
        return self._assignment(
            name,
            domain,
            (carried.versions, identity.set_tuple_name(_out, carried.versions.name)),
            (array, read),
        )

    def load(
        self, name: str, carried: CarriedArray, copies: Sequence[Statement], stored: isl.Set | None
    ) -> Statement | None:
        """What ``copies`` of statements touch of an array, as boxes; None if there is no such box.

        Where nothing is ``stored`` it is what nothing writes of that.
        """
        inside, depth = carried.inside, self.depth
        there = elements_between(self.scop, carried.array).reset_tuple_id().insert_dims(_set, 0, depth)
        touched = isl.Set.empty(there.get_space()) if stored is None else stored
        for each in copies:
            for access in each.accesses_to(inside):
                if access.kind is AccessKind.READ:
                    touched = touched.union(access.relation.range().reset_tuple_id())
        box = box_of(as_map(touched, depth))
        if box is None:
            return None
        tiles = by_dimension(touched.project_out(_set, depth, touched.dim(_set) - depth))
        tiles = tiles.insert_dims(_set, depth, len(box.sizes))
        domain = within(box, there.get_space(), depth).intersect(there).intersect(tiles)
        if stored is None:
            _, must, _ = accesses_of(self.scop, carried.array)
            written = isl.Set.from_union_set(must.range()).reset_tuple_id().insert_dims(_set, 0, depth)
            domain = domain.intersect(touched.subtract(written))
        domain = domain.coalesce().set_tuple_name(name)
        target = domain.identity().set_tuple_name(_out, inside.name)
        return self._assignment(
            name, domain, (inside, target), (carried.versions, self._version(domain, carried, ahead=0))
        )

    def _version(self, domain: isl.Set, carried: CarriedArray, ahead: int) -> isl.Map:
        """``{ [T, b0, ..., x0, ...] -> versions[(T + ahead) % 2, x0, ...] }``."""
        depth = self.depth
        dims = [f"d{each}" for each in range(domain.dim(_set))]
        place = ", ".join(["q", *dims[depth:]])
        name = domain.get_tuple_name()
        relation = isl.Map(
            f"{{ {name}[{', '.join(dims)}] -> {carried.versions.name}[{place}] : q = (d0 + {ahead}) mod 2 }}"
        )
        return relation.intersect_domain(domain)

    def stored(self, carried: CarriedArray, waves: isl.Set) -> isl.Set:
        """``{ [T, b0, ..., x0, ...] }``: the part of tiles of all that steps write of an array."""
        _, must, _ = accesses_of(self.scop, carried.array)
        place = isl.Map.from_multi_aff(carried.place)
        space = range(len(self.widths))
        names = [f"s{k}" for k in space]
        bounds = [f"{width} b{k} <= s{k} < {width} b{k} + {width}" for k, width in enumerate(self.widths)]
        tiles = ", ".join(f"b{k}" for k in space)
        tile = isl.Map(f"{{ [{', '.join(names)}] -> [{tiles}] : {' and '.join(bounds)} }}")
        own = place.apply_range(tile).intersect_domain(isl.Set.from_union_set(must.range()))
        parts = own.reverse().reset_tuple_id(_out).wrap().flatten().coalesce()
        return waves.flat_product(parts).coalesce()

    def store(self, name: str, carried: CarriedArray, domain: isl.Set, *, late: bool) -> Statement:
        """A tile's own part of an array, where the region stores it (``late``) or in the other version."""
        domain = domain.set_tuple_name(name)
        depth = self.depth
        source = domain.identity().set_tuple_name(_out, carried.inside.name)
        if late:
            target = domain.identity().project_out(_out, 0, depth).set_tuple_name(_out, carried.array.name)
            return self._assignment(name, domain, (carried.array, target), (carried.inside, source))
        version = self._version(domain, carried, ahead=1)
        return self._assignment(name, domain, (carried.versions, version), (carried.inside, source))

    def _assignment(
        self, name: str, domain: isl.Set, target: tuple[Array, isl.Map], source: tuple[Array, isl.Map]
    ) -> Statement:
        place = target[0].location
        nodes = [
            duplicate(array.expression) if array.expression is not None else c_ast.ID(array.name)
            for array, _ in (target, source)
        ]
        reads = Access(source[0], source[1], AccessKind.READ, nodes[1], certain=True)
        writes = Access(target[0], target[1], AccessKind.WRITE, nodes[0], certain=True)
        iterators = tuple(
            Iterator(f"polybuild_d{each}", LONG_LONG, place) for each in range(domain.dim(_set))
        )
        body = c_ast.Assignment("=", nodes[0], nodes[1])
        domain = named(domain, iterators)
        first = self.scop.statements[0]
        return Statement(name, domain, iterators, body, (reads, writes), first.location, first.end_line)


def elements_between(scop: Scop, array: Array) -> isl.Set:
    """All elements that ``scop`` touches, and those between them."""
    reads, must, may = accesses_of(scop, array)
    touched = isl.Set.from_union_set(reads.union(must).union(may).range()).intersect_params(scop.context)
    return by_dimension(touched).set_tuple_name(array.name)


def by_dimension(points: isl.Set) -> isl.Set:
    """The least box around ``points``, of which each side is a hull."""
    sides = []
    for position in range(points.dim(_set)):
        after = points.dim(_set) - position - 1
        side = points.project_out(_set, position + 1, after).project_out(_set, 0, position).reset_tuple_id()
        hull = isl.Set.from_basic_set(side.remove_divs().simple_hull())
        bounded = hull.dim_has_lower_bound(_set, 0) and hull.dim_has_upper_bound(_set, 0)
        sides.append(hull if bounded else _between(side.dim_min(0), side.dim_max(0)))
    return reduce(isl.Set.flat_product, sides)


def _between(low: isl.PwAff, high: isl.PwAff) -> isl.Set:
    """``{ [x] : low <= x <= high }``, functions of the parameters."""
    space = isl.Set("{ [x] }").align_params(low.get_space()).get_space()
    value = isl.PwAff.var_on_domain(isl.LocalSpace.from_space(space), _set, 0)
    ends = [each.insert_domain(space) for each in (low, high)]
    return value.ge_set(ends[0]).intersect(value.le_set(ends[1])).coalesce()


def named(domain: isl.Set, iterators: Sequence[Iterator]) -> isl.Set:
    """``domain`` whose dimensions have the names of ``iterators``."""
    for position, each in enumerate(iterators):
        domain = domain.set_dim_name(_set, position, each.name)
    return domain
