"""The boxes of arrays that go to a device and back, as initialisers of ``polybuild_box``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import islpy as isl

from polybuild.c.types import FloatingType, IntegerType
from polybuild.codegen.c.bodies import Sizes, element, steps_in_bytes
from polybuild.codegen.c.expressions import MULTIPLICATIVE, ZERO, ExpressionPrinter, Operand
from polybuild.codegen.c.names_in_use import NamesInUse
from polybuild.codegen.device.arrays import buffer_name, first_name, step_names
from polybuild.scop.model import Array, Scop
from polybuild.targets.device import Transfer

_INDENT = "  "
_MODES = {
    (True, True): "POLYBUILD_INOUT",
    (True, False): "POLYBUILD_IN",
    (False, True): "POLYBUILD_OUT",
    (False, False): "POLYBUILD_TEMPORARY",
}


class BoxPrinter:
    """Prints the buffers of a session; ``names`` and ``in_use`` are those of the host's loops."""

    def __init__(self, scop: Scop, names: Mapping[str, str], in_use: NamesInUse) -> None:
        self._scop = scop
        self._printer = ExpressionPrinter(lambda name: names.get(name, name), in_use)
        self._build = isl.AstBuild.from_context(isl.Set.universe(scop.context.get_space()))

    def box(self, transfer: Transfer, name: str = "") -> list[str]:
        """The box of an array, called ``name`` if given; the host has none of many values of a variable."""
        array = transfer.array
        low = f"&{self._element(array, [self._operand(each) for each in transfer.lowest])}"
        low = self._distance(transfer) if array.expanded else low
        width, rows, row_pitch, planes, plane_pitch = self._shape(transfer)
        guard = self._guard(transfer)
        if guard:
            low, width = f"{guard} ? (const void *){low} : 0", f"{guard} ? {width} : 0"
        return [
            f"const polybuild_box {name or box_name(array)} = {{",
            f"{_INDENT}.low = {low}, .width = (size_t)({width}),",
            f"{_INDENT}.rows = (size_t)({rows or 1}), .row_pitch = (size_t)({row_pitch}),",
            f"{_INDENT}.planes = (size_t)({planes or 1}), .plane_pitch = (size_t)({plane_pitch}),",
            "};",
        ]

    def _distance(self, transfer: Transfer) -> str:
        """The bytes before the lowest element of an array that begins at address 0: the host has none."""
        if all(each.is_cst() and each.max_val().is_zero() for each in transfer.lowest):
            return "0"
        flat = self._place(transfer.array, transfer.lowest)
        return f"(const void *)((size_t)({flat}) * {unit_of(transfer.array)})"

    def _place(self, array: Array, subscripts: Sequence[isl.PwAff]) -> str:
        """How many elements are before the one with ``subscripts``."""
        sizes = [each for each in array.extents[1:] if each is not None]
        flat = self._text(subscripts[0], MULTIPLICATIVE) if subscripts else "0"
        for size, low in zip(sizes, subscripts[1:], strict=True):
            inner = self._text(size.project_domain_on_params(), MULTIPLICATIVE + 1)
            flat = f"({flat}) * {inner} + {self._text(low, MULTIPLICATIVE)}"
        return flat

    @staticmethod
    def use(transfer: Transfer) -> str:
        """The initialiser of the ``polybuild_use`` of an array."""
        return f"{{&{box_name(transfer.array)}, {_mode(transfer)}}}"

    @staticmethod
    def look(transfer: Transfer) -> str:
        """The initialiser of a ``polybuild_use`` of an array that is read on the host."""
        return f"{{&{box_name(transfer.array)}, POLYBUILD_IN}}"

    def buffer(self, transfer: Transfer) -> list[str]:
        """The buffer and the first element of an array."""
        array = transfer.array
        base = "0" if array.expanded else f"&{self._element(array, [ZERO] * len(array.extents))}"
        return [
            f"polybuild_buffer *const {buffer_name(array)} = polybuild_map(pb_session, {base},",
            f"{_INDENT * 2}&{box_name(array)}, {unit_of(array)}, {_mode(transfer)});",
            f"const long {first_name(array)} = polybuild_first({buffer_name(array)});",
            *self._steps(array),
        ]

    def _guard(self, transfer: Transfer) -> str:
        """The condition under which any element is touched; empty if one always is."""
        if self._scop.context.is_subset(transfer.touched):
            return ""
        condition = self._build.expr_from_set(transfer.touched.gist(self._scop.context).coalesce())
        return f"({self._printer.text(condition)})"

    def _shape(self, transfer: Transfer) -> tuple[str, str, str, str, str]:
        """The width of a run, the rows and their pitch, the planes and theirs, all lengths in bytes.

        The number of rows, or of planes, is empty where there is one.
        """
        array = transfer.array
        unit = unit_of(array)
        if len(transfer.lowest) > 3 and array.expanded:
            first, last = (self._place(array, each) for each in (transfer.lowest, transfer.highest))
            return f"(({last}) - ({first}) + 1) * {unit}", "", "0", "", "0"
        if len(transfer.lowest) > 3 and not any(array.suffixes):
            last, first = (
                self._element(array, [self._operand(each) for each in corner])
                for corner in (transfer.highest, transfer.lowest)
            )
            return f"((const char *)(&{last} + 1) - (const char *)&{first})", "", "0", "", "0"
        counts = [
            f"({self._text(high.sub(low).add_constant_val(isl.Val(1)).coalesce())})"
            for low, high in zip(transfer.lowest, transfer.highest, strict=True)
        ]
        if any(array.suffixes):
            return self._strided(array, counts)
        sizes = [
            f"({self._text(each.project_domain_on_params())})"
            for each in array.extents[1:]
            if each is not None
        ]
        width = " * ".join([*counts[-1:], unit])
        rows, planes = ([*counts[-2::-1], "", ""])[:2]
        pitch = " * ".join([*sizes[-1:], unit]) if len(counts) > 1 else "0"
        plane_pitch = " * ".join([*sizes, unit]) if len(counts) > 2 else "0"
        return width, rows, pitch, planes, plane_pitch

    def _strided(self, array: Array, counts: list[str]) -> tuple[str, str, str, str, str]:
        """The shape of a box of members of structures: only these are copied."""
        steps = steps_in_bytes(array, self._sizes(array))
        width = unit_of(array)
        if not array.suffixes[-1]:
            width = f"{counts.pop()} * {width}"
            steps.pop()
        rows, planes = ([*counts[::-1], "", ""])[:2]
        pitch, plane_pitch = ([*steps[::-1], "0", "0"])[:2]
        return width, rows, pitch, planes, plane_pitch

    def _steps(self, array: Array) -> list[str]:
        """Lines that say how far apart the elements of an array of structures are, in units of a member."""
        if not any(array.suffixes):
            return []
        steps = zip(step_names(array), steps_in_bytes(array, self._sizes(array)), strict=True)
        return [f"const long {name} = (long)({step} / {unit_of(array)});" for name, step in steps]

    def _element(self, array: Array, subscripts: Sequence[Operand]) -> str:
        return element(array, subscripts, self._sizes(array))

    def _sizes(self, array: Array) -> Sizes:
        """The inner extents of the view that ``array`` is."""
        return [
            partial(self._text, each.project_domain_on_params(), MULTIPLICATIVE + 1)
            for each in array.extents[1 : array.flat]
            if each is not None
        ]

    def _operand(self, value: isl.PwAff) -> Operand:
        return self._printer.operand(self._build.expr_from_pw_aff(value))

    def _text(self, value: isl.PwAff, binding: int = 0) -> str:
        return self._printer.text(self._build.expr_from_pw_aff(value), binding)


def box_name(array: Array) -> str:
    """The variable of the host that holds the box of ``array``."""
    return f"pb_{array.name}_box"


def _mode(transfer: Transfer) -> str:
    return _MODES[transfer.goes_in, transfer.comes_out]


def regular(arrays: Iterable[Array]) -> list[str]:
    """Conditions, constant in C, under which members of structures lie whole units of their type apart."""
    conditions = [
        f"{step} % {unit_of(array)} == 0"
        for array in arrays
        if any(array.suffixes)
        for step in steps_in_bytes(array, [])
    ]
    return list(dict.fromkeys(conditions))


def unit_of(array: Array) -> str:
    """The size of an element, as C text."""
    kind = array.element
    return f"sizeof({kind.name})" if isinstance(kind, IntegerType | FloatingType) else "1"
