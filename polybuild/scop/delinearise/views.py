"""The multi-dimensional view of an array that is accessed by flat subscripts.

From the polynomials of all accesses to one array, sizes of inner dimensions are
guessed and tried. A guess is right if
dividing every polynomial by the sizes, innermost first, leaves affine
subscripts that stay within the sizes; where that is not certain it becomes a
condition on the parameters. (T. Grosser, *A decoupled approach to high-level
loop optimization*, chapter 13.)

Where all subscripts are affine already, rows of a constant length (``x[i*16 + f]``) are a view, too,
if all subscripts are certainly within them.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from enum import Enum, auto

import islpy as isl

from polybuild.effort import GUESSED_SHAPES
from polybuild.poly import spaces
from polybuild.poly.integers import value_of
from polybuild.scop.assumptions import keeps_parameters_small
from polybuild.scop.delinearise.clamped_sizes import Plain
from polybuild.scop.delinearise.guesses import Sizes, constant_sizes, parametric_sizes
from polybuild.scop.delinearise.polynomials import Atoms, Polynomial, content
from polybuild.scop.delinearise.row_counts import RowCount
from polybuild.values import dataclass

Subscripts = tuple[isl.PwAff, ...]


@dataclass(frozen=True, slots=True)
class FlatAccess:
    """One access: its flat subscript and the instances that make it, in the same unnamed space."""

    polynomial: Polynomial
    domain: isl.Set


@dataclass(frozen=True, slots=True)
class View:
    """Sizes of all dimensions but the outermost, and the subscripts of each access.

    Subscripts of these dimensions start at ``starts``, expressions of the parameters: at 1 in the rows of a
    matrix that is counted from 1, below 0 where a pointer leads into the inside of a grid.
    ``restricted`` counts the parameters that the conditions of the view keep
    small, ``pieces`` the subscripts that had to be chosen piece by piece,
    ``unproven`` those that need a condition. Atoms in ``plain`` are taken to be what stands there, and
    parameters to be products of others as ``counts`` says.
    """

    sizes: Sizes
    starts: tuple[isl.PwAff, ...]
    subscripts: tuple[Subscripts, ...]
    restricted: int = 0
    pieces: int = 0
    unproven: int = 0
    plain: Plain = dataclasses.field(default_factory=dict)
    counts: tuple[RowCount, ...] = ()

    @property
    def rank(self) -> tuple[int, int, int, int, bool]:
        """Better views are smaller."""
        return self.restricted, self.pieces, self.unproven, len(self.sizes), not self.is_moved

    @property
    def is_moved(self) -> bool:
        """Whether rows start at other elements than those of subscript 0."""
        return any(spaces.constant_value(each) != 0 for each in self.starts)


class Rows(Enum):
    """Where the subscripts of the rows of a view may start."""

    FIXED = auto()
    FROM_ONE = auto()
    ANYWHERE = auto()


def find_view(
    accesses: Sequence[FlatAccess], atoms: Atoms, context: isl.Set, rows: Rows = Rows.FIXED
) -> View | None:
    """The best view of an array with these accesses, None if there is none.

    ``context`` holds the parameter values that can occur, ``rows`` says where they may start.
    """
    best: View | None = None
    left = GUESSED_SHAPES
    for guesses in parametric_sizes([access.polynomial for access in accesses]):
        for guess in itertools.islice(guesses, left):
            left -= 1
            best = _better(guess, accesses, atoms, context, best, rows=rows)
            if best is not None and not any(best.rank[:3]):
                return best
        if best is not None and not any(best.rank[:2]):
            break  # sizes that are written there are likelier than others that need as many conditions
    return best


def _better(
    guess: Sizes,
    accesses: Sequence[FlatAccess],
    atoms: Atoms,
    context: isl.Set,
    best: View | None,
    *,
    rows: Rows,
) -> View | None:
    """The best view with the sizes of ``guess`` if it is better than ``best``, else that."""
    exact = _all_divided(guess, accesses, atoms)
    if exact is None:
        return best
    for sizes, subscripts in _scaled(guess, exact):
        plain = _from_zero(sizes, subscripts)
        view = _judge(plain, accesses, atoms, context, best)
        if view is not None and view.unproven and (starts := _other_starts(plain, accesses, context, rows)):
            moved = _judge(_at(plain, starts), accesses, atoms, context, best)
            if moved is not None and not moved.pieces:
                view = min(view, moved, key=lambda one: one.rank)
        if view is not None and (best is None or view.rank < best.rank):
            best = view
    return best


def find_rows(accesses: Sequence[FlatAccess], atoms: Atoms, context: isl.Set) -> View | None:
    """The view of an array with these accesses, all of them affine, as rows of constant lengths.

    None if an access is not certainly within a row where parameters are in ``context``.
    """
    for sizes in constant_sizes([access.polynomial for access in accesses]):
        exact = _all_divided(sizes, accesses, atoms)
        if exact is None:
            continue
        view = _judge(_from_zero(sizes, exact), accesses, atoms, context, None)
        if view is not None and not any(view.rank[:3]):
            return view
    return None


def fitted(access: FlatAccess, view: View, atoms: Atoms, context: isl.Set) -> Subscripts | None:
    """The subscripts of one access in a view, brought into range as far as possible.

    None if they are not affine or can never be in range.
    """
    subscripts = _divide_all(access.polynomial, view.sizes, atoms)
    if subscripts is None:
        return None
    fit = _fit_all(_moved(subscripts, view.starts, -1), view.sizes, access, atoms, context)
    return None if fit is None else _moved(fit.subscripts, view.starts)


def outside(subscript: isl.PwAff, size: isl.PwAff) -> tuple[isl.Set, isl.Set]:
    """Where ``subscript`` is negative, and where it is ``size`` or more."""
    return subscript.neg().pos_set(), subscript.ge_set(size)


# Subscripts


def _from_zero(sizes: Sizes, subscripts: Sequence[Subscripts]) -> View:
    """The view whose rows start at 0."""
    return View(sizes, (spaces.constant(0, 0),) * len(sizes), tuple(subscripts))


def _other_starts(
    view: View, accesses: Sequence[FlatAccess], context: isl.Set, rows: Rows
) -> tuple[isl.PwAff, ...]:
    """Where the rows of ``view`` may start other than at 0; empty if they may not.

    At 1 where no subscript is less, else at the least subscript of a dimension that has negative ones.
    """
    if rows is Rows.FIXED:
        return ()
    one, zero = spaces.constant(0, 1), spaces.constant(0, 0)
    if all(_is_from(one, view, accesses, position) for position in range(1, len(view.sizes) + 1)):
        return (one,) * len(view.sizes)
    if rows is Rows.FROM_ONE:
        return ()
    lowest = [
        None if _is_from(zero, view, accesses, position) else _minimum(view, accesses, context, position)
        for position in range(1, len(view.sizes) + 1)
    ]
    return tuple(each or zero for each in lowest) if any(lowest) else ()


def _is_from(start: isl.PwAff, view: View, accesses: Sequence[FlatAccess], position: int) -> bool:
    """Whether no subscript in dimension ``position`` of ``view`` is less than ``start``."""
    return all(
        own[position]
        .sub(spaces.deepen(start, access.polynomial.depth))
        .neg()
        .pos_set()
        .intersect(access.domain)
        .is_empty()
        for own, access in zip(view.subscripts, accesses, strict=True)
    )


def _minimum(view: View, accesses: Sequence[FlatAccess], context: isl.Set, position: int) -> isl.PwAff | None:
    """The least subscript in dimension ``position`` of ``view``, None if no one expression tells it."""
    values = [
        isl.Map.from_pw_aff(own[position]).intersect_domain(access.domain).range().intersect_params(context)
        for own, access in zip(view.subscripts, accesses, strict=True)
    ]
    touched = functools.reduce(isl.Set.union, values)
    if not touched.dim_has_lower_bound(isl.dim_type.set, 0):
        return None
    found = [piece for _, piece in touched.dim_min(0).coalesce().get_pieces()]
    pieces = [isl.PwAff.from_aff(each) for each in found]
    if found[0].dim(isl.dim_type.div) or any(not each.is_equal(pieces[0]) for each in pieces):
        return None
    return pieces[0].project_domain_on_params().insert_domain(spaces.universe(0).get_space())


def _at(view: View, starts: Sequence[isl.PwAff]) -> View:
    """``view`` with inner subscripts that start at ``starts``."""
    moved = tuple(_moved(each, starts, -1) for each in view.subscripts)
    return dataclasses.replace(view, starts=tuple(starts), subscripts=moved)


def _moved(subscripts: Subscripts, starts: Sequence[isl.PwAff], sign: int = 1) -> Subscripts:
    """``subscripts`` with the inner ones further by their ``starts``, or back."""
    outer, *inner = subscripts
    return (
        outer,
        *(
            each.add(spaces.deepen(start, each.dim(isl.dim_type.in_)).scale_val(value_of(sign)))
            for each, start in zip(inner, starts, strict=True)
        ),
    )


def _all_divided(sizes: Sizes, accesses: Sequence[FlatAccess], atoms: Atoms) -> list[Subscripts] | None:
    """The subscripts of all ``accesses``; None as soon as there are none of one."""
    found: list[Subscripts] = []
    for access in accesses:
        subscripts = _divide_all(access.polynomial, sizes, atoms)
        if subscripts is None:
            return None
        found.append(subscripts)
    return found


def _divide_all(polynomial: Polynomial, sizes: Sizes, atoms: Atoms) -> Subscripts | None:
    """The subscripts of one access, outermost first; None if one is not affine."""
    rest = polynomial.expanded()
    subscripts: list[isl.PwAff] = []
    for size in reversed(sizes):
        rest, remainder = rest.divide(size)
        subscript = remainder.affine(atoms)
        if subscript is None:
            return None
        subscripts.append(subscript)
    outer = rest.affine(atoms)
    return None if outer is None else (outer, *reversed(subscripts))


def _scaled(sizes: Sizes, subscripts: list[Subscripts]) -> Iterator[tuple[Sizes, list[Subscripts]]]:
    """The view as it is, and with common factors of outer subscripts moved into the next inner size."""
    yield sizes, subscripts
    new_sizes, new_subscripts = list(sizes), [list(each) for each in subscripts]
    for dimension in range(len(sizes) - 1, -1, -1):
        # the size is in the strides of all dimensions outside of it
        outer = [subscript for each in new_subscripts for subscript in each[: dimension + 1]]
        factor = functools.reduce(math.gcd, map(content, outer))
        if factor > 1:
            new_sizes[dimension] = new_sizes[dimension].times(factor)
            divisor = value_of(factor)
            for own in new_subscripts:
                own[: dimension + 1] = [each.scale_down_val(divisor) for each in own[: dimension + 1]]
    if tuple(new_sizes) != sizes:
        yield tuple(new_sizes), [tuple(each) for each in new_subscripts]


def _judge(
    view: View, accesses: Sequence[FlatAccess], atoms: Atoms, context: isl.Set, best: View | None
) -> View | None:
    """``view`` with its subscripts brought into range; None if one can never be, or if ``best`` is better."""
    fits: list[_Fitted] = []
    for own, access in zip(view.subscripts, accesses, strict=True):
        fit = _fit_all(own, view.sizes, access, atoms, context)
        if fit is None:
            return None
        fits.append(fit)
        pieces = sum(each.pieces for each in fits)
        if best is not None and not best.restricted and pieces > best.pieces:
            return None
    domains = [access.domain.params() for access in accesses]
    reached = functools.reduce(isl.Set.union, domains).intersect(_positive(view.sizes, atoms, context))
    restricted = keeps_parameters_small(functools.reduce(isl.Set.union, (fit.bad for fit in fits)), reached)
    if restricted is None:
        return None
    return View(
        view.sizes,
        view.starts,
        tuple(fit.subscripts for fit in fits),
        restricted,
        sum(fit.pieces for fit in fits),
        sum(fit.unproven for fit in fits),
    )


@dataclass(frozen=True, slots=True)
class _Fitted:
    """Subscripts of one access; ``bad`` are the parameter values for which one leaves its range."""

    subscripts: Subscripts
    bad: isl.Set
    pieces: int = 0
    unproven: int = 0

    def moved(self, dimension: int, carry: isl.PwAff, rows: isl.PwAff) -> _Fitted:
        """``rows`` fewer in the next outer dimension, and their elements, ``carry``, more in this one."""
        subscripts = list(self.subscripts)
        subscripts[dimension - 1] = subscripts[dimension - 1].sub(rows).coalesce()
        subscripts[dimension] = subscripts[dimension].add(carry).coalesce()
        return dataclasses.replace(self, subscripts=tuple(subscripts))

    def with_bad(self, bad: isl.Set) -> _Fitted:
        """The same, where ``bad`` instances are to be excluded by a condition."""
        if bad.is_empty():
            return self
        return dataclasses.replace(self, bad=self.bad.union(bad.params()), unproven=self.unproven + 1)


def _positive(sizes: Sizes, atoms: Atoms, context: isl.Set) -> isl.Set:
    """``context`` where all sizes are positive, as they are where anything is accessed in range."""
    for size in sizes:
        context = context.intersect(atoms.value(size).pos_set().params())
    return context


def _fit_all(
    subscripts: Subscripts, sizes: Sizes, access: FlatAccess, atoms: Atoms, context: isl.Set
) -> _Fitted | None:
    """All subscripts of one access in range, innermost first; None if one never can be."""
    domain = access.domain.intersect_params(_positive(sizes, atoms, context))
    fit: _Fitted | None = _Fitted(subscripts, isl.Set.empty(domain.params().get_space()))
    for dimension in range(len(sizes), 0, -1):
        if fit is not None:
            size = atoms.value(sizes[dimension - 1], access.polynomial.depth)
            fit = _fit(fit, dimension, size, domain)
    return fit


def _fit(fit: _Fitted, dimension: int, size: isl.PwAff, domain: isl.Set) -> _Fitted | None:
    """Bring one subscript into ``0 .. size - 1`` by taking whole rows to the next outer dimension.

    In this order: as it is, if that is certainly in range; moved by one or two
    rows, likewise; as it is, under a condition; row by row, if that condition
    would hold for small parameters only.
    """
    depth = int(domain.dim(isl.dim_type.set))
    for count in (0, 1, -1, 2, -2):
        rows = spaces.constant(depth, count)
        candidate = fit.moved(dimension, size.scale_val(value_of(count)), rows)
        if _violations(candidate.subscripts[dimension], size, domain).is_empty():
            return candidate
    best: _Fitted | None = None
    minimum = 0
    plain = fit.with_bad(_violations(fit.subscripts[dimension], size, domain))
    for choice in (plain, _by_pieces(fit, dimension, size, domain)):
        restricted = keeps_parameters_small(choice.bad, domain.params())
        if restricted is not None and (best is None or restricted < minimum):
            best, minimum = choice, restricted
        if best is not None and not minimum:
            break
    return best


def _by_pieces(fit: _Fitted, dimension: int, size: isl.PwAff, domain: isl.Set) -> _Fitted:
    """One piece for each of the rows above, at and below the one it seems to be in."""
    subscript = fit.subscripts[dimension]
    depth = int(domain.dim(isl.dim_type.set))
    nowhere = isl.Set.empty(domain.get_space())
    rows = spaces.constant(depth, 0).intersect_domain(nowhere)
    carry = rows
    for count in (-1, 0, 1):
        elements = size.scale_val(value_of(count))
        below, above = outside(subscript.add(elements), size)
        here = below.union(above).complement()
        rows = rows.union_add(spaces.constant(depth, count).intersect_domain(here))
        carry = carry.union_add(elements.intersect_domain(here))
    chosen = fit.moved(dimension, carry, rows).with_bad(domain.subtract(rows.domain()))
    return dataclasses.replace(chosen, pieces=fit.pieces + 1)


def _violations(subscript: isl.PwAff, size: isl.PwAff, domain: isl.Set) -> isl.Set:
    below, above = outside(subscript, size)
    return below.union(above).intersect(domain)
