"""Sizes that the inner dimensions of a flat array may have, guessed from its subscripts.

These are the factors that multiply loop counters, as written; the
same multiplied out; such parameters plus a constant; and constants.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Iterator, Sequence

from polybuild.effort import GUESSED_DIMENSIONS
from polybuild.scop.delinearise.polynomials import Form, Key, Polynomial, is_constant, ratio, steps

Sizes = tuple[Form, ...]

# What a size may differ by from its parameter, likely values first.
_BORDERS = (0, 1, 2, -1, -2, 4, 3, -3, -4)


def parametric_sizes(polynomials: Sequence[Polynomial]) -> Iterator[Iterator[Sizes]]:
    """Sizes with parameters in them to try, each once: likelier kinds first, and of each kind likely ones."""
    seen: set[Sizes] = set()
    expanded = [each.expanded() for each in polynomials]

    def new(guesses: Iterator[Sizes]) -> Iterator[Sizes]:
        for guess in guesses:
            if guess and len(guess) < GUESSED_DIMENSIONS and guess not in seen:
                seen.add(guess)
                yield guess

    yield new(_orders(size_keys(polynomials)))
    yield new(_orders(size_keys(expanded)))
    yield new(_with_borders(expanded))
    yield new(_parts(polynomials))
    yield new(_parts(expanded))


def size_keys(polynomials: Iterable[Polynomial]) -> set[Key]:
    """The products of parameters that multiply loop counters."""
    return {
        key for each in polynomials for key, value in each.terms.items() if key and not is_constant(value)
    }


def _orders(keys: set[Key]) -> Iterator[Sizes]:
    """Orders of the factors of the longest products, those first in which all products are inner sizes."""
    longest = max(map(len, keys), default=0)
    keys_to_order = [key[:GUESSED_DIMENSIONS] for key in keys if len(key) == longest]
    orders = {order for key in keys_to_order for order in itertools.permutations(key)}

    def misfits(order: Sizes) -> int:
        inner = {tuple(sorted(order[position:])) for position in range(longest)}
        return len(keys - inner)

    yield from sorted(orders, key=lambda order: (misfits(order), order))


def _with_borders(polynomials: Sequence[Polynomial]) -> Iterator[Sizes]:
    """Sizes of the form parameter plus constant, those with small constants first."""
    for order in _orders(size_keys(polynomials)):
        if len(order) < GUESSED_DIMENSIONS:
            yield from _bordered(order, polynomials)


def _bordered(order: Sizes, polynomials: Sequence[Polynomial]) -> Iterator[Sizes]:
    """Constants for the sizes of ``order``: what makes products vanish, else likely ones.

    A search that goes on from the smallest sum of constants: whoever takes the first few of
    9 to the power of the dimensions does not pay for the rest.
    """
    waiting: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    found: dict[tuple[int, ...], tuple[Sizes, Sequence[Polynomial]]] = {(): ((), polynomials)}
    while waiting:
        total, path = heapq.heappop(waiting)
        sizes, outside = found.pop(path)
        if len(sizes) == len(order):
            yield sizes
            continue
        quotients = [each.divide(sizes[0])[0] for each in outside] if sizes else outside
        inner = order[-1 - len(sizes)]
        border = _border(inner, quotients)
        for position, number in enumerate(_BORDERS if border is None else (border,)):
            size = inner.plus(number)
            step = (*path, position)
            heapq.heappush(waiting, (total + abs(size.constant), step))
            found[step] = ((size, *sizes), quotients)


def _border(size: Form, polynomials: Sequence[Polynomial]) -> int | None:
    """The constant beside ``size`` that products in the remainders call for, None if there are none."""
    for each in polynomials:
        quotient, rest = each.divide(size)
        for key, coefficient in rest.terms.items():
            if key and not is_constant(coefficient) and key in quotient.terms:
                number = ratio(coefficient, quotient.terms[key])
                if number is not None:
                    return number
    return None


def _parts(polynomials: Sequence[Polynomial]) -> Iterator[Sizes]:
    """All but one factor of products that no loop counter multiplies, as in ``k*n + j``."""
    keys = {key for each in polynomials for key in each.terms if len(key) > 1}
    for key in sorted(keys):
        for order in itertools.permutations(key[:GUESSED_DIMENSIONS]):
            yield order[1:]


def constant_sizes(polynomials: Iterable[Polynomial]) -> Iterator[Sizes]:
    """Constant sizes to try, more dimensions first: what counters are multiplied by beside others."""
    strides = {frozenset(steps(each)) for each in polynomials}
    lengths = {
        length for each in strides for length in each if length > 1 and any(other % length for other in each)
    }
    for outermost in sorted(lengths, reverse=True):
        chain = [outermost]
        for length in sorted(lengths, reverse=True):
            if length < chain[-1] and not chain[-1] % length:
                chain.append(length)
        chain = chain[: GUESSED_DIMENSIONS - 1]
        sizes = [outer // inner for outer, inner in itertools.pairwise(chain)]
        yield tuple(Form((), size) for size in (*sizes, chain[-1]))
        if sizes:
            yield (Form((), outermost),)
