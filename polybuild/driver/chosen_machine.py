"""The machine that the code of a file is for: by its file if one is named, else by the compiler's flags."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

from polybuild.diagnostics import Diagnostic
from polybuild.driver.cache import cache_folder
from polybuild.machine.file import read_machine_file
from polybuild.machine.host import find_machine
from polybuild.machine.model import Machine, Origin
from polybuild.options import Options
from polybuild.values import dataclass

_BY_FLAGS = ("vector.bytes", "vector.registers", "arithmetic.fused")

MEASURED = "measured"
"""Named instead of a file: what was measured on this machine."""


@dataclass(frozen=True, slots=True)
class ChosenMachine:
    """The machine, and what was wrong with its file."""

    machine: Machine
    diagnostics: tuple[Diagnostic, ...] = ()


def machine_file(options: Options) -> Path | None:
    """The file of the machine that ``options`` name, None if there is none."""
    if not options.machine:
        return None
    return measured_file() if options.machine == MEASURED else Path(options.machine)


def measured_file() -> Path:
    """Where ``polybuild machine --measure`` keeps what it finds."""
    return cache_folder() / "machine.toml"


def choose_machine(options: Options, macros: AbstractSet[str], flags: Sequence[str]) -> ChosenMachine:
    """The machine for a file that is compiled with ``flags``, under which the compiler predefines ``macros``.

    The size of vectors, and whether products and sums are one operation, is what the flags allow, whatever a
    file says.
    """
    machine = find_machine(macros, frozenset(flags))
    path = machine_file(options)
    if path is None:
        return ChosenMachine(machine)
    found = read_machine_file(path)
    by_flags = {path for path in _BY_FLAGS if path in machine.origins}
    figures = {path: value for path, value in found.figures.items() if path not in by_flags}
    problems = (found.diagnostic,) if found.diagnostic else ()
    return ChosenMachine(machine.with_figures(figures, Origin.FILE), problems)
