"""The reference names all there is: commands, codes, variables; what is made of the code is up to date."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import polybuild
from docs.tools import pages
from polybuild.cli.commands import COMMANDS

PACKAGE = Path(polybuild.__file__).parent
REFERENCE = PACKAGE.parent / "docs" / "reference"

VARIABLE = re.compile(r"\b(POLYBUILD_[A-Z_]+)\b")
READ = re.compile(r"""(?:environ(?:\.get\(|\[)|getenv\()["'](POLYBUILD_[A-Z_]+)""")
"""A variable of the environment where it is read."""

# Where the code stands among the arguments of a call.
CODE_POSITION = {"Unsupported": 0, "Diagnostic": 1, "Violation": 2, "_failure": 0}


def codes_in(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            position = CODE_POSITION.get(node.func.id)
            if position is not None and position < len(node.args):
                code = node.args[position]
                if isinstance(code, ast.Constant) and code.value:
                    yield code.value


def test_every_code_is_explained():
    explained = set(re.findall(r"`([a-z-]+)`", (REFERENCE / "diagnostics.md").read_text()))
    used = {code for path in PACKAGE.rglob("*.py") for code in codes_in(path)}
    assert {"unwritable", "internal", "bad-clause"} <= used
    assert used <= explained, "add what is missing to docs/reference/diagnostics.md"


def test_every_command_is_explained():
    text = (REFERENCE / "cli.md").read_text()
    for command in COMMANDS:
        assert command in text or command == "-h"


@pytest.mark.parametrize("page", sorted(pages.pages()), ids=lambda page: page.name)
def test_pages_made_of_the_code_are_up_to_date(page, request):
    """``pytest --update-golden`` writes them."""
    text = pages.pages()[page]
    if request.config.getoption("--update-golden"):
        page.write_text(text, "utf-8")
    assert page.read_text("utf-8") == text


def test_every_variable_of_the_environment_is_explained():
    told = set(VARIABLE.findall((REFERENCE / "environment.md").read_text()))
    sources = [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.c")]
    looked_at = {name for path in sources for name in READ.findall(path.read_text())}
    assert {"POLYBUILD_BACKEND", "POLYBUILD_CACHE"} <= looked_at
    assert looked_at <= told, "add what is missing to docs/reference/environment.md"
