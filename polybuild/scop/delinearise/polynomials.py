"""Polynomials of parameters whose coefficients are affine in loop counters: flat subscripts.

``i*n + j`` is the polynomial with the term ``n`` of coefficient ``i`` and the
constant term ``j``. A term's parameters are kept in the factors in which the
program wrote them (``i*(n+1)`` has the one factor ``n+1``), because such a
factor is likely to be the size of an array; ``expanded`` multiplies them out.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from functools import reduce

import islpy as isl

from polybuild.poly import spaces
from polybuild.poly.integers import value_of
from polybuild.values import dataclass

_dim = isl.dim_type


class NotPolynomial(Exception):
    """An operation has no result among these polynomials; the text says why."""


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Form:
    """A linear form of atoms with whole coefficients, none of them 0: ``2*n + m + 1``.

    An atom is the isl name of a parameter, or the text of an expression of the
    parameters that is not linear (``n/2``), see ``Atoms``.
    """

    coefficients: tuple[tuple[str, int], ...]
    constant: int = 0

    @property
    def atom(self) -> str | None:
        """The one atom that the form is, None if it is more than that."""
        plain = len(self.coefficients) == 1 and self.coefficients[0][1] == 1 and not self.constant
        return self.coefficients[0][0] if plain else None

    def plus(self, number: int) -> Form:
        """The form with ``number`` added."""
        return Form(self.coefficients, self.constant + number)

    def times(self, number: int) -> Form:
        """The form multiplied by ``number``, which is not 0."""
        return Form(tuple((atom, number * each) for atom, each in self.coefficients), number * self.constant)

    def __str__(self) -> str:
        text = ""
        for atom, number in (*self.coefficients, ("", self.constant)):
            if number:
                sign = "-" if number < 0 else "+" if text else ""
                size = "" if abs(number) == 1 and atom else str(abs(number))
                text += sign + size + ("*" if size and atom else "") + atom
        return text or "0"


Key = tuple[Form, ...]
Terms = Mapping[Key, isl.PwAff]


def single(atom: str) -> Form:
    """The form that is just ``atom``."""
    return Form(((atom, 1),))


class Atoms:
    """What atoms stand for: ``{ [] -> [value] }`` expressions of the parameters."""

    def __init__(self) -> None:
        self._values: dict[str, isl.PwAff] = {}

    def parameter(self, name: str) -> str:
        """The atom of a parameter."""
        self._values.setdefault(name, spaces.parameter(0, name))
        return name

    def opaque(self, value: isl.PwAff) -> str:
        """The atom of an expression of parameters that is not linear."""
        name = f"({value.coalesce()})"
        self._values.setdefault(name, value)
        return name

    def value(self, form: Form, depth: int = 0) -> isl.PwAff:
        """``form`` as a piecewise affine expression on the space of ``depth`` loops."""
        total = spaces.constant(0, form.constant)
        for atom, number in form.coefficients:
            total = total.add(self._values[atom].scale_val(value_of(number)))
        return spaces.deepen(total, depth)


@dataclass(frozen=True, slots=True)
class Polynomial:
    """The sum of products of a coefficient, on the space of ``depth`` loops, and the forms of its key.

    Keys are sorted; coefficients involve no parameters unless they are
    piecewise or contain integer divisions. No coefficient is the constant 0.
    """

    depth: int
    terms: Terms

    def add(self, other: Polynomial) -> Polynomial:
        """The sum."""
        terms = dict(self.terms)
        for key, coefficient in other.terms.items():
            terms[key] = terms[key].add(coefficient) if key in terms else coefficient
        return Polynomial(self.depth, _without_zeros(terms))

    def scale(self, number: int) -> Polynomial:
        """The product with a number."""
        if number in {0, 1}:
            return self if number else Polynomial(self.depth, {})
        value = value_of(number)
        scaled = {key: each.scale_val(value) for key, each in self.terms.items()}
        return Polynomial(self.depth, _without_zeros(scaled))

    def subtract(self, other: Polynomial) -> Polynomial:
        """The difference."""
        return self.add(other.scale(-1))

    def multiply(self, other: Polynomial) -> Polynomial:
        """The product; raises NotPolynomial if it multiplies loop counters."""
        left, right = self._as_factor(), other._as_factor()
        result = Polynomial(self.depth, {})
        for key, coefficient in left.terms.items():
            for other_key, other_coefficient in right.terms.items():
                product = _times(coefficient, other_coefficient)
                term = {tuple(sorted(key + other_key)): product}
                result = result.add(Polynomial(self.depth, _without_zeros(term)))
        return result

    def times_form(self, form: Form) -> Polynomial:
        """The product with ``form``, not multiplied out."""
        return Polynomial(self.depth, {tuple(sorted((*key, form))): each for key, each in self.terms.items()})

    def expanded(self) -> Polynomial:
        """The same polynomial with every form multiplied out, so that keys hold single atoms."""
        if all(form.atom is not None for key in self.terms for form in key):
            return self
        result = Polynomial(self.depth, {})
        for key, coefficient in self.terms.items():
            part = Polynomial(self.depth, {(): coefficient})
            for form in key:
                part = part._times_expanded(form)
            result = result.add(part)
        return result

    def affine(self, atoms: Atoms) -> isl.PwAff | None:
        """The value as a piecewise affine expression, None if there is a product in it."""
        total = spaces.constant(self.depth, 0)
        for key, coefficient in self.expanded().terms.items():
            if not key:
                total = total.add(coefficient)
                continue
            product = None if len(key) > 1 else _multiple(atoms.value(key[0], self.depth), coefficient)
            if product is None:
                return None
            total = total.add(product)
        return total

    def otherwise(self, other: Polynomial, chosen: isl.Set) -> Polynomial:
        """The polynomial itself in ``chosen``, and ``other`` elsewhere: a choice for each coefficient."""
        own, others, zero = self.expanded().terms, other.expanded().terms, spaces.constant(self.depth, 0)
        terms: dict[Key, isl.PwAff] = {}
        for key in own.keys() | others.keys():
            yes, no = own.get(key, zero), others.get(key, zero)
            if not yes.plain_is_equal(no):
                yes = yes.intersect_domain(chosen).union_add(no.subtract_domain(chosen))
            terms[key] = yes
        return Polynomial(self.depth, _without_zeros(terms))

    def divide(self, size: Form) -> tuple[Polynomial, Polynomial]:
        """Quotient and remainder of this expanded polynomial by ``size``.

        The division is that of polynomials in one atom of ``size``: the remainder
        is free of it, unless a coefficient is not divisible. By a number, the terms that are multiples
        of it are divided.
        """
        if not size.coefficients:
            return self._divide_by(size.constant)
        atom, number = _leading(size)
        rest = self
        quotient = Polynomial(self.depth, {})
        blocked: set[Key] = set()
        while True:
            candidates = [key for key in rest.terms if key not in blocked and _degree(key, atom)]
            if not candidates:
                return quotient, rest
            key = max(candidates, key=lambda each: (_degree(each, atom), each))
            part = divided(rest.terms[key], number)
            if part is None:
                blocked.add(key)
                continue
            left = list(key)
            left.remove(single(atom))
            step = Polynomial(self.depth, {tuple(left): part})
            quotient = quotient.add(step)
            rest = rest.subtract(step._times_expanded(size))

    def _divide_by(self, number: int) -> tuple[Polynomial, Polynomial]:
        parts = {key: _split(each, number) for key, each in self.terms.items()}
        quotient = _without_zeros({key: part for key, (part, _) in parts.items()})
        rest = _without_zeros({key: part for key, (_, part) in parts.items()})
        return Polynomial(self.depth, quotient), Polynomial(self.depth, rest)

    def _times_expanded(self, form: Form) -> Polynomial:
        result = self.scale(form.constant)
        for atom, number in form.coefficients:
            result = result.add(self.times_form(single(atom)).scale(number))
        return result

    def _as_factor(self) -> Polynomial:
        """The same polynomial; a sum of parameters and numbers alone becomes one form."""
        coefficients: list[tuple[str, int]] = []
        constant = 0
        for key, coefficient in self.terms.items():
            number = spaces.constant_value(coefficient)
            if number is None or len(key) > 1:
                return self
            if not key:
                constant = number
            elif key[0].atom is None:
                return self
            else:
                coefficients.append((key[0].coefficients[0][0], number))
        if not coefficients:
            return self
        form = Form(tuple(sorted(coefficients)), constant)
        return Polynomial(self.depth, {(form,): spaces.constant(self.depth, 1)})


def from_affine(value: isl.PwAff, depth: int, atoms: Atoms) -> Polynomial:
    """``value``, on the space of ``depth`` loops, as a polynomial."""
    pieces = value.get_pieces()
    whole = len(pieces) == 1 and pieces[0][0].plain_is_universe()
    if not whole or pieces[0][1].dim(_dim.div):
        if depth and value.involves_dims(_dim.in_, 0, depth):
            return Polynomial(depth, {(): value})
        outside = value.drop_dims(_dim.in_, 0, depth) if depth else value
        return Polynomial(depth, {(single(atoms.opaque(outside)),): spaces.constant(depth, 1)})
    affine = pieces[0][1]
    terms: dict[Key, isl.PwAff] = {}
    for position in range(affine.dim(_dim.param)):
        number = affine.get_coefficient_val(_dim.param, position)
        if not number.is_zero():
            name = str(affine.get_dim_name(_dim.param, position))
            terms[(single(atoms.parameter(name)),)] = spaces.constant(depth, number.to_python())
            affine = affine.set_coefficient_val(_dim.param, position, isl.Val(0))
    terms[()] = isl.PwAff.from_aff(affine)
    return Polynomial(depth, _without_zeros(terms))


def steps(value: Polynomial) -> set[int]:
    """What loop counters are multiplied by, without signs, in the term of ``value`` without parameters.

    In any of its pieces; none if there are integer divisions.
    """
    coefficient = value.terms.get(())
    pieces = [] if coefficient is None else [each for _, each in coefficient.get_pieces()]
    if any(each.dim(_dim.div) for each in pieces):
        return set()
    return {abs(each) for affine in pieces for each in list(_numbers(affine))[:-1]} - {0}


def content(value: isl.PwAff) -> int:
    """The greatest number known to divide ``value`` everywhere; 0 if ``value`` is 0."""
    pieces = value.get_pieces()
    if len(pieces) != 1 or pieces[0][1].dim(_dim.div):
        return 1
    affine = pieces[0][1]
    numbers = [affine.get_constant_val()]
    for kind in (_dim.param, _dim.in_):
        numbers += [affine.get_coefficient_val(kind, each) for each in range(affine.dim(kind))]
    return math.gcd(*(each.to_python() for each in numbers))


def divided(value: isl.PwAff, number: int) -> isl.PwAff | None:
    """``value / number`` if it is whole everywhere."""
    if number == 1:
        return value
    if number < 0:
        value, number = value.neg(), -number
    factor = value_of(number)
    quotient = value.scale_down_val(factor).floor()
    whole = value.sub(quotient.scale_val(factor)).non_zero_set().is_empty()
    return quotient.coalesce() if whole else None


def ratio(value: isl.PwAff, other: isl.PwAff) -> int | None:
    """The number that ``value`` is a multiple of ``other`` by, None if there is none."""
    pieces, others = value.get_pieces(), other.get_pieces()
    if len(pieces) != 1 or len(others) != 1:
        return None
    for own, theirs in zip(_numbers(pieces[0][1]), _numbers(others[0][1]), strict=True):
        if theirs:
            if own % theirs:
                return None
            number: int = own // theirs
            same = value.sub(other.scale_val(value_of(number))).non_zero_set().is_empty()
            return number if same else None
    return None


def is_constant(value: isl.PwAff) -> bool:
    """Whether ``value`` is one number."""
    return spaces.constant_value(value) is not None


def _numbers(affine: isl.Aff) -> Iterable[int]:
    """The coefficients of the loop counters, then the constant."""
    for position in range(affine.dim(_dim.in_)):
        yield affine.get_coefficient_val(_dim.in_, position).to_python()
    yield affine.get_constant_val().to_python()


def _split(value: isl.PwAff, number: int) -> tuple[isl.PwAff, isl.PwAff]:
    """What ``number`` divides of ``value``, divided, and the rest, whose constant is at least 0 and smaller.

    A coefficient that is no multiple stays as a whole.
    """
    parts = [
        [each.intersect_domain(where) for each in _split_piece(affine, number)]
        for where, affine in value.get_pieces()
    ]
    quotients, rests = zip(*parts, strict=True)
    return reduce(isl.PwAff.union_add, quotients), reduce(isl.PwAff.union_add, rests)


def _split_piece(affine: isl.Aff, number: int) -> tuple[isl.PwAff, isl.PwAff]:
    if affine.dim(_dim.div):
        return isl.PwAff.from_aff(affine.sub(affine)), isl.PwAff.from_aff(affine)
    constant = affine.get_constant_val().to_python()
    quotient = affine.sub(affine).set_constant_val(value_of(constant // number))
    for position in range(affine.dim(_dim.in_)):
        whole, left = divmod(affine.get_coefficient_val(_dim.in_, position).to_python(), number)
        if whole and not left:
            quotient = quotient.set_coefficient_val(_dim.in_, position, value_of(whole))
    rest = affine.sub(quotient.scale_val(value_of(number)))
    return isl.PwAff.from_aff(quotient), isl.PwAff.from_aff(rest)


def _leading(size: Form) -> tuple[str, int]:
    """The atom to divide by: one whose coefficient is smallest, so that most terms are divisible."""
    return min(size.coefficients, key=lambda each: (abs(each[1]), each[0]))


def _degree(key: Key, atom: str) -> int:
    return sum(form.atom == atom for form in key)


def _times(left: isl.PwAff, right: isl.PwAff) -> isl.PwAff:
    for factor, other in ((left, right), (right, left)):
        number = spaces.constant_value(factor)
        if number is not None:
            return other.scale_val(value_of(number))
    raise NotPolynomial("it multiplies loop counters with each other")


def _multiple(value: isl.PwAff, factor: isl.PwAff) -> isl.PwAff | None:
    """``factor * value`` where each piece of ``factor`` is a number, else None."""
    parts = [
        value.scale_val(each.get_constant_val()).intersect_domain(where)
        for where, each in factor.get_pieces()
        if each.is_cst()
    ]
    return reduce(isl.PwAff.union_add, parts) if len(parts) == factor.n_piece() else None


def _without_zeros(terms: Mapping[Key, isl.PwAff]) -> dict[Key, isl.PwAff]:
    return {key: each for key, each in terms.items() if not _is_zero(each)}


def _is_zero(value: isl.PwAff) -> bool:
    """Whether ``value`` is 0 wherever it is defined, however many pieces it has."""
    if value.n_piece() > 1:
        return bool(value.non_zero_set().is_empty())
    return spaces.constant_value(value) == 0
