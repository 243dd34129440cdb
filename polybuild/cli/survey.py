"""``polybuild survey``: which loops of a code base are worth what, and marks for those that would gain."""

from __future__ import annotations

import os
import sys
from argparse import SUPPRESS
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polybuild.cli.arguments import (
    FLAGS_EPILOG,
    Parser,
    add_knobs,
    check_flags_files,
    command_parser,
    compiler_of_files,
    settings_of,
    split_words,
)
from polybuild.cli.compile_commands import Compilation, compilations
from polybuild.diagnostics import UsageError
from polybuild.driver import output
from polybuild.driver.request import Request
from polybuild.source.reader import text_of
from polybuild.survey import marks

if TYPE_CHECKING:
    from polybuild.survey.model import FileSurvey

_BYTES = ("utf-8", "surrogateescape")
_SECONDS = 180
_LIMIT = 30


def run(words: Sequence[str]) -> int:
    """Survey what ``words`` name; the exit code: 1 if a file could not be looked at. Raises UsageError."""
    own, flags = split_words(words)
    check_flags_files(flags)
    values = vars(parser().parse(own))
    files = _files(values, flags)
    if values["remove"]:
        _say(f"{sum(_removed(each.request.source) for each in files)} files had marks of a survey")
        return 0
    from polybuild.report.explain.terminal import style_for, write  # noqa: PLC0415 -- when it is needed
    from polybuild.survey import description  # noqa: PLC0415 -- likewise
    from polybuild.survey.files import ranked, survey_file  # noqa: PLC0415 -- likewise
    from polybuild.survey.profile import read_profile  # noqa: PLC0415 -- likewise

    profile = read_profile(text_of(values["profile"])) if values["profile"] else None
    survey = ranked([survey_file(each.request, each.directory, values["seconds"]) for each in files], profile)
    if values["json"]:
        output.write(output.STANDARD_OUTPUT, description.as_json(survey))
    else:
        style = style_for(sys.stdout, values["color"])
        write(sys.stdout, description.as_text(survey, style, values["limit"]))
    if values["html"]:
        output.write(values["html"], description.as_page(survey).encode(*_BYTES))
    _mark(survey.files, values["patch"], apply=values["apply"])
    return 1 if any(each.problem for each in survey.files) else 0


def _mark(files: Sequence[FileSurvey], patch: str, *, apply: bool) -> None:
    """Put marks around the loops that would gain: into the files, or into a file that is a patch for them."""
    differences = []
    for each in files:
        if not each.unmarked or not (apply or patch):
            continue
        before = text_of(each.path)
        after = marks.with_marks(before, [(region.line, region.end_line) for region in each.unmarked])
        differences.append(marks.patch(os.path.relpath(each.path), before, after))
        if apply:
            output.write(each.path, after.encode(*_BYTES))
    if apply:
        _say(f"marked loops of {len(differences)} files; 'polybuild survey --remove' takes the marks out")
    if patch:
        output.write(patch, "".join(differences).encode(*_BYTES))


def _removed(path: str) -> bool:
    """Take the marks of a survey out of a file; whether there were any."""
    before = text_of(path)
    after = marks.without_marks(before)
    if after != before:
        output.write(path, after.encode(*_BYTES))
    return after != before


def _files(values: Mapping[str, Any], flags: Sequence[str]) -> list[Compilation]:
    """The C files to look at, with their flags."""
    settings, build, paths = settings_of(values), values.get("build", ""), values["paths"]
    if build:
        if flags:
            raise UsageError("with -p the flags are those of the build; leave out what stands after '--'")
        return compilations(build, [file for each in paths for file in _c_files(each)], settings, every=True)
    if not paths:
        raise UsageError(
            "a folder or a C file is missing, or -p with that of a build (see 'polybuild survey --help')"
        )
    compiler, rest = compiler_of_files(values["cc"], flags)
    sources = dict.fromkeys(file for each in paths for file in _c_files(each))
    return [Compilation(Request(each, settings, tuple(compiler), tuple(rest))) for each in sources]


def _c_files(path: str) -> Iterator[str]:
    """The C files below ``path``, in the order of their names, or ``path`` itself. Raises UsageError."""
    if not Path(path).exists():
        raise UsageError(f"there is no file or folder '{path}'")
    if Path(path).is_file():
        yield path
        return
    for folder, inner, names in os.walk(path):
        inner[:] = sorted(each for each in inner if not each.startswith("."))
        yield from (str(Path(folder, each)) for each in sorted(names) if each.endswith(".c"))


def _say(text: str) -> None:
    sys.stderr.write(f"polybuild: {text}\n")


def parser() -> Parser:
    """The options of ``polybuild survey``."""
    parser = command_parser(
        "survey", "Rank the loops of a code base by what they may be worth, and say what becomes of each."
    )
    parser.usage = "polybuild survey FOLDER|FILE.c... | -p BUILD [options] [-- [compiler] flags]"
    parser.epilog = FLAGS_EPILOG
    parser.add_argument("paths", metavar="FILE", nargs="*", help="C files, or folders with C files")
    parser.add_argument(
        "-p",
        dest="build",
        metavar="BUILD",
        default=SUPPRESS,
        help="take the flags, and if nothing is named the files, from compile_commands.json in this folder",
    )
    parser.add_argument("--html", metavar="FILE", default="", help="write it as a page, too")
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.add_argument(
        "--profile",
        metavar="FILE",
        default="",
        help="rank by the time of functions, as 'perf report --stdio' or gprof printed it",
    )
    parser.add_argument(
        "--limit",
        type=int,
        default=_LIMIT,
        metavar="N",
        help=f"tell of so many nests; 0: all (default: {_LIMIT})",
    )
    parser.add_argument(
        "--seconds",
        type=int,
        default=_SECONDS,
        metavar="N",
        help=f"processor time for a file (default: {_SECONDS})",
    )
    changes = parser.add_mutually_exclusive_group()
    changes.add_argument(
        "--apply", action="store_true", help="mark the loops that would gain, in their files"
    )
    changes.add_argument("--remove", action="store_true", help="take such marks out again")
    changes.add_argument("--patch", metavar="FILE", default="", help="write the marks as a patch instead")
    add_knobs(parser)
    return parser
