"""``polybuild.load``: the functions of a C file that have regions, as callables on NumPy arrays.

The file is compiled by ``polybuild cc`` to a shared library, which ctypes loads. Libraries are kept in
the cache, by the preprocessed text and all else that they are made from.
Arguments are checked against the C declaration: scalars by type and range,
arrays by element type, layout, number of dimensions, and by every extent that
the declaration says (``double A[n][m]``).
"""

from __future__ import annotations

import ctypes
import mmap
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from polybuild.c.types import FloatingType, IntegerType, VoidType
from polybuild.diagnostics import PolybuildError
from polybuild.driver.cache import compiler_identity, key_of, open_cache, tool_identity
from polybuild.integrations.array_views import Foreign, foreign, view_of
from polybuild.integrations.function_arguments import (
    FunctionParameter,
    check_array,
    ctype_of,
    parameter_of,
    scalar,
)
from polybuild.integrations.function_documentation import comment_before, declaration, signature
from polybuild.options import Options
from polybuild.source.model import Region
from polybuild.source.preprocess import predefined_macros, preprocess
from polybuild.source.reader import read_source

_MAXIMUM_BUILD_SECONDS = 1800
_TEXT_NAME = "text.c"
_LIBRARY_NAME = "library.so"


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
    flags: str | Sequence[str] = ("-O3", "-march=native"),
    **options: Any,
) -> Module:
    """Compile the C file at ``path`` and load the functions in it that have regions.

    ``path`` may be the text of the file instead: a ``str`` of several lines, or with a brace in it.
    ``options`` are those of the command line, with ``_`` (``tile_sizes=(32, 32)``); ``compiler`` is the C
    compiler (otherwise ``$CC``, or cc), ``flags`` are its flags, one by one or as a shell reads them. Raises
    UsageError for a wrong option, SourceError or BuildError for what does not compile.
    """
    name = os.fspath(path)
    command = (compiler or os.environ.get("CC") or "cc").split()
    words = shlex.split(flags) if isinstance(flags, str) else list(flags)
    settings = {"backend": backend, **{key: _as_text(value) for key, value in options.items()}}
    Options().with_settings(settings)
    if not (isinstance(path, str) and ("\n" in path or "{" in path)):
        return _loaded(name, settings, command, words)
    with tempfile.TemporaryDirectory(prefix="polybuild-") as folder:
        file = Path(folder, _TEXT_NAME)
        file.write_text(name, encoding="utf-8")
        # what the text includes is looked for where Python runs, and its folder shall leave no trace
        words = ["-iquote", str(Path.cwd()), f"-ffile-prefix-map={folder}{os.sep}=", *words]
        module = _loaded(str(file), settings, command, words)
        module.path = "<text>"
        return module


def _loaded(name: str, settings: Mapping[str, str], compiler: Sequence[str], flags: Sequence[str]) -> Module:
    source = read_source(name, compiler, flags)
    regions = {each.function.decl.name: each for each in source.regions if isinstance(each, Region)}
    visible = {key: region for key, region in regions.items() if "static" not in region.function.decl.storage}
    if not visible:
        raise BuildError(f"{Path(name).name} has no function with a region that other files can call")
    library = _library(
        name, [f"--{key.replace('_', '-')}={text}" for key, text in settings.items()], compiler, flags
    )
    functions = {key: LoadedFunction(library, region, source.text) for key, region in visible.items()}
    return Module(name, functions)


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return str(value)


def _library(name: str, options: Sequence[str], compiler: Sequence[str], flags: Sequence[str]) -> ctypes.CDLL:
    """The file ``name`` as a library, of the cache if it was compiled before; its warnings are said again."""
    cache = open_cache(default=True)
    key, entry = "", None
    if cache is not None:
        folder = f"{Path(name).parent}{os.sep}" if Path(name).name == _TEXT_NAME else ""
        facts = [
            preprocess(name, compiler, flags).text,
            *flags,
            *sorted(predefined_macros(name, compiler, flags)),
        ]
        whole = [*options, *((each.replace(folder, "") if folder else each) for each in facts)]
        key = key_of(["library", tool_identity(), compiler_identity(compiler), *whole])
        entry = cache.get(key, _LIBRARY_NAME)
    with tempfile.TemporaryDirectory(prefix="polybuild-") as place:
        # A file of its own each time: two modules share no static variables.
        output = Path(place, f"{Path(name).stem}.so")
        if entry is not None:
            output.write_bytes(entry.data)
            messages = str(entry.record.get("messages", ""))
        else:
            messages = _compile(name, output, ["cc", *options, "--", *compiler, *flags])
            if cache is not None:
                cache.put(key, _LIBRARY_NAME, output.read_bytes(), {"messages": messages})
        sys.stderr.write(messages)
        return ctypes.CDLL(str(output))


def _compile(name: str, output: Path, words: Sequence[str]) -> str:
    """Make the library ``output`` of a C file; what was said about it. Raises BuildError."""
    command = [sys.executable, "-m", "polybuild", *words, "-shared", "-fPIC", name, "-o", str(output), "-lm"]
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_MAXIMUM_BUILD_SECONDS,
    )
    if done.returncode:
        raise BuildError(f"{Path(name).name} does not compile:\n{done.stderr.strip()}")
    return done.stderr


class LoadedFunction:
    """One C function; call it with as many arguments as it has parameters.

    Its documentation is its declaration, and the comment before it in the C file ``text``.
    """

    def __init__(self, library: ctypes.CDLL, region: Region, text: str) -> None:
        self.__name__ = region.function.decl.name
        self.__doc__ = "\n\n".join(
            filter(None, [declaration(region.function), comment_before(text, region.function)])
        )
        self._library = library
        self._call = getattr(library, self.__name__)
        self._call.restype = _result(region)
        declared = region.function.decl.type.args
        names = [each.name for each in (declared.params if declared else []) if each.name]
        self._problem = ""
        self._parameters: list[FunctionParameter] = []
        try:
            self._parameters = [parameter_of(region, name) for name in names]
        except TypeError as error:
            self._problem = f"{self.__name__}: {error}"
        self.__signature__ = signature(region.function)

    def __repr__(self) -> str:
        return f"<function {self.__name__}({', '.join(each.name for each in self._parameters)})>"

    def __call__(self, *arguments: Any) -> Any:
        """Call the function.

        Arrays are NumPy's, or those of any library, on a device or not, that has the CUDA array interface
        or DLPack; work on a device goes in the order of their streams. Raises TypeError and ValueError for
        arguments that do not fit the declaration, RuntimeError if values on a device were lost.
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
                else scalar(each, value)
                for each, value in zip(self._parameters, arguments, strict=True)
            ]
            return self._call(*passed)

    @contextmanager
    def _array(
        self, parameter: FunctionParameter, value: Any, values: Mapping[str, Any]
    ) -> Iterator[ctypes.c_void_p]:
        """The address that C gets for an array."""
        try:
            view = view_of(value)
        except ValueError as error:
            raise ValueError(f"{parameter.what}: {error}") from None
        if view is None:
            raise TypeError(f"{parameter.what} must be an array, not {type(value).__name__}")
        size = check_array(parameter, view.facts, tuple(view.facts["shape"]), values)
        if view.read_only and not parameter.is_const:
            raise ValueError(f"{parameter.what} is read-only, and '{self.__name__}' may write to it")
        if view.device is None:
            yield ctypes.c_void_p(view.address)
            return
        if not hasattr(self._library, "polybuild_adopt"):
            raise TypeError(f"{parameter.what} is on a device; load the file with backend='cuda' or 'hip'")
        with self._adopted(parameter, size, foreign(view.device, view.address)) as stand_in:
            yield stand_in

    @contextmanager
    def _adopted(self, parameter: FunctionParameter, size: int, memory: Foreign) -> Iterator[ctypes.c_void_p]:
        """Host memory that stands for an array on the device; it costs nothing until a host version runs."""
        if not size:
            yield ctypes.c_void_p(0)
            return
        place = mmap.mmap(-1, size)
        view = ctypes.c_char.from_buffer(place)
        stand_in = ctypes.c_void_p(ctypes.addressof(view))
        adopt, disown = self._library.polybuild_adopt, self._library.polybuild_disown
        adopt.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(Foreign))
        disown.argtypes = (ctypes.c_void_p,)
        try:
            if not adopt(stand_in, size, ctypes.byref(memory)):
                message = "is on a device, but not on the one that is used here (POLYBUILD_DEVICE)"
                raise RuntimeError(f"{parameter.what} {message}")
            try:
                yield stand_in
            finally:
                kept = disown(stand_in)
            if not kept:
                raise RuntimeError(f"the device failed; the values of {parameter.what} are lost")
        finally:
            del view
            place.close()


def _result(region: Region) -> Any:
    made = region.visible.functions.get(region.function.decl.name)
    result = getattr(made, "result", VoidType())
    return ctype_of(result) if isinstance(result, (IntegerType, FloatingType)) else None
