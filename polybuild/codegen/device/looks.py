"""What comes home from a device before the host looks at data: the resident arrays that the look reads."""

from __future__ import annotations

from functools import reduce

import islpy as isl

from polybuild.codegen.device.boxes import BoxPrinter
from polybuild.diagnostics import Unsupported
from polybuild.scop.model import Array, Scop
from polybuild.targets.device import Transfer
from polybuild.targets.gpu.transfers import corners


def looks_home(scop: Scop, boxes: BoxPrinter) -> list[str]:
    """Lines that bring home what the tests of the exits of ``scop`` read; none where data choose that.

    The boxes are of all that the loops may look at, as if none was left early: only addresses count.
    """
    tests = scop.exits.statements if scop.exits is not None else ()
    arrays = {
        access.array.name: access.array
        for each in tests
        for access in each.accesses
        if access.array.extents or access.array.provenance.is_reachable  # no others can stay on a device
    }
    transfers = [_looked_at(scop, each) for each in arrays.values()]
    known = [each for each in transfers if each is not None]
    if not arrays or len(known) < len(transfers):
        return []
    uses = ", ".join(map(boxes.look, known))
    return [
        *(line for each in known for line in boxes.box(each)),
        f"const polybuild_use pb_uses[] = {{{uses}}};",
        f"polybuild_home(pb_uses, {len(known)});",
    ]


def _looked_at(scop: Scop, array: Array) -> Transfer | None:
    """The box of what tests of exits read of ``array``; None if it is not known before."""
    assert scop.exits is not None  # noqa: S101 - asked before
    if array.local or any(array.suffixes):
        return None
    relations = [
        access.relation.intersect_domain(each.domain).intersect_params(scop.context).range()
        for each in scop.exits.statements
        for access in each.accesses
        if access.array.name == array.name
    ]
    elements = scop.without_limits(reduce(isl.Set.union, relations).coalesce())
    try:
        found = corners(array, elements)
    except Unsupported:
        return None
    lowest, highest = (tuple(each for each in corner if each is not None) for corner in found)
    if len(lowest) < len(array.extents) or len(highest) < len(array.extents):
        return None
    return Transfer(array, lowest, highest, elements.params(), goes_in=True, comes_out=False)
