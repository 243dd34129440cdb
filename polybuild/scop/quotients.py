"""That quotients by numbers of bytes are whole: pointers are moved by whole elements then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import islpy as isl

from polybuild.c.syntax_tree import key, location, walk
from polybuild.c.synthetic import Quotient
from polybuild.diagnostics import Unsupported
from polybuild.poly import spaces
from polybuild.poly.integers import value_of
from polybuild.scop.assumptions import Violation
from polybuild.scop.expressions import Expressions, divisor_of
from polybuild.scop.facts import Facts
from polybuild.scop.program_point import ProgramPoint


def not_whole(facts: Facts) -> Iterator[Violation]:
    """That one of the quotients of a region is not whole; parameters are 0 where they are not read.

    Raises Unsupported where it is not known before the region what is divided.
    """
    nodes = (each for one in facts.region.statements for each in walk(one) if isinstance(each, Quotient))
    for node in {key(each): each for each in nodes}.values():
        rest = _divided(node, facts).mod_val(value_of(divisor_of(node)))
        reason = "what pointers are moved by must be whole elements"
        beyond = rest.non_zero_set()
        yield Violation(beyond, spaces.universe(0), "pointer-arithmetic", reason, location(node), "")


def _divided(node: Quotient, facts: Facts) -> isl.PwAff:
    """What is divided in ``node``; it may not be read for the sake of that."""
    known = facts.parameters.whole_of(facts.names.variables[node])
    if known is not None:
        return known
    try:
        return Expressions(replace(facts, eager=False), "bound", []).affine(node.left, ProgramPoint()).value
    except Unsupported as refusal:
        raise Unsupported(
            "pointer-arithmetic",
            "how many bytes a pointer is moved by is not known before the region",
            location(node),
            "read it into a variable before the region",
        ) from refusal
