"""The words of a command line, understood: files, options, the compiler and its flags."""

from __future__ import annotations

import argparse
import dataclasses
import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from polybuild.diagnostics import UsageError
from polybuild.driver.output import STANDARD_OUTPUT, Files, clash, verbose
from polybuild.driver.request import Request
from polybuild.options import Options
from polybuild.values import dataclass

# how alike words must be for one to be a slip of the other
_CLOSE = 0.8
_UNITS = {"s": 1, "min": 60, "h": 3600}
_LAUNCHERS = frozenset({"ccache", "sccache", "distcc", "icecc"})


@dataclass(frozen=True, slots=True)
class Arguments:
    """One ``compile`` or ``cc``; names of files not asked for are empty."""

    request: Request
    verbose: bool
    colour: str
    output: str = STANDARD_OUTPUT
    depfile: str = ""
    report: str = ""
    sarif: str = ""
    record: bool = False

    @property
    def files(self) -> Files:
        """The files to write."""
        return (self.output, self.depfile, self.report)


class Parser(argparse.ArgumentParser):
    """A parser that raises instead of ending the process, and suggests what may have been meant."""

    def error(self, message: str) -> NoReturn:
        """Raise UsageError."""
        raise UsageError(f"{message} (see '{self.prog} --help')")

    def parse(self, words: Sequence[str]) -> argparse.Namespace:
        """``parse_args`` with a better message for words nobody knows."""
        namespace, unknown = self.parse_known_args(words)
        if unknown:
            word = unknown[0]
            name = word.partition("=")[0]
            import difflib  # noqa: PLC0415 - only for what is not understood

            near = difflib.get_close_matches(name, self._option_string_actions, n=1, cutoff=_CLOSE)
            advice = f"; did you mean '{near[0]}'?" if near and word.startswith("--") else ""
            if not advice and word.startswith("-"):
                advice = "; flags of the compiler stand after '--'"
            self.error(f"unexpected '{word}'{advice}")
        return namespace


class _ListPasses(argparse.Action):
    """Prints the passes of a region in their order, each with what it does."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        summaries = pass_summaries()
        width = max(map(len, summaries))
        for name, summary in summaries.items():
            sys.stdout.write(f"{name:{width}}  {summary}\n")
        parser.exit()


def _passes(text: str) -> tuple[str, ...]:
    """The passes that are named in ``text``, parted by commas. Raises UsageError for unknown ones."""
    names = tuple(filter(None, text.replace(" ", "").split(",")))
    if names:
        known = pass_summaries()
        for name in names:
            if name not in known:
                raise UsageError(f"unknown pass '{name}'; known are {', '.join(known)}")
    return names


def pass_summaries() -> dict[str, str]:
    """The passes of a region with what each does; they are imported only where someone asks."""
    from polybuild.driver import passes  # noqa: PLC0415 -- see above

    return passes.pass_summaries()


def parse(words: Sequence[str]) -> Arguments:
    """Understand the words after ``compile``. Raises UsageError."""
    own, flags = split_words(words)
    check_flags_files(flags)
    values = vars(compile_parser().parse(own))
    arguments = Arguments(
        request=Request(
            values["source"],
            settings_of(values),
            print_after=_passes(values.get("print_after", "")),
            timed=values["time"],
        ),
        verbose=values.get("verbose", False) or verbose(),
        colour=values["color"],
        output=values.get("output", STANDARD_OUTPUT),
        depfile=values.get("depfile", ""),
        report=values.get("report", ""),
        sarif=values.get("sarif", ""),
    )
    _check_files(arguments, values)
    compiler, flags = compiler_of_files(values["cc"], flags)
    request = dataclasses.replace(arguments.request, compiler=tuple(compiler), flags=tuple(flags))
    return dataclasses.replace(arguments, request=request)


def check_flags_files(flags: Sequence[str]) -> None:
    """Raise UsageError if one of the ``flags`` names a flags file that is not there."""
    for flag in flags:
        if flag.startswith("@") and not Path(flag[1:]).exists():
            raise UsageError(f"there is no flags file '{flag[1:]}'")


def choose_compiler(wanted: str | None, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The compiler's command and its flags, from ``--cc`` and the words after ``--``.

    In this order: ``--cc``; the first of the words if it is no flag (with the
    next one, if the first is a launcher such as ccache); ``$CC``; ``cc``.
    """
    rest = list(words)
    if wanted is not None:
        return _command("--cc", wanted), rest
    if rest and rest[0] and not rest[0].startswith(("-", "@")):
        length = 2 if Path(rest[0]).name in _LAUNCHERS and len(rest) > 1 else 1
        return rest[:length], rest[length:]
    if os.environ.get("CC", "").strip():
        return _command("CC", os.environ["CC"]), rest
    return ["cc"], rest


ASSUMED_FLAGS = ("-O2",)
"""What a file is compiled with where nothing is said: whoever wants its loops to be fast optimises."""


def compiler_of_files(wanted: str | None, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """As ``choose_compiler``, for files that are compiled: without words the flags are ``ASSUMED_FLAGS``."""
    return choose_compiler(wanted, words or ASSUMED_FLAGS)


def command_parser(command: str, description: str) -> Parser:
    """A parser for ``polybuild <command>`` with what all commands that ask a compiler have in common."""
    parser = bare_parser(command, description)
    parser.add_argument("--cc", metavar="COMMAND", help="C compiler (default: $CC, else cc)")
    return parser


def bare_parser(command: str, description: str) -> Parser:
    """A parser for ``polybuild <command>`` with what all commands have in common."""
    parser = Parser(
        prog=f"polybuild {command}",
        description=description,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        metavar="auto|always|never",
        help="colour the messages (default: auto)",
    )
    return parser


FLAGS_EPILOG = "What stands after '--' are the compiler's flags; @FILE there reads more of them."


def compile_parser() -> Parser:
    """The options of ``polybuild compile``."""
    parser = command_parser("compile", "Rewrite the marked regions of a C file.")
    parser.usage = "polybuild compile FILE.c [options] [-- [compiler] flags]"
    parser.epilog = FLAGS_EPILOG
    unset: dict[str, Any] = {"default": argparse.SUPPRESS}
    parser.add_argument("source", metavar="FILE.c", help="the C file")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="where the result goes (default: standard output)", **unset
    )
    parser.add_argument("--depfile", metavar="FILE", help="write a rule for Make and Ninja", **unset)
    parser.add_argument("--report", metavar="FILE", help="write what was done as JSON", **unset)
    parser.add_argument("--sarif", metavar="FILE", help="write warnings and advice as SARIF", **unset)
    parser.add_argument("-v", "--verbose", action="store_true", help="tell what was transformed, too")
    parser.add_argument(
        "--print-after",
        metavar="PASS,...",
        help="print what these passes made of each region, to standard error",
        default="",
    )
    parser.add_argument("--time", action="store_true", help="print the processor time of each pass, too")
    parser.add_argument(
        "--list-passes", action=_ListPasses, nargs=0, help="print the names of the passes, and end"
    )
    add_knobs(parser)
    return parser


def parse_wrapper(words: Sequence[str]) -> Arguments:
    """Understand the options of ``polybuild cc``; source and compiler stay empty. Raises UsageError."""
    values = vars(wrapper_parser().parse(words))
    verbosely = values["verbose"] or verbose()
    return Arguments(Request("", settings_of(values)), verbosely, values["color"], record=values["record"])


def wrapper_parser() -> Parser:
    """The options of ``polybuild cc``."""
    parser = command_parser("cc", "Run a C compiler, with the marked regions of its C files rewritten.")
    parser.usage = "polybuild cc [options] -- compiler flags"
    parser.epilog = "Words that are not understood, and other languages, are the compiler's alone."
    parser.add_argument("-v", "--verbose", action="store_true", help="tell what was transformed and run")
    parser.add_argument(
        "--record",
        action="store_true",
        help="write what was done beside each object, for 'polybuild summary'",
    )
    add_knobs(parser)
    return parser


def settings_of(values: Mapping[str, Any]) -> dict[str, str]:
    """The knobs among the values of a parser, each of them checked."""
    settings = {knob.name: values[knob.name] for knob in dataclasses.fields(Options) if knob.name in values}
    Options().with_settings({name.replace("_", "-"): text for name, text in settings.items()})
    return settings


def add_knobs(parser: Parser) -> None:
    """Add all options of regions to ``parser``."""
    knobs = parser.add_argument_group("what to do with a region")
    for knob in dataclasses.fields(Options):
        knobs.add_argument(
            "--" + knob.name.replace("_", "-"),
            dest=knob.name,
            metavar=knob.metadata["metavar"] or "VALUE",
            help=knob.metadata["help"].replace("%", "%%") + _default(knob.default),
            default=argparse.SUPPRESS,
        )


def _default(value: object) -> str:
    """The default of an option as one types it."""
    if value in {(), None, ""}:
        return ""
    if isinstance(value, bool):
        value = "on" if value else "off"
    elif isinstance(value, tuple):
        value = ",".join(map(str, value))
    return f" (default: {value})"


def check_source(source: str) -> None:
    """Raise UsageError if ``source`` cannot be the name of a C file."""
    if source in {"", "-"}:
        raise UsageError("the C file must have a name; standard input cannot be read")


def _check_files(arguments: Arguments, values: Mapping[str, Any]) -> None:
    source = arguments.request.source
    check_source(source)
    for name in ("output", "depfile", "report", "sarif"):
        if values.get(name) == "":
            raise UsageError(f"--{name} needs the name of a file")
    if arguments.depfile and arguments.output == STANDARD_OUTPUT:
        raise UsageError("--depfile needs a target: give -o FILE, too")
    problem = clash(source, (*arguments.files, arguments.sarif))
    if problem:
        raise UsageError(problem)


def split_words(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words before the first ``--`` and those after it."""
    separator = list(words).index("--") if "--" in words else len(words)
    return list(words[:separator]), list(words[separator + 1 :])


def seconds(text: str) -> float:
    """The seconds of a time such as ``90s``; a type of argparse, which tells the error."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|min|h)?", text)
    if not match or float(match[1]) <= 0:
        raise argparse.ArgumentTypeError(f"must be a time such as 90s, 5min or 1h, not '{text}'")
    return float(match[1]) * _UNITS[match[2] or "s"]


def _command(name: str, text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"cannot read {name} '{text}': {error}") from None
    if not words:
        raise UsageError(f"{name} is empty")
    # A path with blanks in it, as build systems give it, is one word.
    return [text] if Path(text).is_file() else words
