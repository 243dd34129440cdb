"""Settings that have no effect on a region, each with the reason: nothing is dropped in silence."""

from __future__ import annotations

from polybuild.diagnostics import Diagnostic, Severity
from polybuild.driver.passes import Transformation
from polybuild.options import OVERLAPPED
from polybuild.poly.marks import MarkKind
from polybuild.poly.trees import descendants, mark_of

CODE = "unused-setting"
LARGE = "large-tiles"


def unused_settings(work: Transformation) -> tuple[Diagnostic, ...]:
    """Warnings about settings that were asked for and are not used for the region of ``work``."""
    wanted = work.requested.options
    tree = [mark_of(each) for each in descendants(work.mapped.mapping.schedule.get_root())]
    shaped = any(mark is not None and mark.kind is MarkKind.TILE_POINTS for mark in tree)
    found = []
    on_host = work.text.kernels is None  # the kernels of a device have tiles of their own
    if wanted.tile and wanted.tile_sizes and on_host and not work.mapped.mapping.tile_sizes:
        found.append(f"the tile sizes are not used for this region: {_not_tiled(work)}")
    found += _too_many_sizes(work) if on_host else ()
    if wanted.tile and wanted.tile_shape not in {"auto", "rectangular"} and not shaped:
        reason = (
            _not_tiled(work) if not work.mapped.mapping.tile_sizes else "no loop over time has such tiles"
        )
        found.append(f"the tile shape '{wanted.tile_shape}' is not used for this region: {reason}")
    elif wanted.tile and wanted.tile_shape == OVERLAPPED and on_host:
        found.append(f"the tile shape '{OVERLAPPED}' is not used for this region: it is one of devices")
    begin = work.model.region.begin
    hint = "leave the setting out here, or see with 'polybuild explain' what stands in the way"
    unused = tuple(Diagnostic(Severity.WARNING, CODE, each, begin, hint) for each in found)
    exceeded = work.text.kernels.exceeded if work.text.kernels is not None else ()
    hint = "with smaller tiles, fewer points for each thread, or none of these settings, there is room"
    return unused + tuple(Diagnostic(Severity.WARNING, LARGE, each, begin, hint) for each in exceeded)


def _too_many_sizes(work: Transformation) -> tuple[str, ...]:
    """That more tile sizes were given than loops are tiled together, if they were."""
    given = work.requested.options.tile_sizes
    maximum = max(map(len, work.mapped.mapping.tile_sizes), default=len(given))
    if len(given) <= maximum:
        return ()
    unused = ", ".join(map(str, given[maximum:]))
    return (f"tile sizes are not used for this region: {unused}; {maximum} of its loops are tiled together",)


def changed_sizes(work: Transformation) -> tuple[str, ...]:
    """The remark that given tile sizes were made to fit the tiles in registers, if they were."""
    given, tiles = work.requested.options.tile_sizes, work.mapped.mapping.tile_sizes
    if not given or not work.mapped.mapping.registers or all(each == given[: len(each)] for each in tiles):
        return ()
    remark = "the tile sizes given were made multiples of the tiles in registers"
    return (f"{remark} (--registers off takes them as they are)",)


def _not_tiled(work: Transformation) -> str:
    """Why a region has no tiles."""
    if not work.context.options.tile:
        return "it takes too long to analyse with tiles"
    if any(each.band_n_member() > 1 and each.band_get_permutable() for each in work.bands):
        return "with tiles it would find no more data in the cache than without"
    return "it has no two loops, one in the other, that can be tiled together"
