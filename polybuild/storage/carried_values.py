"""Variables that carry a value to the next iteration, with that value in their place.

::

    for i:                               b[0] = a[0] - x;
      b[i] = a[i] - x;        ->         for i > 0:
      x = a[i];                            b[i] = a[i] - a[i - 1];
                                         x = a[n - 1];

What the variable holds before the loop is read where no iteration has set it yet, by statements of their
own; the value that it has in the end, if that is needed, is computed apart. Then the loop may carry nothing.
Where the value depends on the one before, as in a recurrence, it stays a variable.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.dependences import compute_dependences, may_be_private
from polybuild.c.syntax_tree import walk
from polybuild.c.types import FloatingType, IntegerType
from polybuild.diagnostics import Location
from polybuild.effort import CARRIED_VALUE_OPERATIONS, UPDATE_PARTS
from polybuild.poly.budget import found_within
from polybuild.poly.relations import equal_outer, sets_of
from polybuild.poly.trees import descendants, is_band
from polybuild.schedule.scheduler import Fusion, compute_schedule
from polybuild.scop.duplicates import copied, order_of_copies, unused_names
from polybuild.scop.model import AccessKind, Array, Scop, Statement
from polybuild.storage.coalescing import Reaching
from polybuild.storage.forwarding import converted_value, forward_to, reads_the_same, with_value_of


def substitute_carried_values(scop: Scop, live_out: frozenset[str]) -> Scop:
    """``scop`` without the variables that carry values to other iterations, if a loop carries nothing then.

    ``live_out`` names variables that are read after the region.
    """
    arrays = [each for each in scop.arrays if _writers(scop, each, live_out)]
    if not arrays:
        return scop
    return found_within(CARRIED_VALUE_OPERATIONS, partial(_substituted, scop, arrays, live_out)) or scop


def _substituted(scop: Scop, arrays: list[Array], live_out: frozenset[str]) -> Scop:
    changed, gone = scop, set[str]()
    for array in sorted(arrays, key=lambda each: not _is_carried_on(scop, each, arrays)):
        found = _without(changed, array, live_out)
        if found is not None:
            changed = found
            gone.add(array.name)
    if not gone:
        return scop
    # threads have no copies of what is carried from one to the other
    before = _in_parallel_loops(scop, live_out, without=gone)
    return changed if before < _in_parallel_loops(changed, live_out) else scop


def _writers(scop: Scop, array: Array, live_out: frozenset[str]) -> list[Statement]:
    """The statements that set ``array``, a number of the function's own, and do nothing else; or none."""
    own = array.is_scalar and may_be_private(array, live_out - {array.name, array.source_name})
    if not own or not isinstance(array.element, IntegerType | FloatingType):
        return []
    found = []
    for statement in scop.statements:
        accesses = statement.accesses_to(array)
        if any(each.kind is not AccessKind.READ for each in accesses):
            if len(accesses) > 1 or not accesses[0].exact or converted_value(statement, array) is None:
                return []
            found.append(statement)
        elif statement.dynamic and accesses:
            return []
    in_loops = any(each.iterators for each in found)
    return found if in_loops and not any(map(_names_counter, found)) else []


def _names_counter(statement: Statement) -> bool:
    """Whether the value that ``statement`` gives is made of counters themselves, not of elements alone."""
    counters = {each.name for each in statement.iterators}
    elements = statement.element_nodes
    return any(
        isinstance(each, c_ast.ID) and id(each) not in elements and each.name in counters
        for each in walk(statement.body.rvalue)
    )


def _is_carried_on(scop: Scop, array: Array, arrays: list[Array]) -> bool:
    """Whether another one of ``arrays`` is set to what ``array`` holds."""
    names = {each.name for each in arrays if each is not array}
    return any(
        statement.accesses_to(array)
        and any(each.kind is not AccessKind.READ and each.array.name in names for each in statement.accesses)
        for statement in scop.statements
    )


def _without(scop: Scop, array: Array, live_out: frozenset[str]) -> Scop | None:
    """``scop`` with the values of ``array`` where it is read; None if it carries nothing, or they differ."""
    scop = forward_to(scop, [each.name for each in _writers(scop, array, live_out)], live_out)
    writers = _writers(scop, array, live_out)
    parts = _ReadParts(scop, array, writers)
    if not writers or not parts.carries():
        return None
    names = iter(unused_names(scop, len(scop.statements) * (len(writers) + 1) + len(writers)))
    statements: list[Statement] = []
    originals: dict[str, str] = {}
    checks: list[tuple[Statement, Statement, isl.Map]] = []

    def add(statement: Statement, domain: isl.Set) -> Statement:
        new = copied(statement, next(names), domain.intersect_params(scop.context).coalesce())
        originals[new.name] = statement.name
        statements.append(new)
        return new

    for each in scop.statements:
        if each in writers:
            if array.name in live_out and not (last := parts.last(each)).is_empty():
                add(each, last)
        elif not each.accesses_to(array):
            statements.append(each)
        else:
            for writer, made_by in parts.sources(each):
                if writer is None:
                    add(each, made_by.domain())
                    continue
                part = add(each, made_by.domain())
                statements[-1] = merged = _with_value(part, writer, array, made_by)
                checks.append((merged, writer, made_by.set_tuple_name(isl.dim_type.in_, merged.name)))
    changed = replace(
        scop, statements=tuple(statements), schedule=order_of_copies(scop, statements, originals)
    )
    same = all(_sees_the_same(scop, changed, *each) for each in checks)
    small = all(len(each.accesses) <= UPDATE_PARTS for each, *_ in checks)
    return changed if same and small else None


def _with_value(reader: Statement, writer: Statement, array: Array, made_by: isl.Map) -> Statement:
    """``reader`` with the value that ``writer`` gives to ``array`` in its place."""
    value = converted_value(writer, array)
    assert value is not None  # noqa: S101 - of such writers alone
    pairs = made_by.set_tuple_name(isl.dim_type.in_, reader.name)
    return with_value_of(reader, replace(writer, body=value), reader.accesses_to(array), pairs)


def _sees_the_same(scop: Scop, changed: Scop, merged: Statement, writer: Statement, made_by: isl.Map) -> bool:
    own = sum(each.kind is AccessKind.READ for each in writer.accesses)
    return reads_the_same(scop, changed, writer, list(merged.accesses[:own]), made_by)


class _ReadParts:
    """Where the values come from that statements read of ``array``, which ``writers`` set."""

    def __init__(self, scop: Scop, array: Array, writers: list[Statement]) -> None:
        self._scop = scop
        self._array = array
        self._writers = writers
        self._reaching = Reaching(scop, (array,))

    def sources(self, reader: Statement) -> list[tuple[Statement | None, isl.Map]]:
        """The writers, each with a map from the instances of ``reader`` to those whose values they read.

        With None the instances that read what was there before.
        """
        read = reader.accesses_to(self._array)[0]
        flow, old = self._reaching.sources(read)
        found: list[tuple[Statement | None, isl.Map]] = []
        before = old.extract_set(reader.domain.get_space())
        if not before.is_empty():
            found.append((None, before.identity()))
        for writer in self._writers:
            space = writer.domain.get_space().map_from_domain_and_range(reader.domain.get_space())
            pairs = flow.extract_map(space)
            if not pairs.is_empty():
                found.append((writer, pairs.reverse().coalesce()))
        return found

    def carries(self) -> bool:
        """Whether some statement reads what an earlier iteration set, and each knows which one did."""
        carried = False
        for reader in self._scop.statements:
            if reader in self._writers or not reader.accesses_to(self._array):
                continue
            for writer, made_by in self.sources(reader):
                if writer is None:
                    continue
                if not made_by.is_single_valued():
                    return False
                depth = min(len(reader.iterators), len(writer.iterators))
                same = equal_outer(isl.Map.universe(made_by.get_space()), depth)
                carried |= not made_by.is_subset(same)
        return carried

    def last(self, writer: Statement) -> isl.Set:
        """The instance of ``writer`` that sets what ``array`` holds in the end."""
        space = self._scop.context.get_space().add_unnamed_tuple_ui(0)
        element = isl.Set.universe(space.set_tuple_name(isl.dim_type.set, self._array.name))
        flow, _ = self._reaching.last_writes(self._array, element.intersect_params(self._scop.context))
        return flow.domain().extract_set(writer.domain.get_space())


def _in_parallel_loops(
    scop: Scop, live_out: frozenset[str], without: Collection[str] = ()
) -> frozenset[Location]:
    """Where the statements are that some order puts in loops that carry nothing.

    They are those ``without`` accesses to the arrays of these names.
    """
    schedule = compute_schedule(scop, compute_dependences(scop, live_out), Fusion.MIN, outer_coincidence=True)
    names = {
        each.get_tuple_name()
        for band in descendants(schedule.get_root())
        if is_band(band)
        and any(band.band_member_get_coincident(each) for each in range(band.band_n_member()))
        for each in sets_of(band.get_domain())
    }
    return frozenset(
        each.location
        for each in scop.statements
        if each.name in names and not any(access.array.name in without for access in each.accesses)
    )
