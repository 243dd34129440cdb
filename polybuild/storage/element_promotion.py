"""Elements that an iteration updates under conditions, in variables while it runs.

Whether an update happens is known for each value of the data only; in memory, it is a store that must not be
made where the condition does not hold::

    for i:                                     for i:
      dist[i] = INFINITY;                        dist_each = INFINITY;
      for k:                                     for k:
        if (d[i][k] < dist[i])           ->        if (d[i][k] < dist_each)
          dist[i] = d[i][k];                         dist_each = d[i][k];
                                                 dist[i] = dist_each;

In a variable it is a choice between two values, as in the many programs that are written that way, and
what is done for these (lanes, above all) is done for both (register promotion: Lu and Cooper,
"Register Promotion in C Programs", PLDI 1997). An element gets its value back only where the region certainly
writes to it in any case.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import partial

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.dependences import accesses_of, flow_dependences
from polybuild.c.syntax_tree import duplicate, walk
from polybuild.c.types import FloatingType, IntegerType
from polybuild.effort import PROMOTION_OPERATIONS
from polybuild.poly.budget import found_within
from polybuild.poly.relations import maps_of
from polybuild.poly.spaces import outer_loops
from polybuild.scop.duplicates import unused_names, variable_for
from polybuild.scop.model import Access, AccessKind, Array, Scop, Statement
from polybuild.storage.insertion import with_statements
from polybuild.values import dataclass

_in, _out = isl.dim_type.in_, isl.dim_type.out


def promote_elements(scop: Scop, taken: Collection[str]) -> Scop:
    """``scop`` with elements that iterations update under conditions in variables, where that is the same.

    New variables get none of the names ``taken``.
    """
    for array in scop.arrays:
        update = next(_conditional(scop, array), None)
        if update is not None:
            changed = found_within(PROMOTION_OPERATIONS, partial(_promoted, scop, array, update, taken))
            scop = changed or scop
    return scop


def _conditional(scop: Scop, array: Array) -> Iterator[tuple[Statement, Access]]:
    """The updates of elements of ``array`` that happen or not, where just one element may be meant."""
    plain = bool(array.extents) and not any(array.suffixes)
    if not plain or not isinstance(array.element, IntegerType | FloatingType):
        return
    for statement in scop.statements:
        for access in statement.accesses:
            if access.array.name == array.name and access.kind is AccessKind.MAY_WRITE and access.exact:
                yield statement, access


@dataclass(frozen=True, slots=True)
class _Iteration:
    """The iterations of the ``depth`` outer loops around ``statements``, each of which has one element.

    ``elements`` is ``{ [i] -> a[x] }``.
    """

    array: Array
    depth: int
    statements: tuple[Statement, ...]
    elements: isl.Map

    @property
    def names(self) -> frozenset[str]:
        """The names of the statements."""
        return frozenset(each.name for each in self.statements)


def _promoted(
    scop: Scop, array: Array, update: tuple[Statement, Access], taken: Collection[str]
) -> Scop | None:
    found = _iteration(scop, array, *update)
    if found is None or not _is_written_anyway(scop, found):
        return None
    anchor = next((each for each in found.statements if _covers(each, found)), None)
    if anchor is None:
        return None
    names = {*taken, *(each.name for each in scop.arrays)}
    own = replace(variable_for(array, "each", names), copied=array.spelling)
    last, first = unused_names(scop, 2)
    store = _copy(scop, last, anchor, found, own)
    loads = [] if _is_set_first(scop, found) else [_reversed(_copy(scop, first, anchor, found, own))]
    moved = replace(
        scop,
        arrays=(*scop.arrays, own),
        statements=tuple(_on_variable(each, found, own) for each in scop.statements),
    )
    return with_statements(moved, anchor, found.depth, before=loads, after=[store])


def _iteration(scop: Scop, array: Array, statement: Statement, update: Access) -> _Iteration | None:
    """The outermost iterations that ``update``, in ``statement``, has one element in, if there are some."""
    for depth in range(1, len(statement.iterators)):
        elements = _elements(scop, statement, update, depth)
        if elements.is_single_valued():
            break
    else:
        return None
    inside = [each for each in scop.statements if each.iterators[:depth] == statement.iterators[:depth]]
    users = [each for each in inside if each.accesses_to(array)]
    for each in users:
        if each.dynamic or not _is_plain(each, array):
            return None
        for access in each.accesses_to(array):
            elements = elements.union(_elements(scop, each, access, depth))
    elements = elements.coalesce()
    if not elements.is_single_valued() or not elements.is_injective():
        return None
    return _Iteration(array, depth, tuple(users), elements)


def _elements(scop: Scop, statement: Statement, access: Access, depth: int) -> isl.Map:
    """``{ [i] -> a[x] }``: what ``access`` touches in an iteration of the ``depth`` outer loops."""
    outer = isl.Map.from_multi_aff(outer_loops(statement.domain.get_space(), depth))
    inside = outer.intersect_domain(statement.domain).intersect_params(scop.context)
    return inside.reverse().apply_range(access.relation).coalesce()


def _is_plain(statement: Statement, array: Array) -> bool:
    """Whether ``statement`` mentions ``array`` in accesses of one element each, and nowhere else."""
    accesses = statement.accesses_to(array)
    inside = {id(part) for each in accesses for part in walk(each.node)}
    names = {part.name for part in walk(array.expression) if isinstance(part, c_ast.ID)}
    return all(each.exact and each.within is None for each in accesses) and all(
        id(part) in inside
        for part in walk(statement.body)
        if isinstance(part, c_ast.ID) and part.name in names
    )


def _is_written_anyway(scop: Scop, found: _Iteration) -> bool:
    """Whether each element of the iterations is certainly written somewhere in the region."""
    _, writes, _ = accesses_of(scop, found.array)
    return bool(isl.UnionSet.from_set(found.elements.range()).is_subset(writes.range()))


def _covers(statement: Statement, found: _Iteration) -> bool:
    """Whether ``statement`` has an instance in each iteration."""
    outer = isl.Map.from_multi_aff(outer_loops(statement.domain.get_space(), found.depth))
    here = outer.intersect_domain(statement.domain).range()
    return bool(found.elements.domain().is_subset(here))


def _is_set_first(scop: Scop, found: _Iteration) -> bool:
    """Whether each iteration writes its element, and reads nothing that was there before."""
    if not any(
        len(each.iterators) == found.depth
        and _covers(each, found)
        and any(access.kind is AccessKind.WRITE for access in each.accesses_to(found.array))
        for each in found.statements
    ):
        return False
    reads, must, may = accesses_of(scop, found.array)
    flow, old = flow_dependences(scop, reads, must, may, isl.UnionMap.empty(reads.get_space()))
    before = {each.get_tuple_name(_in) for each in maps_of(old) if not each.is_empty()}
    before |= {
        each.get_tuple_name(_out)
        for each in maps_of(flow)
        if not each.is_empty() and each.get_tuple_name(_in) not in found.names
    }
    return before.isdisjoint(found.names)


def _copy(scop: Scop, name: str, anchor: Statement, found: _Iteration, own: Array) -> Statement:
    """``a[x] = v`` for each iteration, ``v`` being the variable ``own``; it stands where ``anchor`` does."""
    element, variable = duplicate(anchor.accesses_to(found.array)[0].node), c_ast.ID(own.name)
    elements = found.elements.set_tuple_name(_in, name).gist_params(scop.context)
    domain = elements.domain()
    value = _scalar(elements, own)
    return replace(
        anchor,
        name=name,
        domain=domain,
        iterators=anchor.iterators[: found.depth],
        body=c_ast.Assignment("=", element, variable, anchor.body.coord),
        accesses=(
            Access(own, value, AccessKind.READ, variable),
            Access(found.array, elements, AccessKind.WRITE, element),
        ),
        locals=(),
    )


def _scalar(elements: isl.Map, own: Array) -> isl.Map:
    """The accesses of the variable ``own`` in place of those of ``elements``."""
    return elements.project_out(_out, 0, elements.dim(_out)).set_tuple_name(_out, own.name)


def _reversed(copy: Statement) -> Statement:
    """``v = a[x]`` for the ``copy`` ``a[x] = v``."""
    source, target = copy.accesses
    return replace(
        copy,
        body=c_ast.Assignment("=", source.node, target.node, copy.body.coord),
        accesses=(replace(target, kind=AccessKind.READ), replace(source, kind=AccessKind.WRITE)),
    )


def _on_variable(statement: Statement, found: _Iteration, own: Array) -> Statement:
    """``statement`` with ``own`` in place of its elements, if it is one of the iterations'."""
    if statement.name not in found.names:
        return statement
    moving = statement.accesses_to(found.array)
    gone = {id(part) for each in moving for part in walk(each.node)}

    def moved(access: Access) -> Access:
        return replace(access, array=own, relation=_scalar(access.relation, own))

    return replace(
        statement,
        accesses=tuple(moved(each) if each in moving else each for each in statement.accesses),
        locals=tuple((node, array) for node, array in statement.locals if id(node) not in gone),
    )
