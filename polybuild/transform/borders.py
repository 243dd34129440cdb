"""The borders of a nest: iterations near the ends of its long loops that differ from all others.

They differ in one of four ways, each of which is how people write one and the same filter::

    a[x == 0 ? 0 : x - 1]                                   another subscript is chosen there
    x + i >= 0 && x + i < n ? a[x + i] : 0                  an element is not read
    if (x + i >= 0 && x + i < n) s += a[x + i];             a statement does not run
    for (i = max(0, x - 2); i <= min(n - 1, x + 2); i++)    a window is cut
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

import islpy as isl

from polybuild.effort import BORDER_WIDTH
from polybuild.poly.relations import depends_on, equal_outer
from polybuild.poly.spaces import constant_value, extent, outer_loops
from polybuild.scop.determined_counters import has_blocks
from polybuild.scop.model import Access, AccessKind, Scop, Statement
from polybuild.values import dataclass

_in, _out, _set = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


def may_have_border(scop: Scop, statement: Statement) -> bool:
    """Whether some iterations of ``statement`` may differ from the others: a first look."""
    if any(is_choice(each) or _is_guarded(each, statement) for each in statement.accesses):
        return True
    return (_is_cut(statement) and not has_blocks(statement)) or _runs_in_part(scop, statement)


def is_choice(access: Access) -> bool:
    """Whether ``access`` reads an element that is chosen among several."""
    return access.exact and access.kind is AccessKind.READ and access.relation.n_basic_map() > 1


def _is_guarded(access: Access, statement: Statement) -> bool:
    """Whether some instances of ``statement`` do without ``access``."""
    if not access.exact or access.kind is not AccessKind.READ or not access.array.extents:
        return False
    read = access.relation.domain()
    return not read.plain_is_equal(statement.domain) and not statement.domain.is_subset(read)


def _is_cut(statement: Statement) -> bool:
    """Whether a loop around ``statement`` has more bounds than two."""
    return any(
        sum(
            not each.is_equality()
            and each.involves_dims(_set, position, 1)
            and not each.involves_dims(_set, position + 1, len(statement.iterators) - position - 1)
            for each in piece.get_constraints()
        )
        > 2
        for piece in statement.domain.get_basic_sets()
        for position in range(1, len(statement.iterators))
    )


def _runs_in_part(scop: Scop, statement: Statement) -> bool:
    """Whether other statements in its loops run where ``statement`` does not."""
    depth = len(statement.iterators)
    if not depth:
        return False
    own = statement.domain.reset_tuple_id()
    for each in scop.statements:
        if each is not statement and each.iterators[:depth] == statement.iterators:
            other = each.domain.reset_tuple_id().project_out(_set, depth, len(each.iterators) - depth)
            if not other.plain_is_equal(own) and not other.is_subset(own):
                return True
    return False


@dataclass(frozen=True, slots=True)
class NestBorders:
    """Finds the borders of the statements ``inside`` the outermost ``depth`` loops of a nest of ``scop``.

    Borders are narrow along one of the ``long`` loops, by their positions, and sets of iterations of the
    outermost loops, which may overlap. ``everywhere`` has all of these.
    """

    scop: Scop
    inside: Sequence[Statement]
    depth: int
    long: Sequence[int]

    @property
    def everywhere(self) -> isl.Set:
        """All iterations of the outermost loops."""
        return reduce(isl.Set.union, map(self._iterations, self.inside)).coalesce()

    def of_choices(self) -> Iterator[isl.Set]:
        """Where subscripts are chosen."""
        for statement in self.inside:
            for access in filter(is_choice, statement.accesses):
                if not is_own(access, self.inside):
                    yield from filter(self._is_narrow, self._choices(statement, access))

    def of_conditions(self, everywhere: isl.Set) -> Iterator[isl.Set]:
        """Where an element is not read, a statement does not run, or a window is cut."""
        for statement in self.inside:
            for access in statement.accesses:
                if not is_choice(access) and _is_guarded(access, statement):
                    unread = statement.domain.subtract(access.relation.domain())
                    yield from self._outer_parts(unread.apply(self._outer(statement)), everywhere)
            yield from self._outer_parts(everywhere.subtract(self._iterations(statement)), everywhere)
            # what cuts the last block of loops blocked by hand goes with the blocks
            if has_blocks(statement):
                continue
            for position in range(self.depth, len(statement.iterators)):
                yield from self._cut(statement, position)

    def passes_values(self, interior: isl.Set) -> bool:
        """Whether elements that are written in the ``interior`` are read on a border, or the other way round.

        Such nests were one loop for good: a statement waits in it for what others make first.
        """
        written, read = (
            [
                (access.array.name, access.relation.reverse().apply_range(self._outer(statement)))
                for statement in self.inside
                for access in statement.accesses
                if access.array.extents and (access.kind is AccessKind.READ) == reads
            ]
            for reads in (False, True)
        )
        for name, writers in written:
            for readers in (readers for other, readers in read if other == name):
                pairs = writers.reverse().apply_range(readers)
                out, back = pairs.intersect_domain(interior), pairs.intersect_range(interior)
                if not (out.is_subset(back) and back.is_subset(out)):
                    return True
        return False

    def _iterations(self, statement: Statement) -> isl.Set:
        found = statement.domain.apply(self._outer(statement))
        return found.intersect_params(self.scop.context).coalesce()

    def _outer(self, statement: Statement) -> isl.Map:
        """``{ instance -> iteration of the outermost loops }``."""
        return isl.Map.from_multi_aff(outer_loops(statement.domain.get_space(), self.depth))

    def _is_narrow(self, piece: isl.Set) -> bool:
        return any((extent(piece, each) or BORDER_WIDTH + 1) <= BORDER_WIDTH for each in self.long)

    def _choices(self, statement: Statement, access: Access) -> Iterator[isl.Set]:
        """Where ``access`` is to each of the elements that it chooses among."""
        relation = access.relation.intersect_params(self.scop.context).coalesce()
        for each in relation.get_basic_maps():
            yield isl.Map.from_basic_map(each).domain().apply(self._outer(statement))

    def _outer_parts(self, iterations: isl.Set, everywhere: isl.Set) -> Iterator[isl.Set]:
        """The pieces of ``iterations`` if they are narrow, or some of them and the others ends of loops.

        How much is beyond such an end is not known then. Others are no borders.
        """
        iterations = iterations.intersect_params(self.scop.context).coalesce()
        pieces = [isl.Set.from_basic_set(each) for each in iterations.get_basic_sets()]
        wide = [each for each in pieces if not self._is_narrow(each)]
        if len(wide) < len(pieces) and all(self._is_end(each, everywhere) for each in wide):
            yield from pieces

    def _is_end(self, piece: isl.Set, everywhere: isl.Set) -> bool:
        """Whether ``piece`` is what is ``everywhere`` beyond values of long loops."""
        return all(
            sum(constraint.involves_dims(_set, each, 1) for each in range(self.depth)) == 1
            and any(constraint.involves_dims(_set, each, 1) for each in self.long)
            for beyond in piece.gist(everywhere).get_basic_sets()
            for constraint in beyond.get_constraints()
        )

    def _cut(self, statement: Statement, position: int) -> Iterator[isl.Set]:
        """Where the loop at ``position`` has another end than in the interior: there it is a whole window."""
        inner = statement.domain.project_out(_set, position + 1, len(statement.iterators) - position - 1)
        inner = inner.reset_tuple_id().intersect_params(self.scop.context)
        values = isl.Map.from_range(inner).move_dims(_in, 0, _out, 0, position)
        borders: list[isl.Set] = []
        ends = []
        for bound in (values.dim_min(0), values.dim_max(0)):
            pieces = [
                end
                for where, end in bound.get_pieces()
                if not self._is_narrow(_of_outermost(where, self.depth))
            ]
            if len(pieces) != 1:
                return
            end = isl.PwAff.from_aff(pieces[0])
            other = _of_outermost(bound.ne_set(end), self.depth).coalesce()
            borders += map(isl.Set.from_basic_set, other.get_basic_sets())
            ends.append(end)
        whole = constant_value(ends[1].sub(ends[0])) is not None
        if whole and all(map(self._is_narrow, borders)):
            yield from borders


def _of_outermost(iterations: isl.Set, depth: int) -> isl.Set:
    """``iterations`` of the outermost ``depth`` loops alone."""
    return iterations.project_out(_set, depth, iterations.dim(_set) - depth)


def is_own(access: Access, inside: Sequence[Statement]) -> bool:
    """Whether ``access`` may be to elements that the statements ``inside`` write.

    Each step over grids in turn writes another one than it reads.
    """
    written = [
        each
        for statement in inside
        for each in statement.accesses_to(access.array)
        if each.kind is not AccessKind.READ
    ]
    if access.kind is not AccessKind.READ or any(depends_on(each.relation, 0) for each in written):
        return bool(written)
    steps = (each.relation.apply_range(access.relation.reverse()) for each in written)
    return any(not equal_outer(each, 1).is_empty() for each in steps)
