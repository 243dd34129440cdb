"""Parameters of subscripts that are taken to be 1, as strides and dilations of convolutions are, most often.

``x[(i * sh + k) * w + j * sw + l]`` has no view as rows of ``w`` elements unless the strides are known.
Those of rows and of columns go together.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence

from pycparser import c_ast

from polybuild.c.syntax_tree import factors_of, key, walk
from polybuild.diagnostics import Unsupported
from polybuild.effort import BORDER_WIDTH, UNIT_TRIALS
from polybuild.poly import spaces
from polybuild.scop.assemble import assemble
from polybuild.scop.delinearise.flat_subscripts import FlatSubscripts
from polybuild.scop.draft import RegionDraft
from polybuild.scop.final_values import NotFollowed
from polybuild.scop.model import Scop
from polybuild.scop.model_builder import ModelBuilder

_COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}


def with_unit_factors(
    build: Callable[[FlatSubscripts], ModelBuilder], draft: RegionDraft, factors: Sequence[str]
) -> Scop | None:
    """The model of a region where some of the ``factors`` in subscripts are 1; None if it is no help.

    ``draft`` is what was found without. All subscripts have to be known then; if one parameter is enough,
    but others have to be more than 1 for that, there may be strides that are 1 together.
    """
    steps, single = _steps(draft, factors), None
    for each in factors:
        found = _with_units(build, frozenset({each}))
        if found is not None and _is_likely(found, steps):
            return found
        single = single or found
    sets = (itertools.combinations(reversed(steps), count) for count in range(2, len(steps) + 1))
    for units in itertools.islice(itertools.chain.from_iterable(sets), UNIT_TRIALS):
        found = _with_units(build, frozenset(units))
        if found is not None:
            return found
    return single


def _steps(draft: RegionDraft, factors: Sequence[str]) -> list[str]:
    """Those of the ``factors`` that are written as strides are: ``i * s``, where sizes are beside sums.

    Nothing is compared with them.
    """
    sizes: set[object] = set()
    for each in (part for statement in draft.region.statements for part in walk(statement)):
        if isinstance(each, c_ast.BinaryOp) and each.op in _COMPARISONS:
            sizes.update(key(term) for side in (each.left, each.right) for term in _terms(side))
        if isinstance(each, c_ast.BinaryOp) and each.op == "*":
            product = list(factors_of(each))
            sums = [one for one in product if isinstance(one, c_ast.BinaryOp) and one.op in {"+", "-"}]
            sizes.update(key(one) for one in product if sums)
    free = {each.name for each in draft.parameters.all() if key(each.expression) not in sizes}
    return [each for each in factors if each in free]


def _terms(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """What ``node`` is the sum, or the difference, of."""
    if isinstance(node, c_ast.BinaryOp) and node.op in {"+", "-"}:
        yield from _terms(node.left)
        yield from _terms(node.right)
    else:
        yield node


def _with_units(build: Callable[[FlatSubscripts], ModelBuilder], units: frozenset[str]) -> Scop | None:
    """The model of a region whose ``units`` are 1; None unless all subscripts are known then."""
    with contextlib.suppress(Unsupported, NotFollowed):
        first = build(FlatSubscripts(units=units))
        draft = first.run()
        viewed = first.with_views()
        if not first.factors_without_view(viewed):
            return assemble(draft if viewed is None else build(viewed).run())
    return None


def _is_likely(scop: Scop, steps: Sequence[str]) -> bool:
    """Whether what ``scop`` assumes may hold where all ``steps`` are 1, and other parameters are sizes."""
    likely, one, size = scop.context, spaces.constant(0, 1), spaces.constant(0, BORDER_WIDTH)
    for assumption in scop.assumptions:
        likely = likely.intersect(assumption.condition)
    for each in scop.parameters:
        value = spaces.parameter(0, each.name)
        usual = value.eq_set(one) if each.name in steps else value.ge_set(size)
        likely = likely.intersect(usual.params())
    return not likely.is_empty()
