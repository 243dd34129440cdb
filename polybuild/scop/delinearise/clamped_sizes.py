"""Sizes that are clamped: ``n > 0 ? n : 0``, by which pointers walk that loops inside take along.

::

    for (j = 0; j < m; j++) { *w++ = 0; for (k = 0; k < n; k++) *w++ = x[k]; }

The first store is to ``w[(max(n, 0) + 1) * j]``, the second to ``w[(n + 1) * j + k + 1]``, as ``n`` is
positive where it runs. Where ``n`` is not negative both sizes are one, and the array has rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce

import islpy as isl

from polybuild.poly import spaces
from polybuild.scop.delinearise.polynomials import Atoms, Form, Polynomial, from_affine
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class PlainSize:
    """A ``form`` that an atom has the value of, unless the parameters are in ``other``."""

    form: Form
    other: isl.Set


Plain = Mapping[str, PlainSize]


def plain_sizes(polynomials: Sequence[Polynomial], atoms: Atoms) -> Plain:
    """What clamped atoms of the ``polynomials`` of an array are where they are more than a number."""
    names = sorted({name for each in polynomials for name in _atoms(each)})
    found: dict[str, PlainSize] = {}
    for name in names:
        others = [each for each in names if each != name and each not in found]
        plain = _plain(name, others, atoms)
        if plain is not None:
            found[name] = plain
    return found


def with_plain_sizes(polynomial: Polynomial, plain: Plain) -> Polynomial:
    """``polynomial`` with the forms of ``plain`` in place of their atoms."""
    if not plain:
        return polynomial
    result = Polynomial(polynomial.depth, {})
    for key, coefficient in polynomial.terms.items():
        new = tuple(sorted(_replaced(form, plain) for form in key))
        result = result.add(Polynomial(polynomial.depth, {new: coefficient}))
    return result


def unlike(polynomial: Polynomial, plain: Plain) -> isl.Set | None:
    """The parameters for which ``polynomial`` is another one with ``plain`` sizes; None: there are none."""
    others = [plain[name].other for name in sorted(_atoms(polynomial)) if name in plain]
    return reduce(isl.Set.union, others) if others else None


def _plain(name: str, others: Iterable[str], atoms: Atoms) -> PlainSize | None:
    """What the atom ``name`` is where it is no number: linear, or one of the ``others``."""
    value = atoms.value(Form(((name, 1),)))
    pieces = value.get_pieces()
    linear = [(where, affine) for where, affine in pieces if not affine.is_cst()]
    if len(linear) == len(pieces) or not linear or any(each.dim(isl.dim_type.div) for _, each in linear):
        return None
    where = reduce(isl.Set.union, (each for each, _ in linear))
    if len(linear) == 1:
        candidates = [isl.PwAff.from_aff(linear[0][1])]
    else:
        candidates = [atoms.value(Form(((each, 1),))) for each in others]
    for each in candidates:
        same = value.eq_set(each)
        if where.is_subset(same):
            form = _form(each, atoms)
            return None if form is None else PlainSize(form, same.complement().params())
    return None


def _form(value: isl.PwAff, atoms: Atoms) -> Form | None:
    """``value`` as a linear form of atoms, None if it is a number."""
    coefficients: list[tuple[str, int]] = []
    constant = 0
    for key, coefficient in from_affine(value, 0, atoms).terms.items():
        number = spaces.constant_value(coefficient) or 0
        if key:
            coefficients.append((key[0].coefficients[0][0], number))
        else:
            constant = number
    return Form(tuple(sorted(coefficients)), constant) if coefficients else None


def _replaced(form: Form, plain: Plain) -> Form:
    total: dict[str, int] = {}
    constant = form.constant
    for atom, number in form.coefficients:
        own = plain[atom].form if atom in plain else Form(((atom, 1),))
        constant += number * own.constant
        for name, count in own.coefficients:
            total[name] = total.get(name, 0) + number * count
    return Form(tuple(sorted((name, each) for name, each in total.items() if each)), constant)


def _atoms(polynomial: Polynomial) -> set[str]:
    return {atom for key in polynomial.terms for form in key for atom, _ in form.coefficients}
