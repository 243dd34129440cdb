"""The reducer of C that is driven: C-Vise, with those of its passes that take whole lines and blocks away."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from polybuild.reducer.setting import Setting
from polybuild.reducer.symptom import Symptom

TOOL = "cvise"
_PASSES = Path(__file__).with_name("passes.json")
"""All of its passes take ten times as long, and make what is left harder to read: they rename and inline."""
_PATIENCE = 10
"""Seconds in which it puts things in order once it was told to end."""


def find() -> str | None:
    """The reducer of this machine."""
    return shutil.which(TOOL)


def reduce(source: Path, setting: Setting, symptom: Symptom, folder: Path, seconds: float) -> bytes:
    """The smallest version of ``source`` that is found in so many ``seconds`` and shows ``symptom``.

    ``folder`` is for files on the way. Ctrl-C ends the search, too, and so does SIGTERM from here on.
    """
    copy = folder / "work" / source.name
    copy.parent.mkdir()
    copy.write_bytes(source.read_bytes())
    known, test = folder / "setting.json", folder / "still.sh"
    known.write_text(setting.as_json(), "utf-8")
    words = [sys.executable, "-m", "polybuild.reducer", str(known), symptom.kind, symptom.detail, source.name]
    test.write_text(f"#!/bin/sh\nexec {shlex.join(words)}\n", "utf-8")
    test.chmod(0o700)
    command = [TOOL, "--pass-group-file", str(_PASSES), str(test), source.name]
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # else the reducer would go on alone
    process = subprocess.Popen(
        command, cwd=copy.parent, stdin=subprocess.DEVNULL, stdout=sys.stderr, start_new_session=True
    )
    try:
        process.wait(seconds)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        _end(process)
    return copy.read_bytes()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the reducer with all that it started."""
    for number in (signal.SIGINT, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE)
