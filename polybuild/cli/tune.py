"""``polybuild tune``: find the settings that are fastest for the regions of a program, and keep them."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from polybuild.cli import arguments
from polybuild.diagnostics import UsageError
from polybuild.driver import output
from polybuild.report.explain import terminal
from polybuild.tuner.bench import Bench, TrialError
from polybuild.tuner.search import RegionSearch, Search, worded
from polybuild.tuning.record import (
    FILE,
    TunedRegion,
    TuningFileError,
    merged,
    read_tuning_file,
    tuning_text,
)


def run(words: Sequence[str]) -> int:
    """Tune the program that the words after ``--`` build and that ``--run`` runs; the exit code."""
    own, build = arguments.split_words(words)
    values = parser().parse(own)
    if not build:
        raise UsageError("polybuild tune needs the command that builds, after '--'")
    with tempfile.TemporaryDirectory(prefix="polybuild-tune-") as folder:
        bench = Bench(build, values.run, Path(folder), limit=max(60.0, values.budget))
        search = Search(bench, values.runs, values.budget, _say)
        try:
            search.begin()
            before = _read(_place(values.output, search))
            _search(search)
            return _keep(_place(values.output, search), before, bench, search)
        except TrialError as error:
            _say(f"error: {error}")
            return 1


def parser() -> arguments.Parser:
    """The options of ``polybuild tune``."""
    parser = arguments.command_parser("tune", "Find the fastest settings for the regions of a program.")
    parser.usage = "polybuild tune --run COMMAND [options] -- BUILD COMMAND"
    parser.epilog = (
        "The build has to build anew (make -B, cmake --build build --clean-first). Settings are kept in\n"
        f"{FILE} beside the sources: every later build uses them. Ctrl-C ends the search early."
    )
    parser.add_argument("--run", metavar="COMMAND", required=True, help="the program, as for a shell")
    parser.add_argument(
        "--budget",
        metavar="TIME",
        type=arguments.seconds,
        default=arguments.seconds("60s"),
        help="for the search (default: 60s)",
    )
    parser.add_argument(
        "--runs",
        metavar="N",
        type=_count,
        default=3,
        help="runs of the program for each candidate (default: 3)",
    )
    parser.add_argument(
        "--output", metavar="FILE", help=f"where settings are kept (default: {FILE} by the sources)"
    )
    return parser


def _search(search: Search) -> None:
    try:
        search.go_on()
        search.confirm()
    except KeyboardInterrupt:
        _say("interrupted: what was found so far is kept")


def _keep(path: Path, before: tuple[TunedRegion, ...], bench: Bench, search: Search) -> int:
    """Write what was found, tell of it, and leave a build that uses it."""
    regions = merged(before, [_tuned(path, each) for each in search.regions.values()])
    try:
        output.write(str(path), tuning_text(regions).encode())
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
    for each in search.regions.values():
        words = worded(each.best) or "nothing better found"
        ratio = each.seconds / each.seconds_before if each.seconds_before else 1.0
        terminal.write(
            sys.stdout,
            f"{each.name}: {ratio:.2f} of the time, {len(each.tried)} tried: {words}\n",
        )
    terminal.write(sys.stdout, f"kept in {path}\n")
    bench.build_plainly()
    return 0


def _tuned(path: Path, search: RegionSearch) -> TunedRegion:
    met = search.region
    return TunedRegion(
        digest=met.digest,
        file=Path(os.path.relpath(met.file, path.parent)).as_posix(),
        line=met.line,
        build=met.build,
        settings=dict(search.best),
        seconds=round(search.seconds, 9),
        seconds_before=round(search.seconds_before, 9),
        candidates=len(search.tried),
    )


def _place(wanted: str | None, search: Search) -> Path:
    """The file to keep settings in: the one wanted, the nearest there is, or one beside the sources."""
    if wanted:
        return Path(wanted).absolute()
    sources = [Path(each.region.file).absolute().parent for each in search.regions.values()]
    common = Path(os.path.commonpath(sources))
    found = next((each / FILE for each in (common, *common.parents) if (each / FILE).is_file()), None)
    return found or common / FILE


def _read(path: Path) -> tuple[TunedRegion, ...]:
    """What is in a file of tuned regions, nothing if there is none. Raises UsageError if it is damaged."""
    if not path.exists():
        return ()
    try:
        return read_tuning_file(path)
    except TuningFileError as error:
        raise UsageError(f"{path}: {error}; remove it, or name another with --output") from None


def _count(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 to 1000, not '{text}'")
    return int(text)


def _say(text: str) -> None:
    terminal.write(sys.stderr, f"{text}\n")
    sys.stderr.flush()
