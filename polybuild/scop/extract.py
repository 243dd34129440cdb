"""From a region to its model."""

from __future__ import annotations

import contextlib

from polybuild.diagnostics import Unsupported
from polybuild.scop.assemble import assemble
from polybuild.scop.delinearise import FlatSubscripts
from polybuild.scop.inlining import inline_calls
from polybuild.scop.lastvalues import NotFollowed
from polybuild.scop.model import Scop
from polybuild.scop.normalise import normalise
from polybuild.scop.swaps import check_swaps
from polybuild.scop.walk import Walk
from polybuild.source.model import Region


def extract_scop(region: Region) -> Scop:
    """The polyhedral model of ``region``.

    Raises Unsupported, naming the construct, if the region is outside the model.
    """
    try:
        return _normalised(inline_calls(region))
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


def _normalised(region: Region) -> Scop:
    """The model of ``region`` in normal form, or as it is where that is refused."""
    excluded: frozenset[str] = frozenset()
    while True:
        normal = normalise(region, excluded)
        try:
            return _extract(normal)
        except NotFollowed as failure:
            excluded |= failure.names
        except Unsupported as refusal:
            if normal is not region:
                with contextlib.suppress(Unsupported):
                    return _extract(region)
            if refusal.diagnostic.code in {"integer-wrap", "endless-loop"}:
                with contextlib.suppress(Unsupported, NotFollowed):
                    return _extract(normalise(region, excluded, wrapping=True), wrapping=True)
            raise


def _extract(region: Region, *, wrapping: bool = False) -> Scop:
    """The model of a region; raises NotFollowed for variables that must not be normalised.

    With ``wrapping``, unsigned values that leave their type whatever the parameters are wrap around.
    """
    first = Walk(region, FlatSubscripts(), wrapping)
    walked = first.run()
    viewed = first.with_views()
    return assemble(walked if viewed is None else Walk(region, viewed, wrapping).run())
