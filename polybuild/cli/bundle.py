"""``polybuild doctor --bundle``: what a report of a mistake needs, and nothing else of the sender's."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import polybuild
from polybuild.driver import output
from polybuild.driver.chosen_machine import choose_machine
from polybuild.driver.request import Request
from polybuild.driver.translate import options_for, translate
from polybuild.machine.file import machine_text
from polybuild.report.record import json as record
from polybuild.source.excerpt import excerpts
from polybuild.source.preprocess import predefined_macros, preprocess

_KEPT_FLAG = re.compile(r"-(?:O|f|m|std=|pedantic|ansi|W)[^/\\\s]*|-[gwc]")
"""Flags that tell nothing of the user: no names of files, macros or folders."""
_FOLDERS = re.compile(r"(?<![\w)\]])/(?:[\w.~+@-]+/)+(?=[\w.+@-])")
"""The folders of an absolute path; a division is none."""


def bundle(request: Request) -> str:
    """The text of the bundle for ``request``. Raises SourceError if its file cannot be preprocessed."""
    options = options_for(request).options
    macros = predefined_macros(os.devnull, request.compiler, request.expanded_flags())
    machine = choose_machine(options, macros, request.expanded_flags()).machine
    sections = {
        "Versions": _fenced("", _versions(request.compiler)),
        "Compiler": _fenced("", _flags(request.expanded_flags())),
        "Options": _fenced(
            "", "\n".join(f"{name} = {text}" for name, text in request.settings.items()) or "none"
        ),
        "Machine": _fenced("", machine_text(machine.figures())),
        "Regions": "\n".join(_regions(request)) or "none",
        "Report": _fenced("json", json.dumps(_report(request), indent=2)),
    }
    return "# polybuild bundle\n\n" + "\n".join(f"## {name}\n\n{text}" for name, text in sections.items())


def _versions(compiler: Sequence[str]) -> str:
    try:
        said = subprocess.run([*compiler, "--version"], capture_output=True, check=False, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired):
        said = b"unknown"
    lines = {
        "polybuild": polybuild.__version__,
        "Python": platform.python_version(),
        **{name: metadata.version(name) for name in ("islpy", "pycparser")},
        "system": platform.platform(),
        "compiler": said.decode("utf-8", "replace").partition("\n")[0],
    }
    return "\n".join(f"{name} {text}" for name, text in lines.items())


def _flags(flags: Sequence[str]) -> str:
    kept = [each for each in flags if _KEPT_FLAG.fullmatch(each)]
    return f"{' '.join(kept) or 'no flags'}\n{len(flags) - len(kept)} words left out"


def _regions(request: Request) -> Iterator[str]:
    text = preprocess(request.source, request.compiler, request.expanded_flags()).text
    for each in excerpts(text):
        yield _fenced("c", each)


def _report(request: Request) -> Any:
    outcome = translate(request, output.read(request.source))
    return _without_folders(json.loads(record.as_json(outcome.regions, outcome.diagnostics)))


def _without_folders(value: Any) -> Any:
    """``value`` with names of files that do not tell where they are."""
    if isinstance(value, Mapping):
        plain = {name: _without_folders(each) for name, each in value.items()}
        return plain | {"file": Path(plain["file"]).name} if "file" in plain else plain
    if isinstance(value, list):
        return [_without_folders(each) for each in value]
    return _FOLDERS.sub("", value) if isinstance(value, str) else value


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```\n"
