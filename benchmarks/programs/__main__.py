"""Whole programs with their own checks: what marks by hand, and marks by a survey, make of their times.

usage: python -m benchmarks.programs RECIPE.toml... [--threads 1,2] [--rounds 3] [--prefix COMMAND]

A recipe is a file of TOML for a program that lies there: see benchmarks/README.md. Each program is built as
it is, with the recipe's marks, and with those of 'polybuild survey --apply', in copies that are left alone
afterwards. Then all versions run in turn. Exits with 1 if one is not built, or a run does not pass its check.
"""

from __future__ import annotations

import argparse
import shlex
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.cpu import machine
from benchmarks.cpu.processes import Failure
from benchmarks.programs.recipes import Recipe, RecipeError, read_recipe
from benchmarks.programs.runs import Column, Measured, Timing, measured
from benchmarks.programs.versions import BY_HAND, BY_SURVEY, ORIGINAL, Tools, Version, versions_of


def main(words: Sequence[str] | None = None) -> int:
    """Build, run and print the table; the exit status."""
    arguments = _arguments(words)
    threads = [int(each) for each in arguments.threads.split(",")]
    columns = [(name, count) for name in (BY_HAND, BY_SURVEY) for count in threads]
    tools = Tools(arguments.cc, arguments.cflags, shlex.split(arguments.options), arguments.timeout)
    facts = machine.describe(arguments.cc)
    print(
        f"{facts['date']}; {facts['processor']}, {facts['cores']} cores;"
        f" {facts['compiler']}, {arguments.cflags}"
    )
    print(_heads(columns), flush=True)
    found: list[Measured] = []
    failed = 0
    for path in arguments.recipes:
        try:
            recipe = read_recipe(path)
            versions, row = _row(recipe, arguments, tools, threads)
        except (Failure, RecipeError) as failure:
            failed += 1
            print(f"{path.stem:<16}{failure}", flush=True)
            continue
        found.append(row)
        print(_line(recipe.name, versions, row, columns), flush=True)
    if found:
        print(_means(found, columns))
    return int(failed > 0)


def _row(
    recipe: Recipe, arguments: argparse.Namespace, tools: Tools, threads: Sequence[int]
) -> tuple[list[Version], Measured]:
    kept = arguments.keep / recipe.name if arguments.keep else None
    if kept:
        kept.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="polybuild-programs-") as folder:
        versions = list(versions_of(recipe, tools, kept or Path(folder)))
        prefix = shlex.split(arguments.prefix)
        return versions, measured(recipe, versions, threads, Timing(arguments.rounds, prefix, tools.limit))


def _heads(columns: Sequence[Column]) -> str:
    cells = "".join(f"{f'{name}, {count}':>14}" for name, count in columns)
    return f"\n{'program':<16}{'seconds':>9}{'marked':>8}{'surveyed':>10}{cells}"


def _line(name: str, versions: Sequence[Version], row: Measured, columns: Sequence[Column]) -> str:
    regions = {each.name: str(each.regions) for each in versions}
    cells = "".join(
        f"{row.speed_up(each):>14.2f}" if each in row.seconds else f"{'-':>14}" for each in columns
    )
    marks = f"{regions.get(BY_HAND, '-'):>8}{regions[BY_SURVEY]:>10}"
    return f"{name:<16}{row.seconds[ORIGINAL, 1]:>9.2f}{marks}{cells}"


def _means(found: Sequence[Measured], columns: Sequence[Column]) -> str:
    cells = ""
    for each in columns:
        ratios = [row.speed_up(each) for row in found if each in row.seconds]
        cells += f"{statistics.geometric_mean(ratios):>14.2f}" if ratios else f"{'-':>14}"
    return f"{'geometric mean':<43}{cells}"


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.programs", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("recipes", metavar="RECIPE", nargs="+", type=Path, help="a file of TOML each")
    parser.add_argument("--threads", default="1,2", help="numbers of threads (1,2)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each version; the fastest counts (3)")
    parser.add_argument("--prefix", default="", help="what stands before the command that runs all versions")
    parser.add_argument("--cc", default="gcc", help="the compiler (gcc)")
    parser.add_argument("--cflags", default="-O3 -march=native -fopenmp", help="its flags")
    parser.add_argument("--options", default="", help="options for polybuild, as one word")
    parser.add_argument("--timeout", type=float, default=900.0, help="seconds for one step (900)")
    parser.add_argument("--keep", type=Path, help="a new folder for what is built")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
