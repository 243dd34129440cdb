"""What a C function takes from Python: its parameters, and checks of arguments against their declarations."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping
from math import prod
from typing import Any

from pycparser import c_ast

from polybuild.c.symbols import StorageClass
from polybuild.c.types import ArrayType, FloatingType, IntegerType, PointerType, Type
from polybuild.source.model import Region
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class FunctionParameter:
    """One parameter of a function; ``extents`` are C expressions (None: not known), for arrays alone."""

    name: str
    type: IntegerType | FloatingType
    extents: tuple[c_ast.Node | None, ...]
    is_array: bool
    is_const: bool

    @property
    def what(self) -> str:
        """How messages call it."""
        return f"argument '{self.name}'"


def parameter_of(region: Region, name: str) -> FunctionParameter:
    """The parameter ``name`` of the function around ``region``; TypeError if Python cannot give it."""
    symbol = region.visible.symbols.get(name)
    if symbol is None or symbol.storage is not StorageClass.PARAMETER:
        raise TypeError(f"what its parameter '{name}' is cannot be told from inside the region")
    extents: list[c_ast.Node | None] = []
    found: Type = symbol.type
    while isinstance(found, (ArrayType, PointerType)):
        if isinstance(found, PointerType) and extents:
            raise TypeError(f"its parameter '{name}' is an array of pointers, which Python cannot give")
        extents.append(found.extent if isinstance(found, ArrayType) else None)
        found = found.element if isinstance(found, ArrayType) else found.target
    if not isinstance(found, (IntegerType, FloatingType)):
        raise TypeError(f"its parameter '{name}' is of a type that Python cannot give")
    return FunctionParameter(name, found, tuple(extents), bool(extents), _is_const(symbol.declaration))


def _is_const(declaration: c_ast.Node) -> bool:
    node: Any = declaration
    while not isinstance(node, c_ast.TypeDecl):
        node = node.type
    return "const" in (node.quals or ())


def ctype_of(kind: IntegerType | FloatingType) -> Any:
    """The type of ctypes for a type of C."""
    if isinstance(kind, FloatingType):
        return {4: ctypes.c_float, 8: ctypes.c_double}.get(kind.size, ctypes.c_longdouble)
    if kind.width == 1:
        return ctypes.c_bool
    return getattr(ctypes, f"c_{'' if kind.signed else 'u'}int{kind.width}")


def scalar(parameter: FunctionParameter, value: Any) -> Any:
    """A number as C gets it; TypeError or ValueError if it is none, or out of range."""
    kind = parameter.type
    if isinstance(kind, FloatingType):
        try:
            return ctype_of(kind)(float(value))
        except (TypeError, ValueError):
            raise TypeError(f"{parameter.what} must be a number, not {type(value).__name__}") from None
    try:
        number = value.__index__()
    except AttributeError:
        raise TypeError(f"{parameter.what} must be a whole number, not {type(value).__name__}") from None
    low, high = (-(2 ** (kind.width - 1)), 2 ** (kind.width - 1)) if kind.signed else (0, 2**kind.width)
    if not low <= number < high:
        raise ValueError(f"{parameter.what} is {number}, which '{kind.name}' does not hold")
    return ctype_of(kind)(number)


def check_array(
    parameter: FunctionParameter,
    interface: Mapping[str, Any],
    shape: tuple[int, ...],
    values: Mapping[str, Any],
) -> int:
    """Check an array against its declaration; its size in bytes."""
    wanted, given = _typestr(parameter.type), interface["typestr"]
    item = int(given[2:])
    if given[1:] != wanted or (given[0] not in "|=" and item > 1 and given[0] != _ORDER):
        raise TypeError(
            f"{parameter.what} has elements of type '{given}', not '{_ORDER}{wanted}' ({parameter.type.name})"
        )
    size = item * prod(shape)
    strides = interface.get("strides")
    if strides is not None and size and tuple(strides) != _contiguous(shape, item):
        raise ValueError(
            f"{parameter.what} is not contiguous in C's order; copy it with numpy.ascontiguousarray"
        )
    extents = [_value(each, values) for each in parameter.extents]
    if len(extents) > 1 and len(shape) != len(extents):
        raise ValueError(f"{parameter.what} has {len(shape)} dimensions; C declares {len(extents)}")
    for position, extent in enumerate(extents):
        known = len(shape) == len(extents)
        if extent is not None and known and shape[position] != extent:
            raise ValueError(f"{parameter.what} has the shape {shape}; extent {position} must be {extent}")
    return size


_ORDER = "<" if sys.byteorder == "little" else ">"


def _typestr(kind: IntegerType | FloatingType) -> str:
    if isinstance(kind, FloatingType):
        return f"{'c' if kind.complex else 'f'}{kind.size}"
    return "b1" if kind.width == 1 else f"{'i' if kind.signed else 'u'}{kind.width // 8}"


def _contiguous(shape: tuple[int, ...], item: int) -> tuple[int, ...]:
    strides = []
    for extent in reversed(shape):
        strides.append(item)
        item *= extent
    return tuple(reversed(strides))


_OPERATORS: Mapping[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
}


def _value(node: c_ast.Node | None, values: Mapping[str, Any]) -> int | None:
    """The value of an extent, None if it is not one of sums and products of numbers and parameters."""
    if isinstance(node, c_ast.Constant) and node.type in {"int", "long int", "unsigned int"}:
        return int(node.value.rstrip("uUlL"), 0)
    if isinstance(node, c_ast.ID) and node.name in values:
        return int(values[node.name])
    if isinstance(node, c_ast.BinaryOp) and node.op in _OPERATORS:
        left, right = _value(node.left, values), _value(node.right, values)
        if left is not None and right is not None:
            return _OPERATORS[node.op](left, right)
    return None
