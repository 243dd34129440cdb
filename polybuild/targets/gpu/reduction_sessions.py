"""What accumulates one value on a device, and whether anybody looks at the value meanwhile."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Sequence

import islpy as isl

from polybuild.analysis.reductions import Reduction
from polybuild.analysis.trip_counts import dimension_counts
from polybuild.c.syntax_tree import walk
from polybuild.poly.relations import largest, maps_of, sets_of
from polybuild.poly.trees import is_band, member
from polybuild.scop.determined_counters import mentions
from polybuild.scop.model import Access, Scop, Statement
from polybuild.targets.base import ReductionParts
from polybuild.values import dataclass

_in, _out, _set = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


@dataclass(frozen=True, slots=True)
class Session:
    """The instances of ``reduction`` that accumulate one value: those with equal counters ``kept``.

    ``rows`` are those of ``kept`` whose loops run in parallel, ``lanes`` the counters of terms with the
    number of parts along each.
    """

    reduction: Reduction
    kept: tuple[int, ...]
    rows: tuple[int, ...]
    lanes: tuple[tuple[int, int], ...]

    @property
    def parts(self) -> int:
        """The number of parts of a value."""
        return math.prod(count for _, count in self.lanes)


def find_session(
    scop: Scop, reduction: Reduction, pairs: isl.UnionMap, schedule: isl.Schedule, parts: ReductionParts
) -> Session | None:
    """What accumulates one value of ``reduction`` in ``parts``; None if threads gain nothing by them."""
    statement = reduction.statement
    space = statement.domain.get_space()
    own = pairs.extract_map(space.map_from_domain_and_range(space))
    if own.is_empty():
        return None
    kept = kept_counters(statement, pairs)
    terms = [each for each in range(len(statement.iterators)) if each not in kept]
    parallel = _parallel_counters(schedule, statement)
    dynamic = {each.position for each in statement.dynamic}
    rows = tuple(each for each in kept if each in parallel - dynamic)
    trips = dimension_counts(statement.domain, scop.context)
    if len(rows) > 1 or not terms or _are_few([trips[each] for each in terms], parts.few):
        return None
    if rows:
        lowest = statement.domain.dim_min_val(rows[0])
        lanes = [(terms[-1], parts.of_row)]
        if not lowest.is_int() or lowest.is_neg():
            return None
    elif len(terms) > 1:
        lanes = [(terms[0], parts.of_one[0]), (terms[-1], parts.of_one[1])]
    else:
        lanes = [(terms[0], math.prod(parts.of_one))]
    return Session(reduction, kept, rows, tuple(lanes))


def find_scattered_session(
    scop: Scop,
    reduction: Reduction,
    pairs: isl.UnionMap,
    parts: ReductionParts,
    *,
    own: Collection[int],
    schedule: isl.Schedule,
) -> Session | None:
    """What accumulates the elements of ``reduction``, which data choose, in ``parts``.

    None if threads gain nothing by them, or others look at the elements meanwhile: but for the nodes ``own``.
    """
    count, _ = parts.of_scattered
    statement = reduction.statement
    equal = kept_counters(statement, pairs)
    depth = len(statement.iterators)
    if set(equal) & _parallel_counters(schedule, statement):
        return None
    trips = dimension_counts(statement.domain, scop.context)
    for sequential in range(depth):
        few = parts.of_row if depth - sequential > 1 and not _are_few(trips[-1:], parts.of_row - 1) else 1
        lanes = [(sequential, count // few), *([(depth - 1, few)] if few > 1 else [])]
        session = Session(reduction, tuple(range(sequential)), (), tuple(lanes))
        if _are_few(trips[sequential:], parts.few):
            return None
        if is_undisturbed(scop, session, own):
            return session
    return None


def may_count_otherwise(statement: Statement, position: int) -> bool:
    """Whether the body can do with another counter in place of the one at ``position``.

    Accesses are written anew, or have it in no subscript that is kept as it is written.
    """
    kept = {
        id(part)
        for each in statement.accesses
        if not (each.exact and each.relation.is_single_valued())
        for part in walk(each.node)
    }
    return all(id(each) not in kept for each in mentions(statement, position))


def kept_counters(statement: Statement, pairs: isl.UnionMap) -> tuple[int, ...]:
    """The counters of ``statement`` that are equal in all ``pairs`` of its instances."""
    space = statement.domain.get_space()
    own = pairs.extract_map(space.map_from_domain_and_range(space))
    distances = isl.Set.from_basic_set(own.deltas().affine_hull())
    return tuple(each for each in range(len(statement.iterators)) if _is_zero(distances, each))


def _is_zero(distances: isl.Set, position: int) -> bool:
    value = distances.plain_get_val_if_fixed(_set, position)
    return bool(value.is_int() and value.is_zero())


def _are_few(trips: Sequence[isl.PwAff], few: int) -> bool:
    """Whether loops with these ``trips`` have ``few`` iterations in all, at most."""
    product = 1
    for trip in trips:
        number = largest(trip)
        if not number.is_int():
            return False
        product *= max(0, number.to_python())
    return product <= few


def _parallel_counters(schedule: isl.Schedule, statement: Statement) -> set[int]:
    """The counters of ``statement`` on which a parallel loop around it depends."""
    found: set[int] = set()
    name = statement.name

    def visit(node: isl.ScheduleNode) -> None:
        if all(each.get_tuple_name() != name for each in sets_of(node.get_domain())):
            return
        if is_band(node):
            for position in range(node.band_n_member()):
                if node.band_member_get_coincident(position):
                    found.update(_involved(member(node, position), name))
        for index in range(node.n_children()):
            visit(node.child(index))

    visit(schedule.get_root().child(0))
    return found


def _involved(partial: isl.MultiUnionPwAff, name: str) -> set[int]:
    """The counters of the statement ``name`` that a member of a band depends on."""
    for each in maps_of(isl.UnionMap.from_multi_union_pw_aff(partial)):
        if each.get_tuple_name(_in) == name:
            plain = each.gist_domain(each.domain())
            return {at for at in range(plain.dim(_in)) if plain.involves_dims(_in, at, 1)}
    return set()


def stamps_of(scop: Scop) -> tuple[dict[str, isl.Map], int]:
    """The time stamp of each instance in the original order, by its statement, and how long they are."""
    found = {each.get_tuple_name(_in): each for each in maps_of(scop.schedule.get_map())}
    length = max(each.dim(_out) for each in found.values())
    for name, each in found.items():
        shorter = length - each.dim(_out)
        zeros = isl.Map.from_domain_and_range(each.domain(), _zeros(scop, shorter))
        found[name] = each.flat_range_product(zeros).intersect_domain(_domain(scop, name))
    return found, length


def _zeros(scop: Scop, length: int) -> isl.Set:
    """``{ [0, ..., 0] }``."""
    space = isl.Space.set_alloc(scop.context.get_ctx(), 0, length)
    return isl.Set.from_multi_aff(isl.MultiAff.zero(space))


def _domain(scop: Scop, name: str) -> isl.Set:
    return next(each.domain for each in scop.statements if each.name == name).intersect_params(scop.context)


def chosen_counters(statement: Statement, positions: Sequence[int], name: str) -> isl.Map:
    """``{ S[d0, ...] -> name[d_k, ...] }`` for the counters at ``positions``."""
    dims = [f"d{position}" for position in range(len(statement.iterators))]
    kept = ", ".join(dims[position] for position in positions)
    return isl.Map(f"{{ {statement.name}[{', '.join(dims)}] -> {name}[{kept}] }}")


def order_of_terms(scop: Scop, session: Session) -> tuple[tuple[int, int], ...] | None:
    """The counters of terms, outermost first, each with 1 or -1: the terms run in their lexicographic order.

    None if these are not counters up or down.
    """
    statement = session.reduction.statement
    terms = [each for each in range(len(statement.iterators)) if each not in session.kept]
    stamps, _ = stamps_of(scop)
    same = chosen_counters(statement, session.kept, "value").intersect_domain(statement.domain)
    pairs = same.apply_range(same.reverse())
    before = _follow_each_other(stamps[statement.name]).intersect(pairs)
    dims = ", ".join(f"d{position}" for position in range(len(statement.iterators)))
    for signs in itertools.product((1, -1), repeat=len(terms)):
        order = tuple(zip(terms, signs, strict=True))
        values = ", ".join(f"{sign} * d{position}" for position, sign in order)
        stamp = isl.Map(f"{{ {statement.name}[{dims}] -> [{values}] }}").intersect_domain(statement.domain)
        if _follow_each_other(stamp).intersect(pairs).is_subset(before):
            return order
    return None


def _follow_each_other(stamp: isl.Map) -> isl.Map:
    """The pairs of instances of which the first one has the lesser time ``stamp``."""
    less = isl.Map.lex_lt(isl.Space.set_alloc(stamp.get_ctx(), 0, stamp.dim(_out)))
    return stamp.apply_range(less).apply_range(stamp.reverse())


def is_undisturbed(scop: Scop, session: Session, own: Collection[int]) -> bool:
    """Whether nothing touches an accumulator, or what may be one, between its first term and its last.

    The nodes ``own`` (by identity) do not count: they are the accumulators of reductions of the same group.
    """
    statement = session.reduction.statement
    stamps, length = stamps_of(scop)
    values = chosen_counters(statement, session.kept, "value").intersect_domain(statement.domain)
    when = values.reverse().apply_range(stamps[statement.name])
    elements = values.reverse().apply_range(session.reduction.relation)
    data_choose = not session.reduction.relation.is_single_valued()
    if not data_choose and not elements.is_single_valued():
        return False
    before = isl.Map.lex_le(isl.Space.set_alloc(when.get_ctx(), 0, length))
    for other in scop.statements:
        for access in other.accesses_to(session.reduction.array):
            if id(access.node) in own:
                continue
            users = elements.apply_range(access.relation.reverse())
            after_first = when.lexmin().apply_range(before).apply_range(stamps[other.name].reverse())
            before_last = (
                when.lexmax().apply_range(before.reverse()).apply_range(stamps[other.name].reverse())
            )
            if not users.intersect(after_first).intersect(before_last).is_empty():
                return False
    return True


def are_neighbours(session: Session, statements: Iterable[Statement] = ()) -> bool:
    """Whether terms that follow each other, rather than those of neighbouring rows, touch neighbours.

    What changes along one of the two only does not count, but for loops whose bounds are data: elements are
    those of one row there. ``statements`` are others in the loop of the terms.
    """
    own, (lane, _), row = session.reduction.statement, session.lanes[-1], session.rows[0]
    votes = 0
    for statement in (own, *statements):
        bounds = [end for loop in statement.dynamic for end in (loop.start, loop.limit)]
        others = session.reduction.own.union(id(part) for end in bounds for part in walk(end))
        for access in statement.accesses:
            if access.array.extents and id(access.node) not in others:
                votes += _vote(statement, access, lane, row)
    return votes > 0


def _vote(statement: Statement, access: Access, lane: int, row: int) -> int:
    """1 if ``access`` touches neighbours along ``lane``, -1 along ``row``; else, and along both, 0.

    ``statement`` may be outside of the loop over rows.
    """
    last = access.relation.dim(_out) - 1
    plain = access.relation.gist_domain(statement.domain)
    subscript, parts = plain.project_out(_out, 0, last), {id(part) for part in walk(access.node)}

    def depends(relation: isl.Map, position: int) -> bool:
        if position >= len(statement.iterators):
            return False
        named = not access.exact and any(id(each) in parts for each in mentions(statement, position))
        return named or bool(relation.involves_dims(_in, position, 1))

    along = [depends(subscript, each) for each in (lane, row)]
    changes = [depends(plain, each) for each in (lane, row)]
    of_row = changes[1] or any(loop.position == lane for loop in statement.dynamic)
    return (along[0] and of_row) - (along[1] and changes[0])
