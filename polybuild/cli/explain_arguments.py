"""The words of the commands that tell of regions: ``explain`` and ``summary``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from polybuild.cli.arguments import (
    FLAGS_EPILOG,
    Parser,
    add_knobs,
    bare_parser,
    check_flags_files,
    check_source,
    command_parser,
    compiler_of_files,
    settings_of,
    split_words,
)
from polybuild.cli.compile_commands import Compilation, compilations
from polybuild.cli.planning_arguments import Planning, add_planning, planning_of
from polybuild.diagnostics import UsageError
from polybuild.driver.output import clash
from polybuild.driver.request import Request
from polybuild.values import dataclass


@dataclass(frozen=True, slots=True)
class ExplainArguments:
    """One ``explain``: the files, and how to tell of them; ``html`` is empty if no page was asked for."""

    files_to_explain: tuple[Compilation, ...]
    colour: str
    html: str = ""
    json: bool = False
    level: int = 3
    planning: Planning = Planning()

    @property
    def is_plain(self) -> bool:
        """Whether people read it on a terminal."""
        return not (self.html or self.json)


def parse_explain(words: Sequence[str]) -> ExplainArguments:
    """Understand the words after ``explain``. Raises UsageError."""
    own, flags = split_words(words)
    check_flags_files(flags)
    values = vars(explain_parser().parse(own))
    settings, build, sources = settings_of(values), values.get("build", ""), values["sources"]
    if not sources and not build:
        raise UsageError(
            "a C file is missing, or -p with the folder of a build (see 'polybuild explain --help')"
        )
    for source in sources:
        check_source(source)
    planning = planning_of(values, settings)
    html = values.get("html", "")
    if "html" in values and not html:
        raise UsageError("--html needs the name of a file")
    if build:
        if flags:
            raise UsageError("with -p the flags are those of the build; leave out what stands after '--'")
        files = compilations(build, sources, settings)
    else:
        compiler, flags = compiler_of_files(values["cc"], flags)
        requests = (Request(each, settings, tuple(compiler), tuple(flags)) for each in sources)
        files = [Compilation(each) for each in requests]
    for each in files if html else ():
        problem = clash(each.request.source, (html, "", ""))
        if problem:
            raise UsageError(problem)
    level = 4 if values["verbose"] else int(values.get("level", "3"))
    return ExplainArguments(tuple(files), values["color"], html, values["json"], level, planning)


def explain_parser() -> Parser:
    """The options of ``polybuild explain``."""
    parser = command_parser(
        "explain", "Tell what would be done with each region of C files, or what stops it."
    )
    parser.usage = "polybuild explain FILE.c... | -p BUILD [options] [-- [compiler] flags]"
    parser.epilog = FLAGS_EPILOG
    unset: dict[str, Any] = {"default": argparse.SUPPRESS}
    parser.add_argument("sources", metavar="FILE.c", nargs="*", help="the C files")
    parser.add_argument(
        "-p",
        dest="build",
        metavar="BUILD",
        help="take the flags, and if no file is named the files, from compile_commands.json in this folder",
        **unset,
    )
    parser.add_argument("--html", metavar="FILE", help="write it as a page with pictures", **unset)
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.add_argument(
        "--level",
        choices=("1", "2", "3", "4"),
        metavar="1|2|3|4",
        help="how much is told: a line for each region; the new loops and their conditions; "
        "also what stands in the way of each loop; everything (default: 3)",
        **unset,
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="tell everything: --level 4")
    add_planning(parser)
    add_knobs(parser)
    return parser


def parse_summary(words: Sequence[str]) -> argparse.Namespace:
    """Understand the words after ``summary``. Raises UsageError."""
    return summary_parser().parse(words)


def summary_parser() -> Parser:
    """The options of ``polybuild summary``."""
    parser = bare_parser("summary", "Tell what became of the regions of a build, from its reports.")
    parser.usage = "polybuild summary BUILD... [options]"
    parser.add_argument("builds", metavar="BUILD", nargs="+", help="a folder with reports, or a report")
    parser.add_argument("--json", action="store_true", help="print one report of all")
    parser.add_argument("--sarif", metavar="FILE", default="", help="write warnings and advice as SARIF")
    parser.add_argument(
        "--ran",
        metavar="FILE",
        default="",
        help="tell what ran, too, from the file that POLYBUILD_REPORT named",
    )
    return parser
