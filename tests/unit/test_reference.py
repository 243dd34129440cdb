"""The reference names everything there is: options, commands and codes."""

from __future__ import annotations

import ast
import dataclasses
import re
from pathlib import Path

import polybuild
from polybuild.cli.commands import COMMANDS
from polybuild.options import Options

PACKAGE = Path(polybuild.__file__).parent
REFERENCE = PACKAGE.parent / "docs" / "reference"

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


def test_every_option_and_command_is_explained():
    text = (REFERENCE / "cli.md").read_text()
    for knob in dataclasses.fields(Options):
        assert f"`--{knob.name.replace('_', '-')} " in text, knob.name
    for command in COMMANDS:
        assert command in text or command == "-h"
