"""How much a region does: bounds on the trip counts of its loops."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
from pycparser import c_ast

from polybuild.c.syntax_tree import walk
from polybuild.effort import DYNAMIC_TRIPS, FEW_INSTANCES, HIDDEN_TRIPS
from polybuild.poly.memory import remembered
from polybuild.poly.relations import largest
from polybuild.scop.model import DynamicLoop, Scop, Statement

_HIDDEN = (c_ast.For, c_ast.While, c_ast.DoWhile)


def trip_counts(scop: Scop) -> tuple[tuple[isl.PwAff, ...], ...]:
    """Per statement, an upper bound on the number of values each of its counters takes.

    Each is a piecewise expression of the parameters; their product bounds the
    number of instances (exactly for a rectangular nest). Loops with dynamic bounds and
    those inside a statement that is kept whole are unknown, and taken to run a few times.
    """
    limits = frozenset(parameter.name for parameter in scop.parameters if parameter.is_limit)
    return tuple(_statement(statement, scop.context, limits) for statement in scop.statements)


def is_small(scop: Scop) -> bool:
    """Whether the region is known to run fewer than some hundred statement instances."""
    total = 0
    for trips in trip_counts(scop):
        instances = 1
        for trip in trips:
            number = largest(trip)
            if not number.is_int():
                return False
            instances *= max(0, number.to_python())
        total += instances
    return total < FEW_INSTANCES


def _is_bounded(loop: DynamicLoop, limits: frozenset[str]) -> bool:
    """Whether the static range of ``loop`` says more than the type of its counter."""
    params = isl.dim_type.param
    return not any(
        loop.domain.get_dim_name(params, position) in limits
        for position in range(loop.domain.dim(params))
        if loop.domain.involves_dims(params, position, 1)
    )


def _statement(statement: Statement, context: isl.Set, limits: frozenset[str]) -> tuple[isl.PwAff, ...]:
    unknown = frozenset(loop.position for loop in statement.dynamic if not _is_bounded(loop, limits))
    counts = list(dimension_counts(statement.domain, context, unknown))
    if any(isinstance(each, _HIDDEN) for each in walk(statement.body)):
        counts.append(isl.PwAff.val_on_domain(context, isl.Val(HIDDEN_TRIPS)))
    return tuple(counts)


def _determines(equality: isl.Constraint, dim: int) -> bool:
    """Whether ``equality`` gives dimension ``dim`` one value for each value of some before it."""
    kinds = (isl.dim_type.set, isl.dim_type.div)
    sizes = [equality.dim(kind) for kind in kinds]
    return (
        equality.involves_dims(isl.dim_type.set, dim, 1)
        and equality.involves_dims(isl.dim_type.set, 0, dim)
        and not equality.involves_dims(isl.dim_type.set, dim + 1, sizes[0] - dim - 1)
        and not equality.involves_dims(isl.dim_type.div, 0, sizes[1])
    )


def _window(values: isl.Set, dim: int) -> isl.Val | None:
    """The maximum length of a loop at ``dim`` that moves with those before it, if it is a number.

    What is known of parameters does not count: a maximum that they happen to have tells less.
    """
    if not dim or not any(
        each.involves_dims(isl.dim_type.set, 0, dim) and each.involves_dims(isl.dim_type.set, dim, 1)
        for piece in values.get_basic_sets()
        for each in piece.get_constraints()
    ):
        return None
    inner = isl.Map.from_range(values.reset_tuple_id()).move_dims(
        isl.dim_type.in_, 0, isl.dim_type.out, 0, dim
    )
    length = largest(inner.dim_max(0).sub(inner.dim_min(0)))
    return length.add(isl.Val.one(values.get_ctx())) if length.is_int() else None


@remembered  # whoever wants to know of sizes asks
def dimension_counts(
    domain: isl.Set, context: isl.Set, unknown: frozenset[int] = frozenset()
) -> tuple[isl.PwAff, ...]:
    """The number of values each dimension of ``domain`` takes at most, a single 0 if it is empty.

    Those of the dimensions in ``unknown`` depend on data, and are taken to be a few.
    """
    loops, domain = domain, domain.intersect_params(context).coalesce()
    if domain.is_empty():
        return (isl.PwAff.val_on_domain(context, isl.Val.zero(context.get_ctx())),)
    depth = domain.dim(isl.dim_type.set)
    equalities = [each for each in domain.affine_hull().get_constraints() if each.is_equality()]
    counts = []
    for dim in range(depth):
        if dim in unknown:
            counts.append(isl.PwAff.val_on_domain(context, isl.Val(DYNAMIC_TRIPS)))
            continue
        if any(_determines(each, dim) for each in equalities):
            counts.append(isl.PwAff.val_on_domain(context, isl.Val(1)))
            continue
        values = domain.project_out(isl.dim_type.set, dim + 1, depth - dim - 1)
        window = _window(loops.project_out(isl.dim_type.set, dim + 1, depth - dim - 1), dim)
        if window is not None:
            counts.append(isl.PwAff.val_on_domain(context, window))
            continue
        values = values.project_out(isl.dim_type.set, 0, dim).coalesce()
        span = values.dim_max(0).sub(values.dim_min(0)).add_constant_val(isl.Val.one(context.get_ctx()))
        counts.append(span.coalesce())
    return tuple(counts)


def constant_instances(work: Sequence[Sequence[isl.PwAff]]) -> float | None:
    """The sum over the statements of the products of their trip counts, if these are constants."""
    total = 0.0
    for counts in work:
        product = 1.0
        for each in counts:
            if not each.is_cst():  # isl has no extremes of expressions with integer divisions
                return None
            minimum, maximum = each.min_val(), each.max_val()
            if not (minimum.is_int() and maximum.is_int() and minimum.eq(maximum)):
                return None
            product *= max(0, maximum.to_python())
        total += product
    return total
