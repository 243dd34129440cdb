"""``polybuild reduce``: the smallest file that still shows what is wrong."""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from polybuild.cli import arguments
from polybuild.diagnostics import UsageError
from polybuild.driver import output
from polybuild.reducer import tool
from polybuild.reducer.setting import Setting
from polybuild.reducer.symptom import CRASH, KINDS, REFUSAL, WRONG_RESULT, Symptom, accepted, shows, symptoms
from polybuild.report.explain import terminal


def run(words: Sequence[str]) -> int:
    """Reduce the file that ``words`` name; the exit code."""
    own, flags = arguments.split_words(words)
    values = parser().parse(own)
    source = Path(values.source)
    if not source.is_file():
        raise UsageError(f"there is no file '{source}'")
    if tool.find() is None:
        raise UsageError("polybuild reduce needs C-Vise (on Debian 'apt install cvise')")
    compiler, flags = arguments.compiler_of_files(values.cc, flags)
    settings = arguments.settings_of(vars(values)).items()
    setting = Setting(
        compiler=tuple(compiler),
        flags=tuple(flags),
        options=tuple(f"--{name.replace('_', '-')}={text}" for name, text in settings),
        link=tuple(shlex.split(values.link)),
        arguments=tuple(shlex.split(values.arguments)),
        folder=str(Path.cwd()),
        home=str(source.absolute().parent),
    )
    symptom = _symptom(source.absolute(), setting, values.check)
    _say(f"{source} shows {symptom}; {tool.TOOL} makes it smaller")
    with tempfile.TemporaryDirectory(prefix="polybuild-reduce-") as folder:
        data = tool.reduce(source, setting, symptom, Path(folder), values.budget)
    target = Path(values.output or source.with_suffix(f".reduced{source.suffix}"))
    output.write(str(target), data)
    if not shows(target.absolute(), setting, symptom):
        _say(f"error: {target} does not show {symptom} any more")
        return 1
    before = len(source.read_bytes().splitlines())
    terminal.write(sys.stdout, f"{target}: {len(data.splitlines())} lines of {before}, still {symptom}\n")
    return 0


def parser() -> arguments.Parser:
    """The options of ``polybuild reduce``."""
    parser = arguments.command_parser("reduce", "Find the smallest file that still shows what is wrong.")
    parser.usage = "polybuild reduce FILE.c [options] [-- [compiler] flags]"
    parser.epilog = (
        "C-Vise does the work. Every smaller file is one that the compiler takes; one with wrong\n"
        "results is a program in which sanitizers find nothing. Ctrl-C ends the search early."
    )
    parser.add_argument("source", metavar="FILE.c", help="the C file; for wrong results one with 'main'")
    parser.add_argument(
        "--check",
        metavar="WHAT",
        type=_wanted,
        help="wrong-result, crash, refusal or refusal=CODE (default: what the file shows)",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="where the result goes (default: FILE.reduced.c)"
    )
    parser.add_argument(
        "--budget",
        metavar="TIME",
        type=arguments.seconds,
        default=arguments.seconds("10min"),
        help="for the search (default: 10min)",
    )
    parser.add_argument(
        "--link", metavar="WORDS", default="-lm", help="what the program needs besides (default: -lm)"
    )
    parser.add_argument(
        "--arguments", metavar="WORDS", default="", help="what the program is run with (default: nothing)"
    )
    arguments.add_knobs(parser)
    return parser


def _symptom(source: Path, setting: Setting, wanted: Symptom | None) -> Symptom:
    """What ``source`` shows of what is wanted. Raises UsageError if it shows nothing of it."""
    said = accepted(source, setting)
    if said:
        raise UsageError(f"the compiler does not take {source.name}:\n{said.strip()}")
    kinds = (wanted.kind,) if wanted else (CRASH, WRONG_RESULT, REFUSAL)
    for kind in kinds:
        for found in symptoms(source, setting, (kind,)):
            if wanted is None or wanted.matches(found):
                return found
    raise UsageError(f"{source.name} does not show {wanted or 'a crash, a wrong result or a refusal'}")


def _wanted(text: str) -> Symptom:
    kind, _, code = text.partition("=")
    if kind not in KINDS or (code and kind != REFUSAL):
        raise argparse.ArgumentTypeError(f"must be {', '.join(KINDS)} or {REFUSAL}=CODE, not '{text}'")
    return Symptom(kind, code)


def _say(text: str) -> None:
    terminal.write(sys.stderr, f"{text}\n")
    sys.stderr.flush()
