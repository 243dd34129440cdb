"""Elements of arrays that private values end up in.

Values of one variable may end up in one array by several statements, or in several arrays::

    s = a[i][j];
    for k: s -= l[i][k] * l[j][k];
    if (i == j) d[i] = sqrt(s);                 the values for i = j end up in d, all others in l
    else l[i][j] = s / d[j];

In the second case statements that make and use values for different arrays become different statements, by
index-set splitting (Griebl, Feautrier, Lengauer 2000): their values are as many webs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import combinations

import islpy as isl

from polybuild.c.syntax_tree import always_evaluates
from polybuild.scop.duplicates import copied, order_of_copies, unused_names
from polybuild.scop.model import Access, AccessKind, Array, Scop, Statement
from polybuild.storage.webs import Web


def destinations(scop: Scop, web: Web) -> Iterator[tuple[Array, isl.Map]]:
    """Arrays that all values of ``web`` end up in, and which element each could be: ``{ cell -> a[x] }``."""
    written = _written_cells(scop, web)
    for array, elements in _parts(scop, web):
        if written.is_subset(elements.domain()):
            yield array, elements


def split_by_destination(scop: Scop, web: Web) -> Scop | None:
    """``scop`` with statements for values of ``web`` that end up in one array each; None if that is no split.

    The instances and their order stay as they are.
    """
    whole = {array.name: elements for array, elements in _parts(scop, web)}
    cells = [each.domain() for each in whole.values()]
    if len(cells) < 2 or not _written_cells(scop, web).is_subset(reduce(isl.Set.union, cells)):
        return None
    copies: dict[str, list[isl.Set]] = {}
    for statement in scop.statements:
        domains = [_touching(scop, statement, web, each) for each in cells]
        here = [each for each in domains if not each.is_empty()]
        if not _is_partition(statement.domain.intersect_params(scop.context), here):
            return None
        copies[statement.name] = here
    return _split(scop, copies)


def _parts(scop: Scop, web: Web) -> Iterator[tuple[Array, isl.Map]]:
    """Arrays that some values of ``web`` end up in, and the elements of these, again for each further use."""
    together: dict[str, isl.Map] = {}
    for array, elements in _uses(scop, web):
        yield array, elements
        if array.name not in together:
            together[array.name] = elements
        elif (joined := together[array.name].union(elements).coalesce()).is_single_valued():
            together[array.name] = joined
            yield array, joined


def _uses(scop: Scop, web: Web) -> Iterator[tuple[Array, isl.Map]]:
    """The array that each use of values of ``web`` is for, and the element each cell could be."""
    for statement in scop.statements:
        if statement.name not in web.readers or statement.dynamic:
            continue
        uses = [
            each for each in statement.accesses if each.kind is AccessKind.READ and web.has(statement, each)
        ]
        results = [each for each in statement.accesses if each.kind is not AccessKind.READ]
        if len(results) != 1 or results[0].array.name == web.array.name:
            continue
        (result,) = results
        if not _may_hold(statement, result, web):
            continue
        for use in uses:
            elements = web.cells(use).reverse().apply_range(result.relation).coalesce()
            elements = elements.intersect_params(scop.context)
            if elements.is_single_valued():
                yield result.array, elements


def _may_hold(statement: Statement, result: Access, web: Web) -> bool:
    """Whether what ``statement`` writes for certain has the type of the values of ``web``."""
    return (
        result.exact
        and result.kind is AccessKind.WRITE
        and result.array.element == web.array.element
        and bool(result.array.extents)
        and always_evaluates(statement.body, result.node)
    )


def _written_cells(scop: Scop, web: Web) -> isl.Set:
    cells = [
        web.cells(access).range()
        for statement in scop.statements
        for access in statement.accesses
        if access.kind is not AccessKind.READ and web.has(statement, access)
    ]
    return reduce(isl.Set.union, cells).intersect_params(scop.context)


def _touching(scop: Scop, statement: Statement, web: Web, cells: isl.Set) -> isl.Set:
    """The instances of ``statement`` that touch ``cells`` of ``web`` and no others; all, if none of it."""
    domain = statement.domain.intersect_params(scop.context)
    touched = [
        web.cells(each).intersect_domain(domain) for each in statement.accesses if web.has(statement, each)
    ]
    for each in touched:
        domain = domain.intersect(each.intersect_range(cells).domain())
    return domain.coalesce()


def _is_partition(whole: isl.Set, parts: Sequence[isl.Set]) -> bool:
    """Whether each element of ``whole`` is in one of ``parts``, or in all as they are ``whole`` each."""
    if not parts or all(each.is_equal(whole) for each in parts):
        return bool(parts)
    union = reduce(isl.Set.union, parts)
    disjoint = all(one.is_disjoint(other) for one, other in combinations(parts, 2))
    return disjoint and bool(union.is_equal(whole))


def _split(scop: Scop, parts: Mapping[str, Sequence[isl.Set]]) -> Scop:
    """``scop`` with each statement as one for each of its ``parts``, by names, that are not all of it."""
    names = iter(unused_names(scop, sum(map(len, parts.values()))))
    statements, originals = [], {}
    for statement in scop.statements:
        own = parts[statement.name]
        if len(own) == 1 or own[0].is_equal(statement.domain.intersect_params(scop.context)):
            statements.append(statement)
            continue
        for part in own:
            statements.append(copied(statement, next(names), part.gist_params(scop.context)))
            originals[statements[-1].name] = statement.name
    schedule = order_of_copies(scop, statements, originals)
    return replace(scop, statements=tuple(statements), schedule=schedule)
