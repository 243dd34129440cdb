"""Strides of planes that are parameters of their own: ``a[i + j * row + k * plane]``.

Grids that are padded, images in channels and boxes of larger grids have them. Where a plane is a whole
number of rows, as it nearly always is, the array has three dimensions, and ``plane / row`` rows in each
plane: a parameter that the program did not name. That the division leaves nothing is checked before the
region runs.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence

import islpy as isl

from polybuild.c.types import IntegerType
from polybuild.effort import GUESSED_DIMENSIONS
from polybuild.scop.delinearise.guesses import size_keys
from polybuild.scop.delinearise.polynomials import Key, Polynomial, single
from polybuild.scop.model import Parameter
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class RowCount:
    """The parameter called ``name``: how many times the parameter ``inner`` the parameter ``outer`` is."""

    name: str
    outer: str
    inner: str


def row_counts(
    polynomials: Sequence[Polynomial], parameters: Mapping[str, Parameter]
) -> Iterator[tuple[RowCount, ...]]:
    """The counts that one array may have, those of its outermost dimensions first, likely ones first.

    None unless several of the ``parameters`` multiply loop counters, each alone. Of faces of grids and of
    matrices with a stride for each direction no counter counts elements.
    """
    expanded = [each.expanded() for each in polynomials]
    keys = size_keys(expanded)
    strides = {str(form) for key in keys for form in key}
    elements = _counters(expanded, None)
    if max(map(len, keys), default=0) != 1 or not _may_be_strides(strides, parameters):
        return
    places = {each: min(_counters(expanded, each)) for each in strides}
    # else the loop over elements is the outermost one
    inwards = not elements or min(elements) > min(places.values())
    likely = sorted(strides, key=lambda each: (places[each] if inwards else -places[each], each))
    for order in itertools.permutations(likely):
        found = tuple(
            RowCount(f"{outer}_by_{inner}", outer, inner) for outer, inner in itertools.pairwise(order)
        )
        if parameters.keys().isdisjoint(each.name for each in found):
            yield found


def is_grid(polynomials: Sequence[Polynomial], written: Sequence[Polynomial]) -> bool:
    """Whether these may be the subscripts of a grid, one counter for each dimension, and not of windows.

    Rows of windows are gone along by counters that choose no element of what is ``written``.
    """
    expanded = [each.expanded() for each in polynomials]
    strides = [None, *{str(form) for key in size_keys(expanded) for form in key}]
    elements = {position for each in written for key in each.terms for position in _involved(each, key)}
    return _counters(expanded, None) <= elements and all(
        len(_counters([each], stride)) <= 1 for each in expanded for stride in strides
    )


def _may_be_strides(names: Collection[str], parameters: Mapping[str, Parameter]) -> bool:
    """Whether ``names`` are those of some integers that C divides by each other as they are."""
    known = [parameters.get(each) for each in names]
    kinds = [each.type for each in known if each is not None and not each.is_limit]
    signs = {each.signed for each in kinds if isinstance(each, IntegerType)}
    return 1 < len(kinds) == len(known) < GUESSED_DIMENSIONS and len(signs) == 1


def with_row_counts(polynomial: Polynomial, counts: Sequence[RowCount]) -> Polynomial:
    """``polynomial`` with products of row counts and inner strides in place of outer strides."""
    for each in counts:
        old, new = single(each.outer), (single(each.name), single(each.inner))
        result = Polynomial(polynomial.depth, {})
        for key, coefficient in polynomial.expanded().terms.items():
            forms = itertools.chain.from_iterable(new if form == old else (form,) for form in key)
            result = result.add(Polynomial(polynomial.depth, {tuple(sorted(forms)): coefficient}))
        polynomial = result
    return polynomial


def _counters(polynomials: Sequence[Polynomial], stride: str | None) -> set[int]:
    """The positions of the loop counters that ``stride`` multiplies; None stands for the number 1."""
    key = () if stride is None else (single(stride),)
    return {position for each in polynomials for position in _involved(each, key)}


def _involved(polynomial: Polynomial, key: Key) -> Iterator[int]:
    """The positions of the loop counters in the coefficient of ``key``."""
    coefficient = polynomial.terms.get(key)
    if coefficient is not None:
        for position in range(coefficient.dim(isl.dim_type.in_)):
            if coefficient.involves_dims(isl.dim_type.in_, position, 1):
                yield position
