"""Completions in a real shell, and the manual page: ``pytest --update-golden`` writes it from the options."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from argparse_manpage.manpage import Manpage

from polybuild.cli import commands, completion, main

ROOT = Path(completion.__file__).parents[2]
PAGE = ROOT / "docs" / "polybuild.1"


def page():
    parser, _ = completion.whole_parser()
    parser.man_short_description = "polyhedral compilation as a build step"
    text = str(Manpage(parser, format="pretty"))
    return re.sub(r'^\.TH POLYBUILD "1" "[^"]*"', '.TH POLYBUILD "1" ""', text, flags=re.MULTILINE)


def test_the_manual_page_is_that_of_the_options(request):
    text = page()
    if request.config.getoption("--update-golden"):
        PAGE.write_text(text)
    assert PAGE.read_text() == text
    assert all(f"polybuild {name}" in text for name in completion.PARSERS)


def test_every_command_can_be_completed():
    named = {name for name in commands.COMMANDS if not name.startswith("-")}
    assert named == {*completion.PARSERS, *completion.WORDS}


def complete(line):
    """What bash offers at the end of ``line``."""
    words = line.split(" ")
    script = f"""
eval "$({sys.executable} -m polybuild completion bash)"
COMP_WORDS=({" ".join(repr(each) for each in words)})
COMP_CWORD={len(words) - 1}
COMP_LINE={line!r}
COMP_POINT={len(line)}
function="$(complete -p polybuild | sed 's/.*-F \\([^ ]*\\) .*/\\1/')"
$function
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-c", script], check=True, capture_output=True, text=True, timeout=60, env=environment
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("polybuild comp", {"compile", "completion"}),
        ("polybuild compile --tile-sh", {"--tile-shape"}),
        ("polybuild compile --fusion m", {"min", "max"}),
        ("polybuild cache ", {"stats", "clear"}),
        ("polybuild tune --bud", {"--budget"}),
    ],
)
def test_bash_completes(line, offered):
    assert {*complete(line)} == offered


def test_the_command_prints_it(capsys, monkeypatch):
    assert main.run(["completion", "zsh"]) == 0
    assert "#compdef polybuild" in capsys.readouterr().out
    assert main.run(["completion", "fish"]) == 2
    assert "invalid choice: 'fish'" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main.run(["completion", "bash"]) == 2
    assert "pip install 'polybuild[completion]'" in capsys.readouterr().err
