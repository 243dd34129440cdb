"""Every command line that a page shows to be typed is one that polybuild understands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from polybuild.cli.commands import COMMANDS
from polybuild.cli.completion import PARSERS, WORDS
from polybuild.diagnostics import UsageError

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("examples/*/README.md")]
BLOCK = re.compile(r"^```(?:sh|console)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
INDENTED = re.compile(r"(?<=\n\n)(?:    .*\n)+")
NESTED = re.compile(r"""["']polybuild cc[^"']*["']""")
"""The command as the compiler of another one."""

GRAMMAR = re.compile(r"\[-|\[options|\.\.\.")
"""What is only in a line that tells what may be left out."""


def lines(text: str) -> Iterator[list[str]]:
    """The words of each command line of polybuild that ``text`` shows, without its name."""
    for block in [*BLOCK.findall(text), *INDENTED.findall(text)]:
        for line in re.sub(r"\\\n", " ", block).splitlines():
            if GRAMMAR.search(line):
                continue
            for nested in NESTED.findall(line):
                yield shlex.split(nested[1:-1])[1:]
            for part in re.split(r"&&|\|\|?|;|>", NESTED.sub("", line)):
                plain = re.sub(r"^\s*(?:\$ )?(?:[A-Z_]+=\S+ )*", "", part)
                if plain.startswith("polybuild "):
                    yield shlex.split(plain, comments=True)[1:]


def understood(words: list[str]) -> str:
    """What is wrong with a command line; empty if nothing is."""
    command, *rest = words
    own = rest[: rest.index("--")] if "--" in rest else rest
    if command not in COMMANDS:
        return f"no command '{command}'"
    if command in WORDS:
        return "" if own and own[0] in WORDS[command] else f"not {own}"
    if command.startswith("-"):
        return ""
    try:
        PARSERS[command]().parse(own)
    except UsageError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_are_understood(page):
    problems = {" ".join(words): understood(words) for words in lines(page.read_text("utf-8"))}
    assert {line: problem for line, problem in problems.items() if problem} == {}


def test_there_are_many():
    assert sum(len([*lines(page.read_text("utf-8"))]) for page in PAGES) > 40


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("polybuild compile in.c --tile-size 3", "did you mean '--tile-sizes'"),
        ("polybuild built in.c", "no command 'built'"),
        ("polybuild cache fill", "not ['fill']"),
        ('make CC="polybuild cc --paralel off -- gcc"', "unexpected"),
        ("X=1 polybuild doctor --bundle a b.c -- gcc  # a comment", ""),
    ],
)
def test_what_is_wrong_is_seen(line, message):
    (words,) = lines(f"```sh\n{line}\n```\n")
    assert message in understood(words)
    assert bool(message) == bool(understood(words))
