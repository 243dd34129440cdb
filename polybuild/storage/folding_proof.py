"""The proof that steps on grids that alternate compute what they do with copies between grids.

Each read, and each element after the loop, must have the value of the same instance in both, where copies are
taken for what they copy: the dataflow is compared (P. Feautrier, "Dataflow analysis of array and scalar
references", 1991).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce

import islpy as isl

from polybuild.poly.relations import union_of
from polybuild.poly.spaces import all_parameters, identifier
from polybuild.scop.model import Access, AccessKind, Array, Scop, Statement
from polybuild.scop.strides import in_steps
from polybuild.storage.coalescing import Reaching
from polybuild.storage.copied_grids import CopiedGrid, TimeLoop
from polybuild.storage.expansion import copy_statement, in_own_nest
from polybuild.values import dataclass

_out = isl.dim_type.out


@dataclass(frozen=True, slots=True)
class FoldedLoop:
    """A loop as it was ``before``, with copies between ``grids``, and as it is ``after`` these are gone.

    ``parts`` has the statements of ``before`` but those copies, and what became of them; ``copies`` are those
    that there are instead. The grids in ``dead`` need not hold what they held at the end. ``names`` has the
    instances of ``before`` for those of ``after``.
    """

    before: Scop
    after: Scop
    grids: tuple[CopiedGrid, ...]
    parts: tuple[tuple[Statement, Statement], ...]
    copies: tuple[Statement, ...]
    dead: frozenset[str]
    names: isl.UnionMap

    def is_proved(self, bounds: isl.Set) -> bool:
        """Whether all values are the same where ``bounds`` hold."""
        before, after = (replace(each, context=bounds) for each in (self.before, self.after))
        arrays = [each for pair in self.grids for each in (pair.main, pair.scratch)]
        own = [*arrays, *(each.other for each in self.grids if not each.is_in_place)]
        begins = [_beginning(f"Begin{number}", each, (before, after)) for number, each in enumerate(arrays)]
        names = self.names.union(
            union_of([each.domain.identity() for each in begins], self.names.get_space())
        )
        old = Reaching(_behind(begins, before), arrays, [each.copy for each in self.grids])
        new = Reaching(_behind(begins, after), own, self.copies)
        for each, begin in zip(arrays, begins, strict=True):
            elements = begin.domain.set_tuple_name(each.name).intersect_params(bounds)
            (flow, entry), (found, own_entry) = (some.last_writes(each, elements) for some in (old, new))
            same = entry.is_empty() and own_entry.is_empty() and found.apply_domain(names).is_equal(flow)
            if not same and each.name not in self.dead:
                return False
        reads = _reads(self.parts, {each.name for each in own})
        return all(_sees_the_same(old, new, names, each) for each in reads)


def names_before(scop: Scop, origins: Mapping[str, Statement]) -> isl.UnionMap:
    """For instances of ``scop`` once its steps are counted those of the statements' ``origins``, by name."""
    found = []
    for each in scop.statements:
        if each.name in origins:
            function = isl.Map.from_pw_multi_aff(in_steps(each)[1])
            found.append(function.set_tuple_name(_out, origins[each.name].name))
    return union_of(found, scop.context.get_space())


def cases_of(loop: TimeLoop, bounds: isl.Set) -> Iterator[isl.Set]:
    """``bounds``, where some steps of ``loop`` run, for an odd number of them, and for an even one.

    A parameter has half that number, so that there are no remainders: isl finds what reads see far sooner.
    """
    time, period = loop.time.intersect_params(bounds), loop.counters.period
    pieces = time.dim_max(0).coalesce().get_pieces()
    if len(pieces) != 1 or pieces[0][1].dim(isl.dim_type.div):
        yield bounds
        return
    last = isl.PwAff.from_aff(pieces[0][1])
    half = isl.PwAff.param_on_domain_id(all_parameters(), identifier("polybuild_half"))
    for phase in range(period):
        number = half.scale_val(isl.Val(period)).add_constant_val(isl.Val(phase))
        yield bounds.intersect(last.eq_set(number).params())


@dataclass(frozen=True, slots=True)
class _Read:
    """A read as it was, and what became of it in some instances of its statement, the ``part``."""

    access: Access
    moved: Access
    part: Statement


def _reads(parts: Sequence[tuple[Statement, Statement]], arrays: Collection[str]) -> Iterator[_Read]:
    """The reads of ``parts`` that are of one of ``arrays``."""
    for one, other in parts:
        for access, moved in zip(one.accesses, other.accesses, strict=True):
            if access.kind is AccessKind.READ and moved.array.name in arrays:
                yield _Read(access, moved, other)


def _sees_the_same(old: Reaching, new: Reaching, names: isl.UnionMap, read: _Read) -> bool:
    """Whether ``read`` sees what the same instances wrote."""
    (flow, entry), (found, own_entry) = old.sources(read.access), new.sources(read.moved)
    here = isl.UnionSet.from_set(read.part.domain).apply(names)
    found = found.apply_domain(names).apply_range(names)
    nothing = entry.is_empty() and own_entry.is_empty()
    return bool(nothing and found.is_equal(flow.intersect_range(here)))


def _beginning(name: str, array: Array, scops: Sequence[Scop]) -> Statement:
    """A statement ``name`` that writes all elements of ``array`` that ``scops`` access."""
    touched = [
        access.relation.intersect_domain(each.domain).range()
        for scop in scops
        for each in scop.statements
        for access in each.accesses_to(array)
    ]
    elements = reduce(isl.Set.union, touched).coalesce()
    return copy_statement(name, elements, array, array, scops[0].statements[0])


def _behind(begins: Sequence[Statement], scop: Scop) -> Scop:
    """``scop`` with the statements ``begins``, which write and read nothing, before all others."""
    writing = [
        replace(each, accesses=tuple(one for one in each.accesses if one.kind is not AccessKind.READ))
        for each in begins
    ]
    schedule = reduce(isl.Schedule.sequence, [*map(in_own_nest, writing), scop.schedule])
    return replace(scop, statements=(*writing, *scop.statements), schedule=schedule)
