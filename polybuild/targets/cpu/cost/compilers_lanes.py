"""Which innermost loops a compiler computes in lanes by itself, where it keeps their order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import combinations

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.branch_free import branch_free
from polybuild.analysis.dependences import Dependences
from polybuild.c.syntax_tree import key
from polybuild.context import CompilerRules, Masks
from polybuild.effort import MINIMUM_SIZES, NOMINAL_SIZE
from polybuild.machine.model import Machine
from polybuild.poly.memory import Itself
from polybuild.poly.relations import lexicographically_after, maps_of, sets_of, tuple_name, union_of
from polybuild.poly.spaces import constant_value
from polybuild.poly.trees import descendants, is_band, prefix_schedule
from polybuild.scop.model import Access, AccessKind, Array, Scop, Statement
from polybuild.targets.cpu.carried import carried_by_last
from polybuild.targets.cpu.cost.chosen_updates import has_chosen_updates
from polybuild.targets.cpu.cost.if_conversion import converts
from polybuild.targets.cpu.cost.unknown_strides import has_unknown_stride
from polybuild.targets.cpu.invariant_reads import invariant_reads
from polybuild.targets.cpu.strides import Reference, Stride, references
from polybuild.targets.cpu.vectorise import find_vector_loop, has_loops
from polybuild.transform.full_unrolling import outside_unrolled
from polybuild.values import dataclass

_in, _out, _set = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set

Aliases = Callable[[Array, Array], bool]


def nowhere(_first: Array, _second: Array) -> bool:
    """That no two arrays are the same memory."""
    return False


@dataclass(frozen=True, slots=True)
class CompilersLanes:
    """A compiler that respects ``dependences`` in ``scop``, and knows as much of ``aliases`` as these tell.

    The rules of ``compiler`` say what it does by itself. It takes no loop that writes to
    ``clobbering`` arrays: bounds and base pointers are not invariant in it, for all that it knows. Counters
    of ``generated`` loops are wide.
    """

    scop: Scop
    dependences: Dependences
    machine: Machine
    aliases: Aliases
    compiler: CompilerRules
    clobbering: frozenset[str] = frozenset()
    generated: bool = False

    def takes(self, node: isl.ScheduleNode) -> bool:
        """Whether a compiler computes the last loop of an innermost band in lanes: it keeps the order."""
        accesses = references(self.scop, node)
        if self._overlapping_pairs(node, accesses) > self.compiler.vectors.compared_pairs or self._clobbers(
            accesses
        ):
            return False
        if not self._converts(node, accesses) or self._goes_back(node, accesses):
            return False
        last = node.band_n_member() - 1
        if self._has_unknown_strides(accesses) or has_chosen_updates(
            accesses, last, generated=self.generated
        ):
            return False
        return self._runs_in_lanes(node, accesses, self.dependences) or (
            not carried_by_last(node, self.dependences.carried).is_empty()
            and self._runs_in_lanes(node, accesses, self._left_to_lanes(node))
        )

    def converts(self, node: isl.ScheduleNode, accumulating: Collection[str] = ()) -> bool:
        """Whether a compiler takes a generated loop to lanes in spite of its conditions.

        What it reads again and again is in variables, and so are arrays ``accumulating`` what it computes.
        """
        if self.compiler.vectors.speculates:
            return True
        accesses = references(self.scop, node)
        hoisted = {id(each.access.node) for each in accesses if each.access.array.name in accumulating}
        if node.band_n_member() == 1:
            hoisted |= invariant_reads(node, accesses, self.scop)
        return self._converts(node, accesses, hoisted=hoisted)

    def _converts(
        self,
        node: isl.ScheduleNode,
        accesses: Sequence[Reference],
        masks: Masks | None = None,
        hoisted: Collection[int] = (),
    ) -> bool:
        """The same of a band with ``accesses`` below it, with ``masks`` or those that there are."""
        last, names = node.band_n_member() - 1, self.scop.type_names
        types = {
            each.expression.name: each.type
            for each in self.scop.parameters
            if isinstance(each.expression, c_ast.ID)
        }
        compiler = self.compiler
        if masks is not None:
            compiler = replace(compiler, vectors=replace(compiler.vectors, masks=masks))
        known = None if self.generated else types
        free = branch_free(Itself(self.scop)) if self.generated else frozenset[int]()
        return converts(accesses, last, names, compiler, known, hoisted=hoisted, branch_free=free)

    def takes_around(self, node: isl.ScheduleNode) -> bool:
        """Whether a compiler computes the last loop of a band in lanes that has loops inside.

        That is one loop which surely runs, as often in each lane, and is not in lanes itself; what it has
        inside is unrolled. It needs ``outer_lanes``. What is under conditions there has no masks, and what is
        ``generated`` does not say that an element which the loop inside stores again and again may wait.
        """
        inside = [each for each in outside_unrolled(node.child(0)) if is_band(each)]
        if not self.compiler.vectors.outer_lanes or len(inside) != 1 or inside[0].band_n_member() != 1:
            return False
        accesses = references(self.scop, node)
        return (
            self._converts(node, accesses, Masks.NONE)
            and self._overlapping_pairs(node, accesses) == 0
            and self._runs_in_lanes(node, accesses, self.dependences)
            and not (self.generated and self._stores_again(inside[0]))
            and constant_trips(inside[0]) is not None
            and not self.takes(inside[0])
        )

    def _stores_again(self, loop: isl.ScheduleNode) -> bool:
        """Whether ``loop``, of one member, stores to the same element in each iteration."""
        written = (each for each in references(self.scop, loop) if each.access.kind is not AccessKind.READ)
        return any(each.access.array.extents and each.stride(0) is Stride.NONE for each in written)

    def _goes_back(self, node: isl.ScheduleNode, accesses: Sequence[Reference]) -> bool:
        """Whether ``accesses`` below ``node`` go back over elements that lie apart, which few compilers take.

        One store for each structure may, as its elements are stored one by one.
        """
        last = node.band_n_member() - 1
        back = [each for each in accesses if each.access.array.extents and each.goes_back_far(last)]
        stored = [each for each in back if each.access.kind is not AccessKind.READ]
        return not self.compiler.vectors.backwards and (len(stored) < len(back) or len(stored) > 1)

    def _has_unknown_strides(self, accesses: Sequence[Reference]) -> bool:
        """Whether the text of the program does not tell which elements follow each other."""
        if self.generated or self.compiler.vectors.tries_strides:
            return False
        return any(has_unknown_stride(each.access.node, self.scop.parameters) for each in accesses)

    def _clobbers(self, accesses: Sequence[Reference]) -> bool:
        """Whether a write among ``accesses`` may change bounds or base pointers."""
        written = (each.access for each in accesses if each.access.kind is not AccessKind.READ)
        return any(each.array.name in self.clobbering for each in written)

    def _overlapping_pairs(self, node: isl.ScheduleNode, accesses: Sequence[Reference]) -> int:
        """How many pairs of ``accesses`` below ``node``, one of them a write, may be to the same memory.

        Those of an array that the loops move alike are one, as ``a[i]`` and ``a[i + 1]``, and so are
        members of its structures. Rows are not whose distance is no constant.
        """
        arrays = {key(each.access.array.expression): each.access.array for each in accesses}
        copies = self._copies(node)
        places = [(key(each.access.array.expression), each.matrix, _row_of(each.access)) for each in accesses]
        rows: dict[tuple[object, ...], int] = {}
        for place, each in zip(places, accesses, strict=True):
            rows[place] = max(rows.get(place, 1), copies.get(id(each.access.node), 1))
        written = {
            place
            for place, each in zip(places, accesses, strict=True)
            if each.access.kind is not AccessKind.READ
        }
        every, read = Counter[object](), Counter[object]()
        for row, count in rows.items():
            every[row[0]] += count
            read[row[0]] += count * (row not in written)
        return sum(
            every[one] * every[other] - read[one] * read[other]
            for one, other in combinations(arrays, 2)
            if self.aliases(arrays[one], arrays[other])
        )

    def _copies(self, node: isl.ScheduleNode) -> dict[int, int]:
        """How many rows of arrays nodes (by identity) access in the loops unrolled in ``node``."""
        kept = [each for each in outside_unrolled(node.child(0)) if is_band(each)]
        copies: dict[int, int] = {}
        for band in (each for each in descendants(node.child(0)) if is_band(each)):
            trips = None if any(each.is_equal(band) for each in kept) else constant_trips(band)
            for each in references(self.scop, band) if trips is not None else ():
                if not _is_rigid(each.access.array) and any(any(row) for row in each.matrix[:-1]):
                    copies[id(each.access.node)] = copies.get(id(each.access.node), 1) * (trips or 1)
        return copies

    def _runs_in_lanes(
        self, node: isl.ScheduleNode, accesses: list[Reference], dependences: Dependences
    ) -> bool:
        """Whether the last loop of a band may run in lanes, and none around it is better for that."""
        found = find_vector_loop(node, accesses, dependences, self.machine)
        return found is not None and found.member == node.band_n_member() - 1 and not found.groups

    def _left_to_lanes(self, node: isl.ScheduleNode) -> Dependences:
        """The dependences that lanes break where each statement below ``node`` runs in all of them at once.

        They keep what goes to a statement further down (Allen and Kennedy, TOPLAS 1987), and what a statement
        reads before other instances of it overwrite it.
        """
        domain, writes = node.get_domain(), self.scop.accesses(AccessKind.WRITE, AccessKind.MAY_WRITE)
        flow, false = (
            each.intersect_domain(domain).intersect_range(domain)
            for each in (self.dependences.flow, self.dependences.false)
        )
        inside = node.child(0).get_subtree_schedule_union_map()
        down = lexicographically_after(inside.intersect_domain(domain))
        own = [each for each in maps_of(false) if each.get_tuple_name(_in) == each.get_tuple_name(_out)]
        read = union_of(own, false.get_space()).subtract(writes.apply_range(writes.reverse()))
        return replace(self.dependences, flow=flow.subtract(down), false=false.subtract(down).subtract(read))

    def is_checked(self, node: isl.ScheduleNode) -> bool:
        """Whether the last loop of an innermost band carries but what one iteration makes, or overwrites.

        Then a compiler computes it in lanes where a check at run time says that this one is not among them.
        """
        carried = carried_by_last(node, self.dependences.carried)
        if carried.is_empty() or any(has_loops(each.body) for each in statements_of(node, self.scop)):
            return False
        if not self._converts(node, references(self.scop, node)):
            return False
        made = carried.intersect(self.dependences.flow)
        ends = made.domain().union(carried.subtract(made).range())
        band = isl.UnionMap.from_multi_union_pw_aff(node.band_get_partial_schedule())
        stamps = prefix_schedule(node).flat_range_product(band)
        places = isl.Set.from_union_set(ends.apply(stamps))
        around = places.dim(_set) - 1
        by_others = isl.Map.from_range(places).move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, around)
        return bool(by_others.is_single_valued())


def constant_trips(loop: isl.ScheduleNode) -> int | None:
    """How many iterations ``loop``, of one member, has in all of those around it; None if they differ."""
    band = isl.UnionMap.from_multi_union_pw_aff(loop.band_get_partial_schedule())
    stamps = prefix_schedule(loop).flat_range_product(band)
    return constant_trips_of(stamps.intersect_domain(loop.get_domain()))


def constant_trips_of(stamps: isl.UnionMap) -> int | None:
    """The same for the loop whose iterations the last of the time ``stamps`` of its instances count."""
    places = isl.Set.from_union_set(stamps.range())
    if _have_other_trips(places):
        return None
    around = places.dim(_set) - 1
    values = isl.Map.from_range(places).move_dims(_in, 0, _out, 0, around)
    last = constant_value(values.dim_max(0).sub(values.dim_min(0)))
    return None if last is None else last + 1


def _have_other_trips(places: isl.Set) -> bool:
    """Whether the last loop of ``places`` plainly has other iterations at small sizes than at usual ones.

    Most loops that have not as many everywhere have: what isl says of all sizes takes far longer to find.
    """
    small = next((found for size in MINIMUM_SIZES if not (found := _at_size(places, size)).is_empty()), None)
    usual = _at_size(places, NOMINAL_SIZE)
    if small is None or usual.is_empty():
        return False
    return bool(_iterations_somewhere(small).ne(_iterations_somewhere(usual)))


def _at_size(places: isl.Set, size: int) -> isl.Set:
    """``places`` where each parameter is ``size``."""
    for parameter in range(places.dim(isl.dim_type.param)):
        places = places.fix_val(isl.dim_type.param, parameter, isl.Val(size))
    return places


def _iterations_somewhere(places: isl.Set) -> isl.Val:
    """The distance from the first to the last iteration of the last loop somewhere in the others."""
    last, point = places.dim(_set) - 1, places.sample_point()
    for loop in range(last):
        places = places.fix_val(_set, loop, point.get_coordinate_val(_set, loop))
    return places.dim_max_val(last).sub(places.dim_min_val(last))


def _is_rigid(array: Array) -> bool:
    """Whether rows of ``array`` lie as far apart as a compiler knows."""
    return all(each is not None and constant_value(each) is not None for each in array.extents[1:])


def _row_of(access: Access) -> object:
    """What tells the row that ``access`` is to from those at other distances."""
    if _is_rigid(access.array):
        return None
    rows = access.relation.project_out(_out, access.relation.dim(_out) - 1, 1)
    return rows.gist_domain(rows.domain()).reset_tuple_id(_in)


def statements_of(node: isl.ScheduleNode, scop: Scop) -> list[Statement]:
    """The statements of ``scop`` that run below ``node``."""
    names = {tuple_name(each) for each in sets_of(node.get_domain())}
    return [each for each in scop.statements if each.name in names]
