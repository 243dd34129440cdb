"""Running compilers and programs, with a limit on how long they may take."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


class Failure(Exception):
    """A step did not work out; the text is short enough for a table."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a process printed, and how long it lived in seconds of wall time."""

    stdout: str
    stderr: str
    seconds: float


def run(
    command: Sequence[str],
    *,
    limit: float,
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
) -> Output:
    """Run ``command`` to its end; Failure if it takes over ``limit`` seconds or does not end well."""
    started = time.perf_counter()
    try:
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            env=dict(os.environ) | dict(environment or {}),
            cwd=directory,
            start_new_session=True,  # so that what it started ends with it
        ) as process:
            try:
                stdout, stderr = process.communicate(timeout=limit)
            except BaseException as stopped:
                os.killpg(process.pid, signal.SIGKILL)
                if isinstance(stopped, subprocess.TimeoutExpired):
                    raise Failure(f">{limit:g} s") from None
                raise
    except OSError as error:
        raise Failure(f"cannot run {command[0]}: {error.strerror}") from None
    seconds = time.perf_counter() - started
    if process.returncode != 0:
        raise Failure(_reason(process.returncode, stderr or stdout))
    return Output(stdout, stderr, seconds)


def _reason(code: int, printed: str) -> str:
    lines = printed.splitlines()
    told = next((line for line in lines if "error" in line.lower()), lines[-1] if lines else "")
    how = f"signal {-code}" if code < 0 else f"exit {code}"
    return f"{how}: {told.strip()[:160]}" if told else how
