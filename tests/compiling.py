"""Transform a text, compile what comes out with real compilers, and run it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from polybuild.driver.file import FileResult, compile_source
from polybuild.options import Options

STRICT = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wno-unknown-pragmas", "-Werror")

SANITIZED = ("-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
"""Without optimisation all that a program does is there to be looked at, in half the compiler's time."""

QUICK = ("-fno-ivopts", "-Wno-ignored-optimization-argument")
"""Saves a third of gcc's time for functions of many loops, and no warning; clang does without it."""

IDLE = ("-include", "omp.h", "-DPOLYBUILD_TEAM", "-Dpolybuild_team=omp_get_max_threads")
"""Threads as on an idle machine, whatever else runs beside the tests."""


def in_turn(names: Iterable[str], *turns: Sequence[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Parameters of tests: each name with all of one of ``turns``, the next name with the next one.

    Where each turn has every value once, all pairs of a name and a value are there, without the full product.
    """
    return [(name, *each) for number, name in enumerate(names) for each in turns[number % len(turns)]]


def transform(path: Path, text: str | bytes, *flags: str, **options: object) -> FileResult:
    """What the file ``path`` with ``text`` becomes; all its regions must be transformed.

    Unless some ``min_work`` is asked for: then a region may stay unchanged, but none may be kept.
    """
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    chosen = Options(**{"min_work": 0, **options})  # type: ignore[arg-type]
    result = compile_source(str(path), chosen, ["gcc"], flags)
    left = {"kept"} if chosen.min_work else {"kept", "unchanged"}
    assert [each.message for each in result.regions if each.status in left] == []
    return result


def write(path: Path, text: str) -> Path:
    """Write what ``transform`` gave, byte for byte."""
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return path


def messages(compiler: str, source: Path, *flags: str) -> tuple[int, str]:
    """Exit code and messages of a compilation that writes nothing."""
    done = subprocess.run(
        [compiler, "-fsyntax-only", *flags, str(source)],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stderr


def output(source: Path, *flags: str, compiler: str = "gcc") -> str:
    """What the program of ``source`` prints, compiled with warnings as errors."""
    program = source.with_suffix(".exe")
    command = [compiler, *STRICT, "-O1", "-ffp-contract=off", *flags, str(source), "-o", str(program), "-lm"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return subprocess.run([str(program)], check=True, capture_output=True, text=True, timeout=120).stdout
