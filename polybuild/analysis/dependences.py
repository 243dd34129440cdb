"""Exact dependences of a scop, and what may be given a copy per thread.

Flow dependences are value based (Feautrier 1991, isl's ``compute_flow``): from
the write that produced a value to each read of it. Anti and output dependences
are memory based, reduced to those not implied by others. For arrays whose live
ranges may be reordered, the scheme is PPCG's live-range reordering: their anti
and output dependences between *any* two live ranges become conditional, and
hold automatically as long as each live range stays within one iteration.
"""

from __future__ import annotations

from dataclasses import field, replace

import islpy as isl

from polybuild.analysis.array_flow import flow_between, time_stamps
from polybuild.analysis.covered_reads import covered_reads, hidden_writers
from polybuild.analysis.last_writers import has_strides, last_writers
from polybuild.analysis.reductions import Reduction
from polybuild.c.symbols import StorageClass
from polybuild.poly.memory import Itself, remembered
from polybuild.poly.relations import lexicographically_after, maps_of, sets_of, union_of
from polybuild.scop.model import AccessKind, Array, Scop
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class PrivateArray:
    """An array whose live ranges may be reordered, and which a thread may own.

    ``flow`` relates each write to the reads of its value; ``order`` relates each
    access to every later write of the same element, whichever live range that is in. Both map
    statement instances to statement instances.
    """

    array: Array
    flow: isl.UnionMap
    order: isl.UnionMap


@dataclass(frozen=True, slots=True)
class ReductionDependences:
    """Reductions that may be combined in any order; ``pairs`` of them share an element, in textual order."""

    reductions: tuple[Reduction, ...]
    pairs: isl.UnionMap

    @property
    def in_order(self) -> bool:
        """Whether loops keep the order of ``pairs``, though threads may have parts of these loops."""
        return any(each.in_order for each in self.reductions)

    @property
    def for_lanes(self) -> bool:
        """Whether lanes may accumulate, too, each for itself."""
        return not any(each.in_order or each.elements for each in self.reductions)


@dataclass(frozen=True, slots=True)
class Dependences:
    """What an order of the instances must respect.

    ``flow`` holds the flow dependences of all arrays; ``false`` the anti and
    output dependences of those that are not private; ``live_in`` relates
    instances to the elements they read from before the region. ``reductions`` are the pairs of
    instances of each group of reductions that may run in any order, though not at the same time
    on one element; the others know nothing of them. ``known`` is what was asked for before.
    """

    flow: isl.UnionMap
    false: isl.UnionMap
    private: tuple[PrivateArray, ...]
    live_in: isl.UnionMap
    reductions: tuple[ReductionDependences, ...] = ()
    known: dict[str, isl.UnionMap] = field(default_factory=dict, init=False, compare=False)

    @property
    def validity(self) -> isl.UnionMap:
        """Dependences that hold whatever is private: all flow, and the others' false ones."""
        if "validity" not in self.known:
            self.known["validity"] = self.flow.union(self.false).coalesce()
        return self.known["validity"]

    @property
    def carried(self) -> isl.UnionMap:
        """What no loop may carry whose iterations run side by side: ``validity``, and pairs of reductions."""
        return self._with_reductions(self.validity)

    @property
    def results(self) -> isl.UnionMap:
        """What an instance waits for: the values that others compute, whichever of a reduction is first."""
        return self._with_reductions(self.flow)

    def _with_reductions(self, union: isl.UnionMap) -> isl.UnionMap:
        for each in self.reductions:
            union = union.union(each.pairs)
        return union

    def within(self, instances: isl.UnionSet, same: isl.MultiUnionPwAff | None = None) -> Dependences:
        """The dependences between ``instances``, those that are at the ``same`` place if one is given."""

        def part(pairs: isl.UnionMap) -> isl.UnionMap:
            pairs = pairs.intersect_domain(instances).intersect_range(instances)
            return pairs if same is None else pairs.eq_at_multi_union_pw_aff(same)

        return Dependences(
            part(self.flow),
            part(self.false),
            tuple(PrivateArray(each.array, part(each.flow), part(each.order)) for each in self.private),
            self.live_in.intersect_domain(instances),
            tuple(ReductionDependences(each.reductions, part(each.pairs)) for each in self.reductions),
        )


def compute_dependences(scop: Scop, live_out: frozenset[str]) -> Dependences:
    """Dependences of ``scop``; ``live_out`` names variables that are read after it."""
    return _computed(Itself(scop), live_out)


@remembered  # a region that stays as it was is asked about again
def _computed(of: Itself[Scop], live_out: frozenset[str]) -> Dependences:
    scop = of.value
    reads = scop.accesses(AccessKind.READ)
    must_writes = scop.accesses(AccessKind.WRITE)
    may_writes = scop.accesses(AccessKind.MAY_WRITE)
    writes = must_writes.union(may_writes)
    hidden, covered = hidden_writers(scop), covered_reads(scop)
    flow, live_in = flow_dependences(scop, reads, must_writes, may_writes, hidden)
    live_in = live_in.subtract(covered)
    private: list[PrivateArray] = []
    private_names: set[str] = set()
    live_in_arrays = {each.get_tuple_name() for each in sets_of(live_in.range())}
    for array in scop.arrays:
        if may_be_private(array, live_out) and array.name not in live_in_arrays:
            candidate = _private_array(scop, array, hidden)
            if candidate is not None:
                private.append(candidate)
                private_names.add(array.name)
    if private:
        reads, must_writes, writes = (
            without(accesses, private_names) for accesses in (reads, must_writes, writes)
        )
    false = false_dependences(scop, reads, must_writes, writes)
    return Dependences(flow.coalesce(), false.coalesce(), tuple(private), live_in)


def flow_dependences(
    scop: Scop,
    reads: isl.UnionMap,
    must_writes: isl.UnionMap,
    may_writes: isl.UnionMap,
    hidden: isl.UnionMap,
) -> tuple[isl.UnionMap, isl.UnionMap]:
    """Value-based flow dependences, and the reads that may see a value from before the region.

    ``hidden`` are writers whose values a read cannot see (``hidden_writers``).
    """
    if has_strides(reads, must_writes, may_writes):
        visible, old = last_writers(scop, reads, must_writes, must_writes.union(may_writes))
        return visible.subtract(hidden).range_factor_domain(), old
    flow = flow_between(scop, reads, must=must_writes, may=may_writes)
    if hidden.is_empty():
        return flow.pairs, flow.old
    return flow.full.subtract(hidden).range_factor_domain(), flow.old


def by_memory(scop: Scop, dependences: Dependences) -> Dependences:
    """``dependences`` for a second proof: all pairs of accesses to one element, one of them a write.

    isl's dataflow analysis was seen to name wrong sources, so that an order could be legal by them alone.
    The live ranges of private arrays are kept. Of a ``scop`` that is the block of one rank, relations of
    accesses still name the instances of others, which are in no order with it.
    """
    private = {each.array.name for each in dependences.private}
    writes = scop.accesses(AccessKind.WRITE).union(scop.accesses(AccessKind.MAY_WRITE))
    writes = without(writes, private).intersect_domain(scop.domain)
    uses = without(scop.accesses(AccessKind.READ), private).intersect_domain(scop.domain).union(writes)
    pairs = uses.apply_range(writes.reverse()).union(writes.apply_range(uses.reverse()))
    pairs = pairs.intersect(lexicographically_after(scop.schedule.get_map()))
    for each in dependences.reductions:
        pairs = pairs.subtract(each.pairs)
    return replace(dependences, flow=pairs, false=isl.UnionMap.empty(pairs.get_space()))


def certain_writers(scop: Scop, array: Array) -> isl.UnionMap:
    """``{ W[i] -> [U[j] -> a[x]] }``: ``W`` is the last to write that certainly, before ``U`` uses it.

    Uses are reads, and writes that may leave the old value. For regions without dynamic loops.
    """
    reads, must, may = accesses_of(scop, array)
    return flow_between(scop, reads.union(may), must=must).certain


def false_dependences(
    scop: Scop, reads: isl.UnionMap, must_writes: isl.UnionMap, writes: isl.UnionMap
) -> isl.UnionMap:
    """Anti and output dependences; an access hidden by a later certain write is left to that write."""
    if has_strides(reads, writes):
        return last_writers(scop, writes, must_writes, reads.union(writes))[0].range_factor_domain()
    return flow_between(scop, writes, may=reads.union(writes), kills=must_writes).pairs


def may_be_private(array: Array, live_out: frozenset[str]) -> bool:
    """Whether threads may have copies: automatic storage, unseen from outside, dead afterwards."""
    if array.provenance.each_thread:
        return True
    if array.provenance.address_taken or array.provenance.by_pointer or array.provenance.allocated:
        return False
    if array.local:
        return True
    name = getattr(array.expression, "name", None)
    if not isinstance(name, str) or name in live_out:
        return False
    return array.provenance.storage is StorageClass.LOCAL or (
        array.provenance.storage is StorageClass.PARAMETER and array.is_scalar
    )


def _private_array(scop: Scop, array: Array, hidden: isl.UnionMap) -> PrivateArray | None:
    """Live ranges of ``array`` and their order; None if no two instances share an element."""
    reads, must, may = accesses_of(scop, array)
    flow, _ = flow_dependences(scop, reads, must, may, hidden)
    writes = must.union(may)
    uses = reads.union(writes)
    same_element = uses.apply_range(writes.reverse())
    instances = uses.domain()
    order = same_element.intersect(
        lexicographically_after(time_stamps(scop.schedule, instances).intersect_domain(instances))
    )
    if order.is_empty():
        return None
    return PrivateArray(array, flow.coalesce(), order.coalesce())


def written_and_flow(scop: Scop, array: Array) -> tuple[isl.UnionMap, isl.UnionMap]:
    """What each instance may write of ``array``, and its flow dependences."""
    reads, must, may = accesses_of(scop, array)
    hidden = isl.UnionMap.empty(reads.get_space())
    return must.union(may), flow_dependences(scop, reads, must, may, hidden)[0]


def accesses_of(scop: Scop, array: Array) -> tuple[isl.UnionMap, isl.UnionMap, isl.UnionMap]:
    """Reads, writes and may-writes of one array."""
    reads, must, may = (
        scop.accesses(kind, array=array.name)
        for kind in (AccessKind.READ, AccessKind.WRITE, AccessKind.MAY_WRITE)
    )
    return reads, must, may


def only(accesses: isl.UnionMap, name: str) -> isl.UnionMap:
    """``accesses`` of the array ``name``."""
    return union_of(maps_of(accesses, name), accesses.get_space())


def without(accesses: isl.UnionMap, names: set[str]) -> isl.UnionMap:
    """``accesses`` of all arrays but those with ``names``."""
    kept = [each for each in maps_of(accesses) if each.get_tuple_name(isl.dim_type.out) not in names]
    return union_of(kept, accesses.get_space())
