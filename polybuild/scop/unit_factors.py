"""Parameters of subscripts that are taken to be 1, as strides and dilations of convolutions are, most often.

``x[(i * sh + k) * w + j * sw + l]`` has no view as rows of ``w`` elements unless the strides are known.
Those of rows and of columns go together.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence

import islpy as isl
from pycparser import c_ast

from polybuild.c.syntax_tree import COMPARISONS, factors_of, key, walk
from polybuild.diagnostics import Unsupported
from polybuild.effort import UNIT_TRIALS
from polybuild.poly import spaces
from polybuild.scop.assemble import assemble
from polybuild.scop.delinearise.flat_subscripts import FlatSubscripts
from polybuild.scop.draft import RegionDraft
from polybuild.scop.final_values import NotFollowed
from polybuild.scop.model import Scop
from polybuild.scop.model_builder import ModelBuilder


def with_unit_factors(
    build: Callable[[FlatSubscripts], ModelBuilder], draft: RegionDraft, factors: Sequence[str]
) -> Scop | None:
    """The model of a region where some of the ``factors`` in subscripts are 1; None if it is no help.

    ``draft`` is what was found without. All subscripts have to be known then; if one parameter is enough,
    but others are strides of windows that do not overlap then, they may be 1 together.
    """
    lengths = _lengths_of_rows(draft)
    factors = [each for each in factors if each not in lengths]
    strides, single = _strides(draft, factors), None
    for each in factors:
        found = with_units(build, frozenset({each}))
        if found is not None and _is_likely(found, strides):
            return found
        single = single or found
    sets = (itertools.combinations(reversed(strides), count) for count in range(2, len(strides) + 1))
    for units in itertools.islice(itertools.chain.from_iterable(sets), UNIT_TRIALS):
        found = with_units(build, frozenset(units))
        if found is not None:
            return found
    return single


def _strides(draft: RegionDraft, factors: Sequence[str]) -> list[str]:
    """Those of the ``factors`` that are written as strides are, ``i * s``: sizes multiply sums.

    Nothing is compared with them.
    """
    sizes: set[object] = set()
    for each in (part for statement in draft.region.statements for part in walk(statement)):
        if isinstance(each, c_ast.BinaryOp) and each.op in COMPARISONS:
            sizes.update(key(term) for side in (each.left, each.right) for term in _terms(side))
        if isinstance(each, c_ast.BinaryOp) and each.op == "*":
            product = list(factors_of(each))
            sums = [one for one in product if isinstance(one, c_ast.BinaryOp) and one.op in {"+", "-"}]
            sizes.update(key(one) for one in product if sums)
    free = {each.name for each in draft.parameters.all() if key(each.expression) not in sizes}
    return [each for each in factors if each in free]


def _lengths_of_rows(draft: RegionDraft) -> set[str]:
    """Parameters that rows have the length of of which data say how much is used, as in ``a[i * m + k]``.

    No such row has a single element, as lists of neighbours do not.
    """
    found: set[object] = set()
    for statement in draft.statements:
        counters = {draft.names.iterators[loop.header].name for loop in statement.dynamic}
        for each in walk(statement.body) if counters else ():
            parts = list(walk(each.subscript)) if isinstance(each, c_ast.ArrayRef) else []
            if any(isinstance(part, c_ast.ID) and part.name in counters for part in parts):
                products = (part for part in parts if isinstance(part, c_ast.BinaryOp) and part.op == "*")
                found.update(key(factor) for product in products for factor in factors_of(product))
    return {each.name for each in draft.parameters.all() if key(each.expression) in found}


def _terms(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """What ``node`` is the sum, or the difference, of."""
    if isinstance(node, c_ast.BinaryOp) and node.op in {"+", "-"}:
        yield from _terms(node.left)
        yield from _terms(node.right)
    else:
        yield node


def with_units(build: Callable[[FlatSubscripts], ModelBuilder], units: frozenset[str]) -> Scop | None:
    """The model of a region whose ``units`` are 1; None unless all subscripts are known then."""
    with contextlib.suppress(Unsupported, NotFollowed):
        first = build(FlatSubscripts(units=units))
        draft = first.run()
        viewed = first.with_views()
        if not first.factors_without_view(viewed):
            return assemble(draft if viewed is None else build(viewed).run())
    return None


def _is_likely(scop: Scop, strides: Sequence[str]) -> bool:
    """Whether no dimension of an array has one of ``strides`` as its extent, and a single counter in it.

    ``i * s + k`` would be rows of ``s`` elements then, one for each ``i``: windows that do not overlap.
    """
    for statement in scop.statements:
        for access in statement.accesses:
            for position, extent in enumerate(access.array.extents):
                named = extent is not None and any(
                    extent.is_equal(spaces.parameter(0, each)) for each in strides
                )
                if named and _has_one_counter(access.relation, position):
                    return False
    return True


def _has_one_counter(relation: isl.Map, position: int) -> bool:
    """Whether a single loop counter tells a subscript; true if it is not known which value that has."""
    out = isl.dim_type.out
    behind = relation.dim(out) - position - 1
    subscript = relation.project_out(out, position + 1, behind).project_out(out, 0, position)
    if not subscript.is_single_valued():
        return True
    pieces = [value for _, value in isl.PwMultiAff.from_map(subscript).get_pw_aff(0).get_pieces()]
    counters = range(subscript.dim(isl.dim_type.in_))
    return any(
        sum(value.involves_dims(isl.dim_type.in_, each, 1) for each in counters) == 1 for value in pieces
    )
