"""Guessed sizes: likely ones first, and no more work than for those that are taken."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import islpy as isl
import pytest

from polybuild.effort import GUESSED_SHAPES
from polybuild.scop.delinearise.guesses import parametric_sizes
from polybuild.scop.delinearise.polynomials import Form, Polynomial, single


def _nest(*sizes: str) -> Polynomial:
    """``(i*sizes[0] + j)*sizes[1] + k ...``, as subscripts of nests are."""
    depth = len(sizes) + 1
    domain = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, depth)
    total = Polynomial(depth, {})
    for position in range(depth):
        counter = isl.PwAff.from_aff(
            isl.Aff.var_on_domain(isl.LocalSpace.from_space(domain), isl.dim_type.set, position)
        )
        key = tuple(sorted(map(single, sizes[position:])))
        total = total.add(Polynomial(depth, {key: counter}))
    return total


def _with_borders(polynomials: Sequence[Polynomial]) -> list[tuple[Form, ...]]:
    """The guesses that are the program's own sizes plus constants."""
    guesses = itertools.chain.from_iterable(parametric_sizes(polynomials))
    return [each for each in guesses if any(size.constant for size in each)]


def test_smaller_constants_come_first() -> None:
    found = _with_borders([_nest("n")])
    assert [str(size) for (size,) in found] == ["n+1", "n-1", "n+2", "n-2", "n+3", "n-3", "n+4", "n-4"]


def test_constants_of_two_sizes_come_by_their_sum() -> None:
    sums = [sum(abs(size.constant) for size in each) for each in _with_borders([_nest("n", "p")])]
    half = sums[: len(sums) // 2]  # one order of the sizes, then the other
    assert half == sorted(half)
    assert len(half) == 9 * 9 - 1


@pytest.mark.parametrize("sizes", [("n", "p", "q", "r"), ("n", "p", "q", "r", "s")])
def test_guesses_that_nobody_takes_cost_nothing(
    sizes: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Darknet's ``reorg_cpu`` has products of five sizes: 9 to the power of 5 constants, in 120 orders."""
    divisions = 0
    divide = Polynomial.divide

    def counted(polynomial: Polynomial, size: Form) -> tuple[Polynomial, Polynomial]:
        nonlocal divisions
        divisions += 1
        return divide(polynomial, size)

    monkeypatch.setattr(Polynomial, "divide", counted)
    guesses = itertools.chain.from_iterable(parametric_sizes([_nest(*sizes)]))
    list(itertools.islice(guesses, 2 * GUESSED_SHAPES))
    assert divisions < 100 * GUESSED_SHAPES
