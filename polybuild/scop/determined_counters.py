"""Counters that others determine, projected out: loops blocked by hand become what they were before.

``for (kk = 0; kk < n; kk += B) for (k = kk; k < min(kk + B, n); k++)`` runs through the same ``k`` as
``for (k = 0; k < n; k++)``, and ``kk`` is ``B * floor(k / B)`` in each of them. Without the dimension ``kk``
an instance is still the same one; the original order, in which blocks of ``k`` follow each other, stays.
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from polybuild.c.syntax_tree import walk
from polybuild.scop.model import Access, Scop, Statement

_in, _out, _set = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


def project_determined_counters(scop: Scop) -> Scop:
    """``scop`` without the dimensions of loops over blocks; itself if there are none."""
    projected = {each.name: _projected(each) for each in scop.statements}
    if not any(projected.values()):
        return scop
    statements: list[Statement] = []
    to_old = isl.UnionPwMultiAff.empty(scop.context.get_space())
    for statement in scop.statements:
        found = projected[statement.name]
        if found is None:
            found = statement, isl.PwMultiAff.identity_on_domain_space(statement.domain.get_space())
        statements.append(found[0])
        to_old = to_old.union_add(isl.UnionPwMultiAff.from_pw_multi_aff(found[1]))
    schedule = scop.schedule.pullback_union_pw_multi_aff(to_old)
    changed = replace(scop, statements=tuple(statements), schedule=schedule)
    # functions are as simple as the instances allow: what they are elsewhere does not matter
    return replace(changed, schedule=schedule.intersect_domain(changed.domain))


def has_blocks(statement: Statement) -> bool:
    """Whether loops over blocks are around ``statement``, which those inside of them determine."""
    return _projected(statement) is not None


def _projected(statement: Statement) -> tuple[Statement, isl.PwMultiAff] | None:
    """``statement`` without the counters of blocks, and its instances in the old domain; None without any."""
    if statement.dynamic or not statement.domain.involves_locals():
        return None
    changed = None
    position = 0
    while position < len(statement.iterators):
        step = _without(statement, position)
        if step is None:
            position += 1
        else:
            statement, to_old = step
            changed = to_old if changed is None else changed.pullback_pw_multi_aff(to_old)
    return None if changed is None else (statement, changed)


def _without(statement: Statement, position: int) -> tuple[Statement, isl.PwMultiAff] | None:
    """``statement`` without the counter at ``position``, if that counts blocks of another one; else None."""
    name, domain = statement.name, statement.domain
    if mentions(statement, position):
        return None
    old_space = statement.domain.get_space()
    rest = isl.Map.identity(old_space.map_from_set()).project_out(_out, position, 1)
    rest = rest.set_tuple_name(_out, name).intersect_domain(domain)
    to_old = rest.reverse()
    if not to_old.is_single_valued():
        return None
    function = isl.PwMultiAff.from_map(to_old)
    counter = function.get_pw_aff(position)
    if not isl.Map.from_pw_aff(counter).wrap().involves_locals():
        return None  # no block
    remaining = _plain(statement.domain.project_out(_set, position, 1).set_tuple_name(name).coalesce())
    for index, each in enumerate((*statement.iterators[:position], *statement.iterators[position + 1 :])):
        remaining = remaining.set_dim_name(_set, index, each.name)
    accesses = tuple(_moved(each, to_old, position, remaining) for each in statement.accesses)
    iterators = (*statement.iterators[:position], *statement.iterators[position + 1 :])
    plain = replace(statement, domain=remaining, iterators=iterators, accesses=accesses)
    return plain, function.gist(remaining)


def mentions(statement: Statement, position: int) -> list[c_ast.ID]:
    """The counter at ``position`` in the body, outside of accesses that are written anew."""
    exact = [each.node for each in statement.accesses if each.exact and each.relation.is_single_valued()]
    inside = {id(part) for node in exact for part in walk(node)}
    counter = statement.iterators[position].name
    return [
        each
        for each in walk(statement.body)
        if isinstance(each, c_ast.ID) and each.name == counter and id(each) not in inside
    ]


def _moved(access: Access, to_old: isl.Map, position: int, domain: isl.Set) -> Access:
    """``access`` of the instances without the counter at ``position``."""
    exact = to_old.apply_range(access.relation)
    name = access.relation.get_tuple_name(_in)
    plain = access.relation.project_out(_in, position, 1).set_tuple_name(_in, name).remove_divs()
    plain = plain.intersect_domain(domain).coalesce()
    same = plain.intersect_domain(exact.domain()).is_equal(exact)
    return replace(access, relation=plain if same else exact.coalesce())


def _plain(domain: isl.Set) -> isl.Set:
    """``domain`` without integer divisions that say nothing."""
    plain = domain.remove_divs()
    return plain if plain.is_subset(domain) else domain
