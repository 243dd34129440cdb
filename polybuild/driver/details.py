"""What was found out about a region on the way to its new loops, kept for its explanation."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.codegen.file.region import RegionText
from polybuild.diagnostics import Diagnostic
from polybuild.scop.model import Scop
from polybuild.source.model import Region


@dataclass(frozen=True, slots=True)
class Details:
    """The model, the dependences, the new order and the code of one region.

    ``ordered`` is the model that ``schedule`` is an order of: it may have statements that copy arrays.
    ``original`` is the region's text in the file, marks included; ``unused`` are settings without effect.
    """

    scop: Scop
    dependences: Dependences
    ordered: Scop
    schedule: isl.Schedule
    text: RegionText
    region: Region
    original: str = ""
    unused: tuple[Diagnostic, ...] = ()
