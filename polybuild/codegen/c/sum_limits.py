"""Limits of sums that a check in integers might exceed itself: such sums are compared in double."""

from __future__ import annotations

import islpy as isl

from polybuild.c.conversions import GREATEST
from polybuild.codegen.c.expressions import AND, UNARY, ExpressionPrinter
from polybuild.poly.integers import integer_of

_param = isl.dim_type.param


def has_far_limits(condition: isl.Set) -> bool:
    """Whether ``condition``, of parameters, limits a sum to about what 64 bits hold."""
    return any(_is_far(each) for part in condition.get_basic_sets() for each in part.get_constraints())


def sum_limits_text(build: isl.AstBuild, condition: isl.Set, printer: ExpressionPrinter) -> str:
    """``condition`` in C, or a narrower one that excludes sums beyond half of what 64 bits hold, too."""
    parts = [_part(build, each, printer) for each in condition.get_basic_sets()]
    return parts[0] if len(parts) == 1 else f"({' || '.join(parts)})"


def _part(build: isl.AstBuild, part: isl.BasicSet, printer: ExpressionPrinter) -> str:
    far = [each for each in part.get_constraints() if _is_far(each)]
    near = isl.BasicSet.universe(part.get_space())
    for each in part.get_constraints():
        near = near if _is_far(each) else near.add_constraint(each)
    texts = [f"{_sum(build, each, printer)} <= {_far()}.0" for each in far]
    if not near.plain_is_universe():
        texts.append(printer.text(build.expr_from_set(isl.Set.from_basic_set(near)), AND))
    return f"({' && '.join(texts)})" if len(texts) > 1 else texts[0]


def _far() -> int:
    """Half of what is beyond 64 bits: what rounding adds to a sum in double is less than the other half."""
    return GREATEST // 2 + 1


def _is_far(constraint: isl.Constraint) -> bool:
    return (
        not constraint.is_equality()
        and constraint.dim(isl.dim_type.div) == 0
        and integer_of(constraint.get_constant_val()) >= _far()
    )


def _sum(build: isl.AstBuild, limit: isl.Constraint, printer: ExpressionPrinter) -> str:
    """What ``limit`` says is not too large, in double."""
    texts = []
    for position in range(limit.dim(_param)):
        factor = -integer_of(limit.get_coefficient_val(_param, position))
        name = isl.PwAff.var_on_domain(limit.get_local_space(), _param, position) if factor else None
        if name is not None:
            own = f"(double){printer.text(build.expr_from_pw_aff(name), UNARY)}"
            texts.append(own if factor == 1 else f"{factor}.0 * {own}")
    return " + ".join(texts)
