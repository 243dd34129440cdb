"""What a file shows: polybuild fails, leaves a region as it is, or makes a program with other results."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from polybuild.reducer.programs import differs
from polybuild.reducer.setting import Setting
from polybuild.values import dataclass

CRASH, WRONG_RESULT, REFUSAL = "crash", "wrong-result", "refusal"
KINDS = (CRASH, WRONG_RESULT, REFUSAL)
_INTERNAL = "internal"
_FAILED = 3
"""Exit code of a command that failed itself."""
_SECONDS = 300
_VARYING = re.compile(r"'[^']*'|\d+")
"""What a message says of one file alone: names and numbers."""


@dataclass(frozen=True, slots=True)
class Symptom:
    """One of KINDS, with the code of a refusal, or what a crash says but for names and numbers."""

    kind: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.kind}={self.detail}" if self.kind == REFUSAL else self.kind

    def matches(self, other: Symptom) -> bool:
        """Whether ``other`` is this one; without detail, whether it is of the same kind."""
        return self.kind == other.kind and self.detail in {"", other.detail}


def accepted(source: Path, setting: Setting) -> str:
    """What the compiler has against ``source``; empty if it takes it."""
    done = setting.compiled(source, "-fsyntax-only", "-w")
    return "" if done.returncode == 0 else done.stderr or "no reason given"


def symptoms(source: Path, setting: Setting, kinds: Sequence[str] = KINDS) -> Iterator[Symptom]:
    """What ``source``, which the compiler takes, shows; what costs least is looked for first."""
    if {CRASH, REFUSAL} & {*kinds}:
        yield from (each for each in _of_transformation(source, setting) if each.kind in kinds)
    if WRONG_RESULT in kinds and differs(source, setting):
        yield Symptom(WRONG_RESULT)


def shows(source: Path, setting: Setting, symptom: Symptom) -> bool:
    """Whether the compiler takes ``source`` and it shows ``symptom``."""
    if symptom.kind != WRONG_RESULT and accepted(source, setting):
        return False  # a program that is not built has no result
    return any(symptom.matches(each) for each in symptoms(source, setting, (symptom.kind,)))


def _of_transformation(source: Path, setting: Setting) -> Iterator[Symptom]:
    with tempfile.TemporaryDirectory(prefix="polybuild-reduce-") as folder:
        output, report = Path(folder) / source.name, Path(folder) / "report.json"
        files = ["-o", str(output), "--report", str(report)]
        command = [sys.executable, "-m", "polybuild", "compile", str(source), *files, *setting.options]
        try:
            done = setting.ran([*command, "--", *setting.compiler, *setting.flags, setting.include], _SECONDS)
        except subprocess.TimeoutExpired:
            yield Symptom(CRASH, "no end")
            return
        if done.returncode < 0 or done.returncode == _FAILED:
            yield Symptom(CRASH, _general(done.stderr.strip().rpartition("\n")[2]))
            return
        said = json.loads(report.read_text("utf-8")) if report.is_file() else {}
        if done.returncode == 0 and (problem := _not_taken(output, setting)):
            yield Symptom(CRASH, problem)
    found = [each for each in said.get("regions", ()) if each["status"] == "kept"]
    found += [each for each in said.get("diagnostics", ()) if each["severity"] == "error"]
    for each in found:
        if each["code"] == _INTERNAL:
            yield Symptom(CRASH, _general(each["message"]))
        else:
            yield Symptom(REFUSAL, each["code"])


def _not_taken(output: Path, setting: Setting) -> str:
    """What the compiler has against what polybuild wrote."""
    said = accepted(output, setting)
    first = next((each for each in said.splitlines() if "error:" in each), said)
    return _general(first.partition("error:")[2]) if said else ""


def _general(message: str) -> str:
    """A message without what is of one file."""
    return " ".join(_VARYING.sub("", message.replace(os.sep, " ")).split())
