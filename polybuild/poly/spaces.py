"""Constructors for the spaces of the model.

While a region is walked, instances live in the unnamed set space ``[i0, ..., in]``
of the loops around the current place, and expressions are ``isl.PwAff`` on it.
Parameters are added as they are met; isl aligns them.
"""

from __future__ import annotations

import islpy as isl

from polybuild.poly.integers import value_of

_dim = isl.dim_type


def universe(depth: int) -> isl.Set:
    """All of the unnamed space with ``depth`` dimensions and no parameters."""
    return isl.Set.universe(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, depth))


def all_parameters() -> isl.Set:
    """The parameter set without constraints."""
    return isl.Set.universe(isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 0))


def constant(depth: int, value: int) -> isl.PwAff:
    """``{ [i0, ...] -> [value] }``."""
    return isl.PwAff.val_on_domain(universe(depth), value_of(value))


def dimension(depth: int, position: int) -> isl.PwAff:
    """``{ [i0, ...] -> [i_position] }``."""
    space = isl.LocalSpace.from_space(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, depth))
    return isl.PwAff.var_on_domain(space, _dim.set, position)


def identifier(name: str) -> isl.Id:
    """The identifier that isl itself gives to ``name`` (``isl.Id`` makes a different one at each call)."""
    space = isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 1).set_dim_name(_dim.param, 0, name)
    return space.get_dim_id(_dim.param, 0)


def parameter(depth: int, name: str) -> isl.PwAff:
    """``[name] -> { [i0, ...] -> [name] }``."""
    return isl.PwAff.param_on_domain_id(universe(depth), identifier(name))


def deepen_set(domain: isl.Set) -> isl.Set:
    """``domain`` with one unconstrained dimension more, innermost."""
    return domain.add_dims(_dim.set, 1)


def deepen(value: isl.PwAff, by: int = 1) -> isl.PwAff:
    """``value`` on a space with ``by`` dimensions more, innermost."""
    return value.add_dims(_dim.in_, by) if by else value


def innermost_map(domain: isl.Set) -> isl.Map:
    """``{ [i0, ..., in] : c }`` as ``{ [i0, ...] -> [in] : c }``."""
    depth = int(domain.dim(_dim.set))
    return isl.Map.from_range(domain).move_dims(_dim.in_, 0, _dim.out, 0, depth - 1)


def constant_value(value: isl.PwAff) -> int | None:
    """The number that ``value`` is everywhere, None if it is not one number."""
    if value.n_piece() != 1 or not value.is_cst():
        return None
    (_, piece), *_ = value.get_pieces()
    number = piece.get_constant_val()
    return number.to_python() if number.is_int() else None


def outer_loops(space: isl.Space, depth: int) -> isl.MultiAff:
    """``{ [d0, ..., dn, x0, ...] -> [d0, ..., dn] }``, the first ``depth`` dimensions of ``space``."""
    loops = isl.MultiAff.identity(space.map_from_set())
    loops = loops.drop_dims(_dim.out, depth, loops.dim(_dim.out) - depth)
    return loops.reset_tuple_id(_dim.out) if loops.has_tuple_id(_dim.out) else loops


def extent(instances: isl.Set, position: int) -> int | None:
    """How far apart the values of a dimension are, all others being the same; None if no number limits it."""
    same = isl.Map.identity(instances.get_space().map_from_set())
    line = same.drop_constraints_involving_dims(_dim.out, position, 1)
    distance = line.intersect_domain(instances).intersect_range(instances).deltas().dim_max_val(position)
    return 1 + distance.to_python() if distance.is_int() else None


def stride_of(points: isl.Set, position: int) -> isl.Val:
    """The step between the values of a dimension for given values of those before it."""
    inner = points.dim(_dim.set) - position - 1
    stride = points.get_stride(position)
    if inner and not stride.is_one():  # it may hold for given values of later ones alone
        stride = points.project_out(_dim.set, position + 1, inner).get_stride(position)
    return stride


def dimensionality(points: isl.Set) -> int:
    """In how many directions ``points`` extend: their dimensions but for those that the others determine."""
    count = points.dim(isl.dim_type.set)
    equalities = points.affine_hull().remove_divs().get_constraints()
    return count - sum(
        each.is_equality() and each.involves_dims(isl.dim_type.set, 0, count) for each in equalities
    )
