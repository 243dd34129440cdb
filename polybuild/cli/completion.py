"""``polybuild completion``: what makes a shell complete the command, made from the options."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence

from polybuild.cli import arguments, docs, doctor, explain_arguments, machine, reduce, survey, tune
from polybuild.cli.arguments import Parser, bare_parser
from polybuild.diagnostics import UsageError
from polybuild.options import Options

SHELLS = ("bash", "zsh")

PARSERS: Mapping[str, Callable[[], Parser]] = {
    "compile": arguments.compile_parser,
    "explain": explain_arguments.explain_parser,
    "cc": arguments.wrapper_parser,
    "summary": explain_arguments.summary_parser,
    "survey": survey.parser,
    "tune": tune.parser,
    "reduce": reduce.parser,
    "machine": machine.parser,
    "docs": docs.parser,
    "doctor": doctor.parser,
}
"""The commands that have options."""

WORDS = {"cache": ("stats", "clear"), "completion": SHELLS}
"""The commands that have a word instead."""


def run(words: Sequence[str]) -> int:
    """Print the completion for the shell that ``words`` name. Raises UsageError."""
    parser = bare_parser("completion", "Print what makes a shell complete the command.")
    parser.add_argument("shell", choices=SHELLS, help='for bash: eval "$(polybuild completion bash)"')
    shell = parser.parse(words).shell
    try:
        import shtab  # noqa: PLC0415 -- only who wants completions has it
    except ImportError:
        raise UsageError("completions are made by shtab: pip install 'polybuild[completion]'") from None
    whole, commands = whole_parser()
    for command in commands.values():
        for action in command._actions:  # noqa: SLF001 -- argparse has no other way to ask for options
            if action.dest in Options.words():
                action.choices = Options.words()[action.dest]
            if str(action.metavar).startswith(("FILE", "PATH")):
                action.complete = shtab.FILE  # type: ignore[attr-defined]  # what shtab reads
            if action.metavar == "BUILD":
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    sys.stdout.write(shtab.complete(whole, shell) + "\n")
    return 0


def whole_parser() -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """One parser of all commands, for those who read what options there are, and each of them by its name.

    Nothing is parsed with it.
    """
    parser = argparse.ArgumentParser(
        prog="polybuild",
        description="Polyhedral compilation as a build step: marked C loops in, parallel tiled C out.",
    )
    for name in ("--version", "--cmakedir", "--includedir"):
        parser.add_argument(name, action="store_true", help="print it")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, make in PARSERS.items():
        own = make()
        commands.add_parser(
            name, parents=[own], add_help=False, description=own.description, help=own.description
        )
    for name, words in WORDS.items():
        commands.add_parser(name, help=f"{' or '.join(words)}").add_argument("word", choices=words)
    return parser, commands.choices
