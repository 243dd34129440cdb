"""``polybuild machine``: the machine that code is generated for, as a file that ``--machine`` takes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from polybuild.cli import arguments
from polybuild.diagnostics import UsageError
from polybuild.driver.chosen_machine import MEASURED, choose_machine, measured_file
from polybuild.machine.file import machine_text
from polybuild.machine.measure import measured
from polybuild.options import Options
from polybuild.report.explain import terminal
from polybuild.source.preprocess import predefined_macros

_NATIVE = ("-march=native",)


def run(words: Sequence[str]) -> int:
    """Print the machine for the flags after ``--`` (without any, this one), measured if that is asked for."""
    own, after = arguments.split_words(words)
    values = parser().parse(own)
    compiler, flags = arguments.choose_compiler(values.cc, after)
    flags = [*flags] or [*_NATIVE]
    macros = predefined_macros(os.devnull, compiler, flags)
    chosen = choose_machine(Options(machine=values.machine), macros, flags)
    style = terminal.style_for(sys.stderr, values.color)
    for each in chosen.diagnostics:
        terminal.write(sys.stderr, terminal.render(each, style))
    machine = chosen.machine
    if values.measure:
        if "-march=native" not in flags and "-mcpu=native" not in flags:
            raise UsageError("what is measured here is this machine: give no flags, or '-- -march=native'")
        found = measured(machine, compiler)
        machine = found.machine
        if found.busy:
            terminal.write(sys.stderr, "warning: other work ran meanwhile; measure again when it has ended\n")
        _keep(machine_text(machine.figures()))
    terminal.write(sys.stdout, machine_text(machine.figures()))
    return 0


def parser() -> arguments.Parser:
    """The options of ``polybuild machine``."""
    parser = arguments.command_parser("machine", "Print the machine that code is generated for.")
    parser.usage = "polybuild machine [options] [-- [compiler] flags]"
    parser.epilog = (
        "What is printed is a file: '--machine FILE' of 'compile', 'explain' and 'cc' reads it.\n"
        f"'--machine {MEASURED}' reads what '--measure' kept."
    )
    parser.add_argument("--machine", metavar="FILE", default="", help="a file with figures")
    parser.add_argument(
        "--measure", action="store_true", help="time what matters on this machine, and keep it for this user"
    )
    return parser


def _keep(text: str) -> None:
    path = measured_file()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = path.with_name(f"{path.name}.{os.getpid()}")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
    terminal.write(sys.stderr, f"kept in {path}\n")
