"""Early exits of a region: what must be looked at before it runs, in terms that it does not change.

The tests of exits run before the region, so they may read nothing that the region writes. Variables that
are set in the same iteration (``double d = x[i]; if (d < 0) return -1;``) are replaced by their values.
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from polybuild.analysis.privatisable_definitions import PrivatisableDefinitions
from polybuild.c.syntax_tree import walk
from polybuild.diagnostics import Unsupported
from polybuild.scop.model import Access, ExitTests, Scop, Statement


def with_resolved_exits(scop: Scop) -> Scop:
    """``scop`` with tests of exits that read what it does not write. Raises Unsupported if some do."""
    if scop.exits is None:
        return scop
    tests = scop.exits.statements
    whole = replace(scop, statements=(*scop.statements, *tests), schedule=scop.exits.schedule, exits=None)
    definitions = PrivatisableDefinitions(whole)
    resolved = tuple(_resolved(each, definitions) for each in tests)
    domains = isl.UnionSet.empty(scop.context.get_space())
    for each in tests:
        domains = domains.union(isl.UnionSet.from_set(each.domain))
    return replace(scop, exits=ExitTests(resolved, scop.exits.schedule.intersect_domain(domains)))


def with_reads_of_exits(scop: Scop) -> Scop:
    """``scop`` with its tests of exits among the statements, to be asked what memory it touches."""
    if scop.exits is None:
        return scop
    arrays = {each.name: each for each in scop.arrays}
    tests = tuple(
        replace(
            each,
            accesses=tuple(
                replace(access, array=arrays.get(access.array.name, access.array)) for access in each.accesses
            ),
        )
        for each in scop.exits.statements
    )
    return replace(scop, statements=(*scop.statements, *tests))


def _resolved(test: Statement, definitions: PrivatisableDefinitions) -> Statement:
    """``test`` with the values of variables that the region sets."""
    reads: list[Access] = []

    def resolve(body: c_ast.Node) -> c_ast.Node:
        if not isinstance(body, c_ast.If):
            return body
        value = definitions.value(body.cond, test)
        if value is None:
            raise Unsupported(
                "early-exit",
                "whether the loops are left here depends on what the region writes",
                test.location,
                "end the region before it, or look for such cases in a loop of their own",
            )
        reads.extend(value.reads)
        return c_ast.If(value.expression, resolve(body.iftrue), None, body.coord)

    body = resolve(test.body)
    mentioned = {id(node) for node in walk(body)}
    return replace(
        test, body=body, accesses=tuple(each for each in reads if id(each.node) in mentioned), locals=()
    )
