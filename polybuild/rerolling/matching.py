"""Which statements of loops and around them are copies of each other, and what instances they have.

In ``for (k = 0; k + 1 < n; k += 2) { s += a[k]; s += a[k + 1]; }`` the second statement is the first one
at ``k + 1``. What instance of one statement an instance of another is, is what their accesses say: the
relation of instances that touch the same elements.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial

import islpy as isl

from polybuild.effort import COPIED_PIECES
from polybuild.rerolling.loop_tree import Loop, Part, statements_of
from polybuild.rerolling.shapes import Shape, ShapedAccess
from polybuild.rerolling.touched import function_of
from polybuild.scop.model import AccessKind, Statement
from polybuild.values import dataclass

_in, _out = isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True, slots=True)
class Place:
    """Parts that follow each other in ``depth`` loops, some of which are loops."""

    parts: tuple[Part, ...]
    depth: int


@dataclass(frozen=True, slots=True)
class Copy:
    """``statement`` as a copy of ``original``: ``instances`` relates its instances to those of that."""

    statement: Statement
    original: Statement
    instances: isl.Map


def copies_in(
    place: Place,
    leading: int,
    statements: Mapping[str, Statement],
    shapes: Mapping[str, Shape],
    *,
    own_cells: bool,
) -> list[Copy] | None:
    """The copies of statements of the loop ``place.parts[leading]``, in it and in other parts.

    Every original is a copy of itself. A part is in it with all of its statements or with none. Without
    ``own_cells`` all copies have those of their originals: two sums, of even and of odd elements, are no
    copies of each other. Where the leading loop has originals alone, those that have fewer copies than others
    stay as they are. None if something in the leading loop is neither an original nor a copy for certain.
    """
    search = _CopySearch(place, statements, shapes, own_cells)
    if not search.add_leading(leading):
        return None
    for is_loop, run in itertools.groupby(
        range(len(place.parts)), lambda index: isinstance(place.parts[index], Loop)
    ):
        for together in [[each] for each in run] if is_loop else [list(run)]:
            if together != [leading]:
                search.add(together)
    copies = [*search.copies.values()]
    numbers = Counter(each.original.name for each in copies)
    if len(set(numbers.values())) == 1:
        return copies
    if search.has_moved(leading):
        return None
    return [each for each in copies if numbers[each.original.name] == max(numbers.values())]


@dataclasses.dataclass(slots=True)
class _CopySearch:
    """The copies that were found.

    Where what a statement touches is private, or the same in all iterations, it is a copy together with those
    that wrote what it reads, or read what it writes.
    """

    place: Place
    statements: Mapping[str, Statement]
    shapes: Mapping[str, Shape]
    own_cells: bool
    originals: list[Statement] = field(default_factory=list)
    copies: dict[str, Copy] = field(default_factory=dict)

    def add_leading(self, index: int) -> bool:
        """Find the originals of a loop and their copies in it; whether that is all there is."""
        run = [self.statements[name] for name in statements_of(self.place.parts[index])]
        for each in run:
            if not self._says_where(each):
                continue
            found = self._only(each, index, self._same_elements, self.originals)
            if found is None or not self._is_moved(found):
                self.originals.append(each)
                found = Copy(each, each, isl.Map.identity(each.domain.get_space().map_from_set()))
            self.copies[each.name] = found
        self._add_by_partners(run, index, leading=True)
        return all(each.name in self.copies for each in run)

    def has_moved(self, index: int) -> bool:
        """Whether a part has other iterations of originals."""
        own = [self.copies.get(name) for name in statements_of(self.place.parts[index])]
        return any(each is not None and each.statement is not each.original for each in own)

    def add(self, indices: Sequence[int]) -> None:
        """Add those parts of a run of parts of which all statements are copies."""
        parts = [[*statements_of(self.place.parts[each])] for each in indices]
        run = [self.statements[name] for part in parts for name in part]
        for each in run:
            if not self.shapes[each.name].is_private:
                found = self._only(each, indices[0], self._same_elements, self.originals)
                found = found or self._only(each, indices[0], self._in_another_order, self.originals)
                if found is not None:
                    self.copies[each.name] = found
        self._add_by_partners(run, indices[0], leading=False)
        for part in parts:
            if not self.copies.keys() >= set(part):
                for name in part:
                    self.copies.pop(name, None)

    def _add_by_partners(self, run: Sequence[Statement], index: int, *, leading: bool) -> None:
        """Find copies among the statements of a run whose elements do not say what instances they are.

        Each that is found may tell of others.
        """
        found: list[Copy] | None = None
        while found is None or found:
            found = []
            for each in run:
                if each.name in self.copies:
                    continue
                originals = (*self.originals, each) if leading else self.originals
                copy = self._only(each, index, partial(self._same_cells, run), originals, leading=leading)
                if copy is not None:
                    found.append(copy)
                    if copy.original is each:
                        self.originals.append(each)
            self.copies |= {each.statement.name: each for each in found}

    def _says_where(self, statement: Statement) -> bool:
        """Whether what ``statement``, in the leading loop, touches tells its iterations from each other."""
        if self.shapes[statement.name].is_private:
            return False
        return _function(self._same_elements(statement, statement), statement) is not None

    def _is_moved(self, found: Copy) -> bool:
        """Whether a copy is another iteration of the loop."""
        depth = self.place.depth
        same = isl.Map.universe(found.instances.get_space()).equate(_in, depth, _out, depth)
        return bool(found.instances.is_disjoint(same))

    def _operands(self, one: Statement, other: Statement) -> list[tuple[ShapedAccess, ShapedAccess]]:
        pair = self.shapes[one.name], self.shapes[other.name]
        return list(zip(pair[0].operands, pair[1].operands, strict=True))

    def _only(
        self,
        statement: Statement,
        index: int,
        relate: Callable[[Statement, Statement], isl.Map | None],
        originals: Sequence[Statement],
        *,
        leading: bool = False,
    ) -> Copy | None:
        """``statement`` of a part as a copy of the only one of ``originals`` that it can be, else None.

        In the ``leading`` loop it is either its own original, or another iteration of one.
        """
        found = []
        possible = (0, 1) if isinstance(self.place.parts[index], Loop) else (1,)
        for each in originals:
            if self.shapes[each.name].key != self.shapes[statement.name].key:
                continue
            if len(each.iterators) - len(statement.iterators) not in possible:
                continue
            if not self.own_cells and any(
                one.cell != other.cell for one, other in self._operands(statement, each)
            ):
                continue
            instances = relate(statement, each)
            function = None if instances is None else _function(instances, statement)
            if function is not None:
                copy = Copy(statement, each, function)
                if not leading or self._is_moved(copy) != (each is statement):
                    found.append(copy)
        return found[0] if len(found) == 1 else None

    def _same_cells(
        self, run: Sequence[Statement], statement: Statement, original: Statement
    ) -> isl.Map | None:
        """Instances of both with the same cells, by what is known of a run; None if that is too little."""
        instances = self._same_elements(statement, original)
        pairs = [pair for pair in self._operands(statement, original) if pair[0].cell is not None]
        updated = {each.cell for each, _ in pairs if each.access.kind is AccessKind.READ} & {
            each.cell for each, _ in pairs if each.access.kind is not AccessKind.READ
        }
        known = False
        for mine, other in pairs:
            partner = None if mine.cell in updated else self._partner(run, statement, mine)
            if partner is None or partner.name not in self.copies:
                continue
            copy = self.copies[partner.name]
            cells = {one.cell: two.cell for one, two in self._operands(partner, copy.original)}
            if cells[mine.cell] != other.cell:
                return None
            instances = instances.intersect(self._outer(copy, instances))
            known = True
        return instances if known else None

    def _partner(self, run: Sequence[Statement], statement: Statement, use: ShapedAccess) -> Statement | None:
        """The statement of a run before that writes what ``statement`` reads, or after that reads it."""
        reads = use.access.kind is AccessKind.READ
        place = next(index for index, each in enumerate(run) if each is statement)
        for each in reversed(run[:place]) if reads else run[place + 1 :]:
            for operand in self.shapes[each.name].operands:
                if operand.cell == use.cell and (operand.access.kind is AccessKind.READ) != reads:
                    return each
        return None

    def _outer(self, copy: Copy, instances: isl.Map) -> isl.Map:
        """What ``copy`` says of the loops down to that of the place, for the statements of ``instances``."""
        depth = self.place.depth + 1
        missing = len(copy.original.iterators) - len(copy.statement.iterators)
        outer = copy.instances
        outer = outer.project_out(_in, depth - missing, outer.dim(_in) - depth + missing)
        outer = outer.project_out(_out, depth, outer.dim(_out) - depth)
        outer = outer.add_dims(_in, instances.dim(_in) - outer.dim(_in))
        outer = outer.add_dims(_out, instances.dim(_out) - outer.dim(_out))
        outer = outer.set_tuple_name(_in, instances.get_tuple_name(_in))
        return outer.set_tuple_name(_out, instances.get_tuple_name(_out))

    def _same_elements(self, statement: Statement, original: Statement) -> isl.Map:
        """``{ statement -> original }``: instances that touch the same elements in the same other loops."""
        space = statement.domain.get_space().map_from_domain_and_range(original.domain.get_space())
        found = isl.Map.universe(space)
        depth = self.place.depth
        missing = len(original.iterators) - len(statement.iterators)
        for position in range(len(original.iterators)):
            if position != depth:
                found = found.equate(_in, position - missing * (position > depth), _out, position)
        return found.intersect(self._same_operands(statement, original))

    def _in_another_order(self, statement: Statement, original: Statement) -> isl.Map | None:
        """As ``_same_elements``, of two statements whose loops are in different orders."""
        same_depth = len(statement.iterators) == len(original.iterators)
        return self._same_operands(statement, original) if same_depth else None

    def _same_operands(self, statement: Statement, original: Statement) -> isl.Map:
        """``{ statement -> original }``: instances that touch the same elements, in whatever loops."""
        space = statement.domain.get_space().map_from_domain_and_range(original.domain.get_space())
        found = isl.Map.universe(space)
        for mine, other in self._operands(statement, original):
            if mine.cell is None and mine.access.exact:
                one, two = (function_of(each) for each in ((mine, statement), (other, original)))
                if one.n_basic_map() * two.n_basic_map() > COPIED_PIECES:
                    return isl.Map.empty(space)  # subscripts that are clamped again and again, say
                found = found.intersect(one.apply_range(two.reverse()))
        counters = (self.shapes[each.name].counters for each in (statement, original))
        for (place, more), (other_place, other_more) in zip(*counters, strict=True):
            equal = isl.Constraint.alloc_equality(isl.LocalSpace.from_space(space))
            equal = equal.set_coefficient_val(_in, place, 1).set_coefficient_val(_out, other_place, -1)
            found = found.add_constraint(equal.set_constant_val(more - other_more))
        return found


def _function(instances: isl.Map, statement: Statement) -> isl.Map | None:
    """``instances`` if they give each instance of ``statement`` exactly one other, else None."""
    if not instances.is_single_valued():
        instances = instances.intersect_domain(statement.domain)
        if not instances.is_single_valued():
            return None
    return instances if statement.domain.is_subset(instances.domain()) else None
