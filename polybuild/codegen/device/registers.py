"""Variables that ask for a register: C lets nobody take their address, so a copy of each travels instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pycparser import c_ast

from polybuild.c.types import FloatingType, IntegerType
from polybuild.codegen.device.boxes import box_name
from polybuild.source.model import Region
from polybuild.targets.device import Transfer
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class AddressableCopies:
    """The ``transfers`` of a region with copies in place of variables without an address.

    ``before`` are lines that declare them, ``after`` those that set the variables once the region has run.
    """

    transfers: tuple[Transfer, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]


def addressable(region: Region, transfers: Sequence[Transfer]) -> AddressableCopies:
    """What travels between the host and a device, all of which have addresses."""
    found, before, after = [], [], []
    for each in transfers:
        array = each.array
        if not _asks_for_a_register(region, each):
            found.append(each)
            continue
        assert isinstance(array.element, IntegerType | FloatingType)  # noqa: S101 - others have no kernels
        copy = f"pb_{array.name}_in_memory"
        value = f" = {array.source_name}" if each.goes_in else ""
        before.append(f"{array.element.name} {copy}{value};")
        if each.comes_out:
            touched = "" if each.goes_in else f"if ({box_name(array)}.width) "
            after.append(f"{touched}{array.source_name} = {copy};")
        found.append(replace(each, array=replace(array, expression=c_ast.ID(copy))))
    return AddressableCopies(tuple(found), tuple(before), tuple(after))


def _asks_for_a_register(region: Region, transfer: Transfer) -> bool:
    array = transfer.array
    if not array.is_scalar or array.local or not isinstance(array.expression, c_ast.ID):
        return False
    symbol = region.visible.symbols.get(array.source_name)
    return symbol is not None and "register" in (getattr(symbol.declaration, "storage", None) or ())
