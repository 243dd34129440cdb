"""The bytecode of all modules that a region needs, in one file that is read at once.

Python looks for each module, opens its file and reads it by itself, with the same names in it again: for five
hundred modules that took a third of what importing them takes. So who has imported them writes their code to
one file, beside the bytecode of this module, and later processes take it from there, if no source has changed
since then, as Python asks of each file of bytecode. Where that cannot be written, all is imported as ever.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import MAGIC_NUMBER, cache_from_source, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from polybuild.values import dataclass

_SUFFIX = ".modules"


@dataclass(frozen=True, slots=True)
class Stored:
    """The code of one module, and its source as it was: ``state`` is when that was changed, and its size.

    ``cached`` is where Python has the bytecode of the module alone, which takes its time to find by name.
    """

    path: str
    cached: str | None
    is_package: bool
    state: tuple[int, int]
    code: CodeType


def own_file() -> Path | None:
    """Where the bytecode of polybuild's modules is, or would be; None where this Python keeps none."""
    try:
        return Path(cache_from_source(__file__)).with_suffix(_SUFFIX)
    except NotImplementedError:
        return None


def use(file: Path | None) -> bool:
    """Import modules from ``file`` from now on, if it holds what their sources say."""
    stored = None if file is None else read(file)
    if stored is not None:
        sys.meta_path.insert(0, _Finder(stored))
    return stored is not None


def keep(file: Path | None, package: str) -> None:
    """Write what has been imported of ``package`` to ``file``; where that cannot be, nothing happens."""
    if file is None or sys.dont_write_bytecode:
        return
    stored = {
        name: found
        for name, module in sorted(sys.modules.items())
        if name.startswith(f"{package}.") and (found := _stored(name, module)) is not None
    }
    with suppress(OSError):
        _write(file, stored)


def read(file: Path) -> dict[str, Stored] | None:
    """The modules in ``file`` by their names; None if there is none, or a source is another one now."""
    try:
        data = file.read_bytes()
        if not data.startswith(MAGIC_NUMBER):
            return None
        rows = marshal.loads(memoryview(data)[len(MAGIC_NUMBER) :])  # noqa: S302 - it is ours, as bytecode is
        if any(_state(row[1]) != row[4] for row in rows):
            return None
        return {name: Stored(*rest) for name, *rest in rows}
    except (OSError, EOFError, ValueError, TypeError, IndexError):
        return None


def _write(file: Path, stored: dict[str, Stored]) -> None:
    """Write ``file`` whole or not at all: others may read it."""
    rows = [
        (name, each.path, each.cached, each.is_package, each.state, each.code)
        for name, each in stored.items()
    ]
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        new.write_bytes(MAGIC_NUMBER + marshal.dumps(rows))
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)


def _stored(name: str, module: ModuleType) -> Stored | None:
    """What is to be kept of a module; None if it is no plain file of source."""
    loader = getattr(module, "__loader__", None)
    if not isinstance(loader, SourceFileLoader):
        return None
    try:
        state = _state(loader.path)
        code = loader.get_code(name)
    except (OSError, ImportError, SyntaxError):
        return None
    if code is None or _state(loader.path) != state:
        return None
    cached = module.__spec__.cached if module.__spec__ is not None else None
    return Stored(loader.path, cached, hasattr(module, "__path__"), state, code)


def _state(path: str) -> tuple[int, int]:
    found = os.stat(path)  # noqa: PTH116 - hundreds of times
    return found.st_mtime_ns, found.st_size


class _Loader(SourceFileLoader):
    """Loads a module from code that is there already; all else is as with any file of source."""

    def __init__(self, name: str, stored: Stored) -> None:
        super().__init__(name, stored.path)
        self._code: CodeType | None = stored.code

    def get_code(self, fullname: str) -> CodeType | None:
        """The code that was stored, once: its module has it then."""
        code, self._code = self._code, None
        return code if code is not None else super().get_code(fullname)


class _Finder:
    """Finds modules that were stored."""

    def __init__(self, stored: dict[str, Stored]) -> None:
        self._stored = stored

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None = None, _target: Any = None
    ) -> ModuleSpec | None:
        """The module ``fullname``, if it was stored."""
        stored = self._stored.pop(fullname, None)
        if stored is None:
            return None
        inside = [os.path.dirname(stored.path)] if stored.is_package else None  # noqa: PTH120 - hundreds of times
        loader = _Loader(fullname, stored)
        spec = spec_from_file_location(
            fullname, stored.path, loader=loader, submodule_search_locations=inside
        )
        if spec is not None and stored.cached is not None:
            spec.cached = stored.cached
        return spec
