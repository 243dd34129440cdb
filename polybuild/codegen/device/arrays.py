"""The arrays of a region as its kernels know them: their names, and how each comes there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pycparser import c_ast

from polybuild.c.syntax_tree import walk
from polybuild.c.types import FloatingType, IntegerType
from polybuild.codegen.c.bodies import c_text
from polybuild.codegen.c.buffers import NamedBuffer
from polybuild.codegen.device.bodies import own_name
from polybuild.codegen.file.names import fresh
from polybuild.scop.model import AccessKind, Array, Scop
from polybuild.targets.languages import KernelLanguage
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class DeviceArrays:
    """How the arrays of a region are known to its kernels.

    ``names`` gives each its name there. Those in ``private`` are variables of a
    thread, as are ``buffers``, those in ``values`` scalars that are only read, passed by value; the
    others lie in the device's memory. Those in ``written`` are not only read.
    """

    names: Mapping[str, str]
    private: frozenset[str]
    values: frozenset[str]
    written: frozenset[str]
    buffers: tuple[NamedBuffer, ...]


def device_arrays(
    scop: Scop, private: Sequence[Array], language: KernelLanguage, buffers: Sequence[NamedBuffer] = ()
) -> DeviceArrays:
    """Name the arrays of ``scop`` and tell how each is passed.

    Each thread has a copy of the ``private`` ones, and of the ``buffers`` that stand for others.
    """
    names = {each.name: each.name for each in buffers}
    bodies = [node for each in scop.statements for node in walk(each.body)]
    reserved = language.reserved | {own_name(each.name) for each in bodies if isinstance(each, c_ast.Decl)}
    for array in scop.arrays:
        names[array.name] = fresh(array.name, reserved.union(names.values()))
    written = {
        access.array.name
        for statement in scop.statements
        for access in statement.accesses
        if access.kind is not AccessKind.READ
    }
    own = frozenset([*(each.name for each in private), *(each.name for each in buffers)])
    values = (array.name for array in scop.arrays if array.is_scalar and array.name not in written)
    return DeviceArrays(names, own, frozenset(values) - own, frozenset(written), tuple(buffers))


def element_type(array: Array, language: KernelLanguage) -> str:
    """The name of the type of the elements of ``array``."""
    name = language.types.of(array.element)
    assert name is not None  # noqa: S101 - arrays of other types stay on the host
    return name


def buffer_name(array: Array) -> str:
    """The variable of the host that holds the buffer of ``array``."""
    return f"pb_{array.name}_buffer"


def first_name(array: Array) -> str:
    """The variable of the host that holds what kernels subtract from subscripts of ``array``."""
    return f"pb_{array.name}_first"


def step_names(array: Array) -> list[str]:
    """The variables of the host that say how far apart the elements of an array of structures are."""
    return [f"pb_{array.name}_step{position}" for position in range(len(array.extents))]


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter of a kernel, and the C initialiser of the ``polybuild_argument`` for it."""

    declaration: str
    initialiser: str


class ArgumentPrinter:
    """Prints the parameters of kernels in ``language``, and what the host passes for them."""

    def __init__(self, arrays: DeviceArrays, language: KernelLanguage) -> None:
        self._arrays = arrays
        self._language = language

    def arguments(self, used: Sequence[Array], outer: Sequence[str], counter_type: str) -> list[Argument]:
        """The parameters of a kernel that uses the arrays ``used``.

        ``outer`` are the variables of the host that it uses, parameters and counters: all fit
        ``counter_type``.
        """
        arrays = self._arrays
        buffers = [each for each in used if each.name not in arrays.private | arrays.values]
        there = "int" if counter_type == "int" else self._language.types.widest
        return [
            *(self._pointer(each) for each in buffers),
            *(self._first(each) for each in buffers),
            *(step for each in buffers for step in self._steps(each)),
            *(
                _by_value(
                    element_type(each, self._language),
                    arrays.names[each.name],
                    each.element.name,
                    c_text(each.expression),
                )
                for each in used
                if each.name in arrays.values and isinstance(each.element, IntegerType | FloatingType)
            ),
            *(_by_value(there, name, counter_type, name) for name in outer),
        ]

    def _pointer(self, array: Array) -> Argument:
        qualifiers = self._language.qualifiers
        const = "" if array.name in self._arrays.written else "const "
        kind = f"{qualifiers.pointer}{const}{element_type(array, self._language)} *{qualifiers.restrict}"
        name = self._arrays.names[array.name]
        return Argument(f"{kind} {name}", f"{{.buffer = {buffer_name(array)}}}")

    def _first(self, array: Array) -> Argument:
        return _offset(f"{self._arrays.names[array.name]}_first", first_name(array))

    def _steps(self, array: Array) -> list[Argument]:
        names = step_names(array) if any(array.suffixes) else []
        return [
            _offset(f"{self._arrays.names[array.name]}_step{position}", name)
            for position, name in enumerate(names)
        ]


def _offset(name: str, value: str) -> Argument:
    """A number of elements: the variable ``value`` of the host."""
    return Argument(f"long {name}", f"{{.value = &{value}, .size = sizeof {value}}}")


def _by_value(kind: str, name: str, host_kind: str, value: str) -> Argument:
    return Argument(
        f"const {kind} {name}", f"{{.value = &(const {host_kind}){{{value}}}, .size = sizeof({host_kind})}}"
    )
