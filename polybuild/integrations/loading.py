"""``polybuild.load``: the functions of a C file that have regions, as callables on NumPy arrays.

The file is compiled by ``polybuild cc`` to a shared library, which ctypes loads.
Arguments are checked against the C declaration: scalars by type and range,
arrays by element type, layout, number of dimensions, and by every extent that
the declaration says (``double A[n][m]``).
"""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from pycparser import c_ast

from polybuild.c.symbols import StorageClass
from polybuild.c.types import ArrayType, FloatingType, IntegerType, PointerType, Type, VoidType
from polybuild.diagnostics import PolybuildError
from polybuild.options import Options
from polybuild.source.model import Region
from polybuild.source.reader import read_source

_MAXIMUM_BUILD_SECONDS = 1800


class BuildError(PolybuildError):
    """The C file could not be compiled; the message is the compiler's."""


class Module:
    """The functions of one file, each an attribute; ``functions`` has their names."""

    def __init__(self, path: str, functions: Mapping[str, LoadedFunction]) -> None:
        self.path = path
        self.functions = tuple(functions)
        self.__dict__.update(functions)

    def __repr__(self) -> str:
        return f"<polybuild module '{self.path}': {', '.join(self.functions)}>"


def load(
    path: str | os.PathLike[str],
    *,
    backend: str = "openmp",
    compiler: str = "",
    flags: Sequence[str] = ("-O3", "-march=native"),
    **options: Any,
) -> Module:
    """Compile the C file at ``path`` and load the functions in it that have regions.

    ``options`` are those of the command line, with ``_`` (``tile_sizes=(32, 32)``);
    ``compiler`` is the C compiler (otherwise ``$CC``, or cc). Raises UsageError
    for a wrong option, SourceError or BuildError for a file that does not compile.
    """
    name = os.fspath(path)
    command = (compiler or os.environ.get("CC") or "cc").split()
    settings = {"backend": backend, **{key: _as_text(value) for key, value in options.items()}}
    Options().with_settings(settings)
    source = read_source(name, command, flags)
    regions = {each.function.decl.name: each for each in source.regions if isinstance(each, Region)}
    visible = {key: region for key, region in regions.items() if "static" not in region.function.decl.storage}
    if not visible:
        raise BuildError(f"{name} has no function with a region that other files can call")
    library = _compile(
        name, [f"--{key.replace('_', '-')}={text}" for key, text in settings.items()], command, flags
    )
    return Module(name, {key: LoadedFunction(library, region) for key, region in visible.items()})


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return str(value)


def _compile(name: str, options: Sequence[str], compiler: Sequence[str], flags: Sequence[str]) -> ctypes.CDLL:
    with tempfile.TemporaryDirectory(prefix="polybuild-") as folder:
        output = Path(folder, f"{Path(name).stem}.so")
        words = ["cc", *options, "--", *compiler, *flags, "-shared", "-fPIC", name, "-o", str(output), "-lm"]
        command = [sys.executable, "-m", "polybuild", *words]
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_MAXIMUM_BUILD_SECONDS,
        )
        if done.returncode:
            raise BuildError(f"{name} does not compile:\n{done.stderr.strip()}")
        sys.stderr.write(done.stderr)
        return ctypes.CDLL(str(output))


@dataclass(frozen=True, slots=True)
class _Parameter:
    """One parameter of a function; ``extents`` are C expressions (None: not known), for arrays alone."""

    name: str
    type: IntegerType | FloatingType
    extents: tuple[c_ast.Node | None, ...]
    is_array: bool
    is_const: bool

    @property
    def what(self) -> str:
        return f"argument '{self.name}'"


class LoadedFunction:
    """One C function; call it with as many arguments as it has parameters."""

    def __init__(self, library: ctypes.CDLL, region: Region) -> None:
        self.__name__ = region.function.decl.name
        self._library = library
        self._call = getattr(library, self.__name__)
        self._call.restype = _result(region)
        declared = region.function.decl.type.args
        names = [each.name for each in (declared.params if declared else []) if each.name]
        self._problem = ""
        self._parameters: list[_Parameter] = []
        try:
            self._parameters = [_parameter(region, name) for name in names]
        except TypeError as error:
            self._problem = f"{self.__name__}: {error}"

    def __repr__(self) -> str:
        return f"<function {self.__name__}({', '.join(each.name for each in self._parameters)})>"

    def __call__(self, *arguments: Any) -> Any:
        """Call the function.

        Arrays are NumPy arrays, or arrays on a device that have the CUDA array
        interface. Raises TypeError and ValueError for arguments that do not fit the
        declaration, RuntimeError if values on a device were lost.
        """
        if self._problem:
            raise TypeError(self._problem)
        if len(arguments) != len(self._parameters):
            wanted = len(self._parameters)
            raise TypeError(f"{self.__name__} takes {wanted} arguments ({len(arguments)} given)")
        values = {
            each.name: value
            for each, value in zip(self._parameters, arguments, strict=True)
            if not each.is_array and isinstance(each.type, IntegerType)
        }
        with ExitStack() as stack:
            passed = [
                stack.enter_context(self._array(each, value, values))
                if each.is_array
                else _scalar(each, value)
                for each, value in zip(self._parameters, arguments, strict=True)
            ]
            return self._call(*passed)

    @contextmanager
    def _array(
        self, parameter: _Parameter, value: Any, values: Mapping[str, Any]
    ) -> Iterator[ctypes.c_void_p]:
        """The address that C gets for an array."""
        interface = getattr(value, "__cuda_array_interface__", None)
        on_device = interface is not None
        if not on_device:
            interface = getattr(value, "__array_interface__", None)
        if interface is None:
            raise TypeError(f"{parameter.what} must be an array, not {type(value).__name__}")
        shape = tuple(interface["shape"])
        address, is_readonly = interface["data"]
        size = _check_array(parameter, interface, shape, values)
        if is_readonly and not parameter.is_const:
            raise ValueError(f"{parameter.what} is read-only, and '{self.__name__}' may write to it")
        if not on_device:
            yield ctypes.c_void_p(address)
            return
        if not hasattr(self._library, "polybuild_adopt"):
            raise TypeError(f"{parameter.what} is on a device; load the file with backend='cuda'")
        with self._adopted(parameter, size, address) as stand_in:
            yield stand_in

    @contextmanager
    def _adopted(self, parameter: _Parameter, size: int, address: int) -> Iterator[ctypes.c_void_p]:
        """Host memory that stands for an array on the device; it costs nothing until a host version runs."""
        if not size:
            yield ctypes.c_void_p(0)
            return
        memory = mmap.mmap(-1, size)
        view = ctypes.c_char.from_buffer(memory)
        stand_in = ctypes.c_void_p(ctypes.addressof(view))
        adopt, disown = self._library.polybuild_adopt, self._library.polybuild_disown
        adopt.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_ulonglong)
        disown.argtypes = (ctypes.c_void_p,)
        try:
            if not adopt(stand_in, size, address):
                raise RuntimeError(f"{parameter.what} is on a device, but there is no device of CUDA")
            try:
                yield stand_in
            finally:
                kept = disown(stand_in)
            if not kept:
                raise RuntimeError(f"the device failed; the values of {parameter.what} are lost")
        finally:
            del view
            memory.close()


def _result(region: Region) -> Any:
    made = region.visible.functions.get(region.function.decl.name)
    result = getattr(made, "result", VoidType())
    return _ctype(result) if isinstance(result, (IntegerType, FloatingType)) else None


def _parameter(region: Region, name: str) -> _Parameter:
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
    return _Parameter(name, found, tuple(extents), bool(extents), _is_const(symbol.declaration))


def _is_const(declaration: c_ast.Node) -> bool:
    node: Any = declaration
    while not isinstance(node, c_ast.TypeDecl):
        node = node.type
    return "const" in (node.quals or ())


def _ctype(kind: IntegerType | FloatingType) -> Any:
    if isinstance(kind, FloatingType):
        return {4: ctypes.c_float, 8: ctypes.c_double}.get(kind.size, ctypes.c_longdouble)
    if kind.width == 1:
        return ctypes.c_bool
    return getattr(ctypes, f"c_{'' if kind.signed else 'u'}int{kind.width}")


def _scalar(parameter: _Parameter, value: Any) -> Any:
    """A number as C gets it; TypeError or ValueError if it is none, or out of range."""
    kind = parameter.type
    if isinstance(kind, FloatingType):
        try:
            return _ctype(kind)(float(value))
        except (TypeError, ValueError):
            raise TypeError(f"{parameter.what} must be a number, not {type(value).__name__}") from None
    try:
        number = value.__index__()
    except AttributeError:
        raise TypeError(f"{parameter.what} must be a whole number, not {type(value).__name__}") from None
    low, high = (-(2 ** (kind.width - 1)), 2 ** (kind.width - 1)) if kind.signed else (0, 2**kind.width)
    if not low <= number < high:
        raise ValueError(f"{parameter.what} is {number}, which '{kind.name}' does not hold")
    return _ctype(kind)(number)


def _check_array(
    parameter: _Parameter, interface: Mapping[str, Any], shape: tuple[int, ...], values: Mapping[str, Any]
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
