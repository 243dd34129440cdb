"""From a region to its model."""

from __future__ import annotations

import contextlib
from functools import partial

from polybuild.diagnostics import Unsupported
from polybuild.normalise import normalise
from polybuild.normalise.inlining import inline_calls
from polybuild.scop.assemble import assemble
from polybuild.scop.delinearise.flat_subscripts import FlatSubscripts
from polybuild.scop.final_values import NotFollowed
from polybuild.scop.model import Scop
from polybuild.scop.model_builder import ModelBuilder
from polybuild.scop.pointer_rotation import check_swaps
from polybuild.source.model import Region


def extract_scop(region: Region, *, in_blocks: bool = False) -> Scop:
    """The polyhedral model of ``region``.

    With ``in_blocks``, expressions that follow each other are one statement: a smaller problem,
    in which they stay together. Raises Unsupported, naming the construct, if the region is outside the model.
    """
    try:
        return _normalised(inline_calls(region), in_blocks=in_blocks)
    except Unsupported as refusal:
        if refusal.diagnostic.code in {"pointer-reassigned", "pointer-value"}:
            check_swaps(region)
        raise
    except RecursionError:
        raise Unsupported(
            "too-complex",
            "the region is nested too deeply",
            region.begin,
            "split long expressions or the region",
        ) from None


def _normalised(region: Region, *, in_blocks: bool) -> Scop:
    """The model of ``region`` in normal form, or as it is where that is refused."""
    excluded: frozenset[str] = frozenset()
    extract = partial(_extract, in_blocks=in_blocks)
    while True:
        normal = normalise(region, excluded)
        try:
            return extract(normal)
        except NotFollowed as failure:
            excluded |= failure.names
        except Unsupported as refusal:
            if normal is not region:
                with contextlib.suppress(Unsupported):
                    return extract(region)
            if refusal.diagnostic.code in {"integer-wrap", "endless-loop"}:
                with contextlib.suppress(Unsupported, NotFollowed):
                    return extract(normalise(region, excluded, wrapping=True), wrapping=True)
            raise


def _extract(region: Region, *, in_blocks: bool, wrapping: bool = False) -> Scop:
    """The model of a region; raises NotFollowed for variables that must not be normalised.

    With ``wrapping``, unsigned values that leave their type whatever the parameters are wrap around.
    """
    walk = partial(ModelBuilder, region, wrapping=wrapping, in_blocks=in_blocks)
    first = walk(FlatSubscripts())
    walked = first.run()
    viewed = first.with_views()
    return assemble(walked if viewed is None else walk(viewed).run())
