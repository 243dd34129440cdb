"""Values of parameters for which costs are computed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import islpy as isl

from polybuild.analysis.operations import bytes_of_element
from polybuild.effort import (
    FIXED_SIZE,
    LOOP_START,
    NOMINAL_BYTES,
    NOMINAL_EDGES,
    NOMINAL_SIZE,
    SIZE_STEP,
    SMALL_SIZE,
    WINDOW_RADIUS,
)
from polybuild.poly.integers import integer_of, value_of
from polybuild.poly.memory import Itself, remembered
from polybuild.poly.relations import largest
from polybuild.scop.model import Scop
from polybuild.targets.cpu.cost.extents import about_count
from polybuild.targets.cpu.cost.grids import walk_of
from polybuild.values import dataclass

_params = isl.dim_type.param


def nominal_parameters(context: isl.Set) -> isl.Set:
    """One plausible point of ``context``: each parameter at its bound if it has one, else a thousand."""
    count = context.dim(_params)
    for dim in range(count):
        values = context.move_dims(isl.dim_type.set, 0, _params, dim, 1)
        values = values.project_out(_params, 0, count - 1)
        value = values.dim_max_val(0)
        if not value.is_int():  # isl says of multiples of a number that they have a bound
            value = values.upper_bound_val(isl.dim_type.set, 0, isl.Val(NOMINAL_SIZE)).dim_max_val(0)
        if value.is_int():
            context = context.fix_val(_params, dim, value)
    return context


def running_parameters(scop: Scop) -> isl.Set:
    """One plausible point at which ``scop`` runs, if there is one: loops do not start where they end."""
    starts = dict.fromkeys(starts_of_loops(scop), LOOP_START)
    point = parameters_at(scop.context, starts)
    return point if _runs_at(scop, point) else nominal_parameters(scop.context)


def parameters_at(context: isl.Set, values: Mapping[str, int]) -> isl.Set:
    """The point of ``context`` at which parameters have ``values``, those without one a plausible one."""
    for name, value in values.items():
        dim = context.find_dim_by_name(_params, name)
        if dim >= 0:
            context = context.fix_val(_params, dim, value_of(value))
    return nominal_parameters(context)


def smaller_sizes(
    context: isl.Set,
    values: Mapping[str, int],
    among: frozenset[str] | None = None,
    minimum: int = FIXED_SIZE,
) -> Iterator[Mapping[str, int]]:
    """``values``, then half of them and so on, as long as there are such parameters, to half of ``minimum``.

    Those below ``minimum`` at first stay, and those that are not ``among`` the given ones.
    """
    sizes = {name for name, value in values.items() if value >= minimum and (among is None or name in among)}
    while not parameters_at(context, values).is_empty():
        yield values
        halves = {
            name: value // 2 if name in sizes and value >= max(2, minimum // 2) else value
            for name, value in values.items()
        }
        if halves == values:
            return
        values = halves


def trips_at(count: isl.PwAff, point: isl.Set) -> int:
    """What ``count``, a function of the parameters, is at the ``point``; 0 where it is none."""
    value = largest(count.intersect_params(point))
    return max(0, value.to_python()) if value.is_int() else 0


def instances_at(counts: Sequence[isl.PwAff], point: isl.Set) -> float:
    """The product of trip ``counts`` at the ``point``."""
    return math.prod(trips_at(each, point) for each in counts)


def values_at(point: isl.Set) -> dict[str, int]:
    """The parameters of a single ``point`` by their names."""
    sample = point.sample_point()
    return {
        str(point.get_dim_name(_params, dim)): sample.get_coordinate_val(_params, dim).to_python()
        for dim in range(point.dim(_params))
    }


def usual_values(scop: Scop) -> dict[str, int]:
    """Values of all parameters at which some of ``scop`` runs: large ones, one of them small if need be.

    A counter of a loop around, from which loops of ``scop`` start, has the middle one of its values: the last
    ones leave hardly anything to do.
    """
    return dict(_usual_values(Itself(scop)))


@remembered  # all that compare candidates ask for them
def _usual_values(of: Itself[Scop]) -> dict[str, int]:
    scop = of.value
    usual = _large_values(scop)
    for name, half in _halves(scop.context, usual).items():
        values = {**usual, name: half}
        if _instances(scop, values) > _instances(scop, usual):
            usual = values
    return usual


def _large_values(scop: Scop) -> dict[str, int]:
    names = [scop.context.get_dim_name(_params, dim) for dim in range(scop.context.dim(_params))]
    lines = dict.fromkeys(lengths_of_lines(scop), NOMINAL_SIZE**2)
    lines |= dict.fromkeys(radii_of_windows(scop), WINDOW_RADIUS)
    lines |= dict.fromkeys(extents_of_windows(scop), SMALL_SIZE)
    starts = dict.fromkeys(starts_of_loops(scop), LOOP_START)
    for values in (lines | starts, lines, {}, *({str(name): SMALL_SIZE} for name in names)):
        point = parameters_at(scop.context, values)
        if _runs_at(scop, point):
            return _fitting(scop, values_at(point))
    return values_at(nominal_parameters(scop.context))


def _fitting(scop: Scop, values: dict[str, int]) -> dict[str, int]:
    """``values``, or smaller ones if arrays are larger with them than most are: cubes have shorter edges."""
    large = [each for each in _touched(scop) if each.bytes_at(values) > NOMINAL_BYTES]
    for size in NOMINAL_EDGES if large else ():
        shorter = {name: size for name, value in values.items() if size < value <= NOMINAL_SIZE}
        edges = {
            name: size
            for name in shorter
            if any(each.bytes_at({**values, name: size}) < each.bytes_at(values) for each in large)
        }
        if not edges or not _runs_at(scop, parameters_at(scop.context, values | edges)):
            break
        values = values | edges
        large = [each for each in large if each.bytes_at(values) > NOMINAL_BYTES]
    return values


@dataclass(frozen=True, slots=True)
class _TouchedArray:
    """The ``elements`` of an array that a region touches in its ``context``, each of so many bytes."""

    context: isl.Set
    elements: isl.Set
    size: int

    def bytes_at(self, values: Mapping[str, int]) -> int:
        """The bytes of the box around the elements where parameters have ``values``; 0 if nobody knows."""
        there = self.elements.intersect_params(parameters_at(self.context, values))
        if there.is_empty():
            return 0
        dims = range(there.dim(isl.dim_type.set))
        spans = [there.dim_max_val(dim).sub(there.dim_min_val(dim)) for dim in dims]
        known = all(each.is_int() for each in spans)
        return self.size * math.prod(1 + integer_of(each) for each in spans) if known else 0


def _touched(scop: Scop) -> list[_TouchedArray]:
    """What ``scop`` touches of each of its arrays."""
    elements: dict[str, isl.Set] = {}
    arrays = {each.name: each for each in scop.arrays if each.extents}
    for statement in scop.statements:
        for each in statement.accesses:
            if each.array.name in arrays:
                name, found = each.array.name, each.relation.intersect_domain(statement.domain).range()
                elements[name] = elements[name].union(found) if name in elements else found
    return [
        _TouchedArray(scop.context, each, bytes_of_element(arrays[name])) for name, each in elements.items()
    ]


def _halves(context: isl.Set, values: Mapping[str, int]) -> dict[str, int]:
    """The middles of the ranges of parameters of which ``values`` has the largest one."""
    found: dict[str, int] = {}
    for name, value in values.items():
        dim = context.find_dim_by_name(_params, name)
        low, high = _range(context, dim)
        if low is not None and high == value:
            found[name] = (low + value) // 2
    return found


def _range(context: isl.Set, dim: int) -> tuple[int | None, int | None]:
    """The least and the greatest value of a parameter; None where there is none."""
    values = context.move_dims(isl.dim_type.set, 0, _params, dim, 1)
    values = values.project_out(_params, 0, values.dim(_params))
    low, high = values.dim_min_val(0), values.dim_max_val(0)
    return low.to_python() if low.is_int() else None, high.to_python() if high.is_int() else None


def _instances(scop: Scop, values: Mapping[str, int]) -> float:
    """About how many instances ``scop`` has at ``values``."""
    point = parameters_at(scop.context, values)
    domains = (each.domain.intersect_params(point) for each in scop.statements)
    return sum(about_count(each) for each in domains if not each.is_empty())


def radii_of_windows(scop: Scop) -> frozenset[str]:
    """The parameters that loops count up from the negative values of: ``for (d = -r; d <= r; d++)``."""
    return frozenset(name for each in _bounds(scop) for name, sign in _begun_with(each) if sign > 0)


def extents_of_windows(scop: Scop) -> frozenset[str]:
    """The parameters that loops end at which make others shorter: ``m`` of ``for (i <= n - m) for (k < m)``.

    Were these as large as those that the others end at, a window would have one place.
    """
    bounds = list(_bounds(scop))
    shortened = {name for each in bounds for name in _shortened_by(each)}
    alone = {name for each in bounds if not list(_shortened_by(each)) for name in _ended_at(each)}
    return frozenset(name for name in shortened & alone if not _is_bounded(scop.context, name))


def starts_of_loops(scop: Scop) -> frozenset[str]:
    """The parameters that loops start from and none ends at: ``low`` of ``for (i = low; i < high; i++)``.

    Were these as large as those that loops end at, hardly anything would run. So it is with what ends are
    counted from: ``low`` of ``for (i = 0; i < high - low; i++)``.
    """
    starts = {name for each in _bounds(scop) for name, sign in _begun_with(each) if sign < 0}
    starts |= {name for each in _bounds(scop) for name in _shortened_by(each)}
    ends = {name for each in _bounds(scop) for name in _ended_at(each)}
    return frozenset(name for name in starts - ends if not _is_bounded(scop.context, name))


def _is_bounded(context: isl.Set, name: str) -> bool:
    """Whether ``context`` has an upper bound of a parameter; it knows nothing of those of ranks' blocks."""
    dim = context.find_dim_by_name(_params, name)
    return dim >= 0 and _range(context, dim)[1] is not None


def _bounds(scop: Scop) -> Iterator[isl.Constraint]:
    """The inequalities of the domains of all statements."""
    for statement in scop.statements:
        for piece in statement.domain.get_basic_sets():
            yield from (each for each in piece.get_constraints() if not each.is_equality())


def _begun_with(bound: isl.Constraint) -> Iterator[tuple[str, int]]:
    """The parameter, with its sign, of ``bound`` if that is a counter's lower one: it and a number."""
    terms = [
        (kind, place)
        for kind in (_params, isl.dim_type.set, isl.dim_type.div)
        for place in range(bound.dim(kind))
        if bound.involves_dims(kind, place, 1)
    ]
    if [kind for kind, _ in terms] == [_params, isl.dim_type.set]:
        sign, counter = (bound.get_coefficient_val(*each).to_python() for each in terms)
        if counter == 1 and abs(sign) == 1:
            yield str(bound.get_dim_name(_params, terms[0][1])), sign


def _ended_at(bound: isl.Constraint) -> Iterator[str]:
    """The parameters that let loops run further, if ``bound`` is an upper one of a counter."""
    yield from (name for name, value in _terms_of_end(bound) if value.is_pos())


def _shortened_by(bound: isl.Constraint) -> Iterator[str]:
    """The parameters that make loops shorter which others end, if ``bound`` is an upper one of a counter."""
    terms = list(_terms_of_end(bound))
    if any(value.is_pos() for _, value in terms):
        yield from (name for name, value in terms if value.is_neg())


def _terms_of_end(bound: isl.Constraint) -> Iterator[tuple[str, isl.Val]]:
    """The parameters of ``bound`` with their coefficients, if it is an upper one of a counter."""
    counters = range(bound.dim(isl.dim_type.set))
    if any(bound.get_coefficient_val(isl.dim_type.set, each).is_neg() for each in counters):
        for place in range(bound.dim(_params)):
            yield str(bound.get_dim_name(_params, place)), bound.get_coefficient_val(_params, place)


def lengths_of_lines(scop: Scop) -> frozenset[str]:
    """The parameters that say how long the lines are that ``scop`` walks along again and again.

    Such a line, as that of a stencil in one dimension, is taken to have as many elements as a plane. Empty
    where arrays have more dimensions, but for ones of a few elements, or where loops around those along lines
    have the same bounds: that is work on a plane. ::

        for (t < steps) for (i < n) u[(t + 1) % 2][i] = u[t % 2][i - 1] + u[t % 2][i + 1];        n
        for (i < n) for (j < n) f[i] += g(x[i], x[j]);                                            none
    """
    walk = walk_of(scop.statements)
    return walk.along if walk.dimensions == 1 and walk.repeats else frozenset()


def usual_sizes(scop: Scop) -> tuple[Mapping[str, int], ...]:
    """The usual values of all parameters, and some times smaller ones, where some of it runs then."""
    usual, minimum = usual_values(scop), SIZE_STEP * FIXED_SIZE
    smaller = {name: value // SIZE_STEP if value >= minimum else value for name, value in usual.items()}
    return (usual, *_if_other(scop, usual, smaller))


def larger_sizes(scop: Scop) -> tuple[Mapping[str, int], ...]:
    """Values some times as large as the usual ones, where they may be; lines grow as planes do."""
    usual, lines = usual_values(scop), lengths_of_lines(scop)
    larger = {
        name: value * SIZE_STEP ** (2 if name in lines else 1) if value >= FIXED_SIZE else value
        for name, value in usual.items()
    }
    return _if_other(scop, usual, larger)


def long_lines(scop: Scop) -> tuple[Mapping[str, int], ...]:
    """Values at which lines that ``scop`` walks along once have as many elements as a plane usually has."""
    usual, walk = usual_values(scop), walk_of(scop.statements)
    lines = walk.along if walk.dimensions == 1 and not walk.returns else frozenset()
    longer = {
        name: value**2 if name in lines and value <= NOMINAL_SIZE else value for name, value in usual.items()
    }
    return _if_other(scop, usual, longer)


def _if_other(
    scop: Scop, usual: Mapping[str, int], changed: Mapping[str, int]
) -> tuple[Mapping[str, int], ...]:
    """The ``changed`` values if they are others, and some of ``scop`` runs then."""
    runs = changed != usual and _runs_at(scop, parameters_at(scop.context, changed))
    return (changed,) if runs else ()


def _runs_at(scop: Scop, point: isl.Set) -> bool:
    """Whether ``scop`` has instances at the ``point``, and there is one."""
    return not point.is_empty() and not scop.domain.intersect_params(point).is_empty()
