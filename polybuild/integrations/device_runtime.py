"""The runtime of the GPU backends, built from its sources by the compiler of the build that needs it.

Its objects stay apart: wrappers like mpicc name their shared libraries also where objects are joined
(``-r``), which linkers refuse.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from polybuild.diagnostics import UsageError
from polybuild.driver.cache import Cache, compiler_identity, key_of
from polybuild.integrations.locations import include_dir

LIBRARIES = ("-ldl", "-lpthread")
"""What a program with the runtime is linked with; empty libraries in newer systems."""

_FLAGS = ("-std=c99", "-O2", "-fPIC")


def runtime_sources() -> list[Path]:
    """The C files of the runtime."""
    return sorted((include_dir().parent / "src").glob("*.c"))


def runtime_objects(
    compiler: Sequence[str], machine: Sequence[str], folder: Path, cache: Cache | None
) -> list[Path]:
    """The object files of the runtime, in ``cache`` or, without one, in ``folder``.

    ``compiler`` is the command of the C compiler, ``machine`` are the flags that say for which machine
    it compiles. Raises UsageError if it cannot.
    """
    flags = [*_FLAGS, *machine]
    headers = [path.read_bytes() for path in _headers()]
    common = key_of([compiler_identity(compiler), *flags, *headers])
    command = [*compiler, *flags, f"-I{include_dir()}"]
    return [_object(source, command, common, folder, cache) for source in runtime_sources()]


def _object(source: Path, command: Sequence[str], common: str, folder: Path, cache: Cache | None) -> Path:
    """``source`` compiled by ``command``, which has the digest ``common`` together with the headers."""
    name = f"polybuild-{source.stem}.o"
    key = key_of([name, common, source.read_bytes()])
    if cache and (entry := cache.get(key, name)):
        return entry.path
    result = folder / name
    _run([*command, "-c", str(source), "-o", str(result)])
    entry = cache.put(key, name, result.read_bytes(), {}) if cache else None
    return entry.path if entry else result


def _headers() -> list[Path]:
    return sorted([*include_dir().glob("*.h"), *(include_dir().parent / "src").glob("*.h")])


def _run(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise UsageError(f"cannot run the compiler '{command[0]}': {error.strerror}") from None
    if done.returncode:
        raise UsageError(f"the runtime of the GPU backends cannot be compiled:\n{done.stderr.strip()}")
