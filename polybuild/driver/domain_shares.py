"""What part of the box of their trip counts the instances of statements are: half for a triangle."""

from __future__ import annotations

from pycparser import c_ast

from polybuild.analysis.trip_counts import trip_counts
from polybuild.c.syntax_tree import walk
from polybuild.effort import FULL_SHARE
from polybuild.scop.model import Scop, Statement
from polybuild.targets.cpu.cost.extents import about_count
from polybuild.targets.cpu.cost.parameters import instances_at, parameters_at, usual_values

_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)


def domain_shares(scop: Scop) -> dict[str, float]:
    """The share of each statement, by name, that has far fewer instances than that, at usual parameters.

    Where data decide how often loops run there is none.
    """
    point = parameters_at(scop.context, usual_values(scop))
    found: dict[str, float] = {}
    for statement, trips in zip(scop.statements, trip_counts(scop), strict=True):
        domain, box = statement.domain.intersect_params(point), instances_at(trips, point)
        if not _is_static(statement) or not box or domain.is_empty():
            continue
        share = about_count(domain) / box
        if share < FULL_SHARE:
            found[statement.name] = share
    return found


def _is_static(statement: Statement) -> bool:
    return not statement.dynamic and not any(isinstance(each, _LOOPS) for each in walk(statement.body))
