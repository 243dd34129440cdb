"""What was found out about a region on the way to its new loops, kept for its explanation."""

from __future__ import annotations

import islpy as isl

from polybuild.analysis.dependences import Dependences
from polybuild.codegen.file.region import RegionText
from polybuild.context import CompileContext
from polybuild.diagnostics import Diagnostic
from polybuild.machine.model import Machine
from polybuild.scop.model import Scop
from polybuild.source.model import Region
from polybuild.targets.cpu.cost.versions import VersionCosts
from polybuild.targets.cpu.expansion import Mapped
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class Details:
    """The model, the dependences, the new order and the code of one region.

    ``ordered`` is the model that ``schedule`` is an order of: it may have statements that copy arrays.
    The ``text`` of a region that stays as it is has no loops. ``original`` is the region's text in the file,
    marks included; ``warnings`` are what the user should know of it; ``costs`` are those of its versions,
    where they are known; ``shared`` is what ranks run of it, and the context it was mapped in, if they share
    it. ``took_all`` says that isl took all it may for something, which was done more simply; ``machine`` is
    what kernels are for.
    """

    scop: Scop
    dependences: Dependences
    ordered: Scop
    schedule: isl.Schedule
    text: RegionText
    region: Region
    original: str = ""
    warnings: tuple[Diagnostic, ...] = ()
    costs: VersionCosts | None = None
    shared: tuple[Mapped, CompileContext] | None = None
    took_all: bool = False
    machine: Machine = Machine()
