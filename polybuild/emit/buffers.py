"""Buffers that stand for temporary arrays, in C."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from polybuild.emit.names import PREFIX, fresh
from polybuild.polyhedral import maps_of
from polybuild.schedule.legality import IllegalSchedule
from polybuild.scop.model import Array
from polybuild.source.types import Floating, Integer
from polybuild.storage.buffers import Buffer

_in = isl.dim_type.in_


@dataclass(frozen=True, slots=True)
class NamedBuffer:
    """A buffer with the name it has in the generated code."""

    buffer: Buffer
    name: str

    @property
    def array(self) -> Array:
        """The buffer as an array: a variable of the region."""
        extents = (None,) * len(self.buffer.extents)
        suffixes = ("",) * len(extents)
        return replace(
            self.buffer.array, name=self.name, local=True, extents=extents, suffixes=suffixes, flat=1
        )

    @property
    def declaration(self) -> str:
        """Its declaration, without values: nothing is read before it is written."""
        element = self.buffer.array.element
        assert isinstance(element, Integer | Floating)  # noqa: S101 - arrays of others are no temporaries
        return f"{element.name} {self.name}{''.join(f'[{each}]' for each in self.buffer.extents)};"

    def element(self, access: isl.Map) -> isl.PwMultiAff:
        """Where the cell of each instance of a statement is kept, given its ``access`` of the array."""
        instance = access.get_tuple_name(_in)
        (dates,) = (each for each in maps_of(self.buffer.dates) if each.get_tuple_name(_in) == instance)
        here = isl.PwMultiAff.from_map(dates).range_product(isl.PwMultiAff.from_map(access))
        return isl.PwMultiAff.from_multi_aff(self.buffer.place).pullback_pw_multi_aff(here)


def named_buffers(buffers: Sequence[Buffer], taken: Collection[str]) -> tuple[NamedBuffer, ...]:
    """``buffers`` with names that are not ``taken``."""
    named: list[NamedBuffer] = []
    for each in buffers:
        used = {*taken, *(other.name for other in named)}
        named.append(NamedBuffer(each, fresh(PREFIX + each.array.name, used)))
    return tuple(named)


def check_scopes(root: isl.AstNode, buffers: Sequence[NamedBuffer]) -> None:
    """Raise IllegalSchedule unless each buffer's mark stands once in the AST.

    Where statements below a mark share no loop, isl may write the mark before each of them;
    they would not see the same buffer then.
    """
    found: list[str] = []

    def visit(node: isl.AstNode) -> bool:
        if isl.ast_node_type(node.get_type()) == isl.ast_node_type.mark:
            found.append(node.mark_get_id().get_name())
        return True

    root.foreach_descendant_top_down(visit)
    for each in buffers:
        if found.count(each.buffer.name) != 1:
            raise IllegalSchedule(f"the buffer of '{each.buffer.array.name}' is not declared in one place")
