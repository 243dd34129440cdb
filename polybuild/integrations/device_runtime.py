"""The runtime of the GPU backends, built from its sources by the compiler of the build that needs it."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from polybuild.diagnostics import UsageError
from polybuild.driver.cache import Cache, compiler_identity, key_of
from polybuild.integrations.locations import include_dir

LIBRARIES = ("-ldl", "-lpthread")
"""What a program with the runtime is linked with; empty libraries in newer systems."""

_NAME = "polybuild-runtime.o"
_FLAGS = ("-std=c99", "-O2", "-fPIC")


def runtime_sources() -> list[Path]:
    """The C files of the runtime."""
    return sorted((include_dir().parent / "src").glob("*.c"))


def runtime_object(
    compiler: Sequence[str], machine: Sequence[str], folder: Path, cache: Cache | None
) -> Path:
    """One object file with all of the runtime, in ``cache`` or, without one, in ``folder``.

    ``compiler`` is the command of the C compiler, ``machine`` are the flags that say for which machine
    it compiles. Raises UsageError if it cannot.
    """
    texts = [path.read_bytes() for path in (*runtime_sources(), *_headers())]
    key = key_of([_NAME, compiler_identity(compiler), *_FLAGS, *machine, *texts])
    if cache and (entry := cache.get(key, _NAME)):
        return entry.path
    result = folder / _NAME
    with tempfile.TemporaryDirectory(prefix="polybuild-") as parts:
        objects = []
        for source in runtime_sources():
            objects.append(str(Path(parts, source.with_suffix(".o").name)))
            flags = [*_FLAGS, *machine, f"-I{include_dir()}", "-c", str(source)]
            _run([*compiler, *flags, "-o", objects[-1]])
        _run([*compiler, *machine, "-r", "-nostdlib", *objects, "-o", str(result)])
    entry = cache.put(key, _NAME, result.read_bytes(), {}) if cache else None
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
