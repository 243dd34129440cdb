"""What docs/reference/security.md promises."""

from __future__ import annotations

import ast
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import polybuild
from polybuild.cli import main as cli

PACKAGE = Path(polybuild.__file__).parent
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__"}
FORBIDDEN_METHODS = {"system", "popen", "mktemp"}
FORBIDDEN_MODULES = {"pickle", "marshal", "shelve", "runpy", "code"}
ODD = "a b;touch pwned $(touch pwned)`touch pwned` '\"&|<>*?.c"
REGION = """\
void f(double *restrict a, double *restrict b, int n) {
#pragma scop
  for (int i = 0; i < n; i++) a[i] = b[i] + 1;
#pragma endscop
}
"""


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.stem)
def test_nothing_is_evaluated_and_no_shell_is_called(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            place = f"{path.name}:{node.lineno}"
            # classes of values are made of the names of their fields, as the standard library makes them
            allowed = {"exec"} if path == PACKAGE / "values.py" else set()
            assert getattr(node.func, "id", "") not in FORBIDDEN_CALLS - allowed, place
            assert getattr(node.func, "attr", "") not in FORBIDDEN_METHODS, place
            assert not any(each.arg == "shell" for each in node.keywords), place
        names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        # a process and its copies tell each other values; nobody else can write there
        local = {"pickle"} if path == PACKAGE / "driver" / "pipes.py" else set()
        # bytecode lies where Python keeps that of the package: who can write there can change both
        local |= {"marshal"} if path == PACKAGE / "bytecode.py" else set()
        assert (FORBIDDEN_MODULES - local).isdisjoint(names), path.name


def names(folder="."):
    return sorted(each.name for each in Path(folder).iterdir())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ODD).write_text(REGION)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_odd_names_are_names():
    assert cli.run(["compile", ODD, "-o", f"out {ODD}", "--depfile", f"{ODD}.d", "--", "gcc"]) == 0
    assert cli.run(["cc", "--min-work", "0", "--", "gcc", "-fopenmp", "-c", ODD, "-o", f"{ODD}.o"]) == 0
    assert cli.run(["explain", ODD, "--html", f"{ODD}.html", "--", "gcc"]) == 0
    assert names() == sorted([ODD, f"out {ODD}", f"{ODD}.d", f"{ODD}.o", f"{ODD}.html"])
    done = subprocess.run(
        ["gcc", "-fsyntax-only", "-Wno-unknown-pragmas", f"./out {ODD}"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.usefixtures("folder")
def test_the_compiler_is_no_command_line(capsys):
    assert cli.run(["explain", ODD, "--cc", "gcc; touch pwned", "--", "-DX=$(touch pwned)"]) in {0, 1}
    capsys.readouterr()
    assert names() == [ODD]


@pytest.mark.parametrize(("number", "delays"), [(signal.SIGINT, (0.15, 0.5)), (signal.SIGKILL, (0.3,))])
def test_what_is_interrupted_leaves_nothing_half_written(number, delays, tmp_path):
    loops = "\n".join(
        f"for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) a{k}[i][j] = a{k + 1}[i - 1][j];"
        for k in range(60)
    )
    arrays = ", ".join(f"double a{k}[restrict n][n]" for k in range(61))
    (tmp_path / "in.c").write_text(
        f"void f(int n, {arrays}) {{\n#pragma scop\n{loops}\n#pragma endscop\n}}\n"
    )
    (tmp_path / "out.c").write_text("as it was\n")
    command = [sys.executable, "-m", "polybuild", "compile", "in.c", "-o", "out.c", "--report", "r.json"]
    for delay in delays:
        running = subprocess.Popen([*command, "--", "gcc"], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        time.sleep(delay)
        running.send_signal(number)
        running.communicate(timeout=120)
        # 1 is Python's own where it has not come to the command line yet
        assert running.returncode in {0, 1, 130, -number}
        text = (tmp_path / "out.c").read_text()
        assert text == "as it was\n" if running.returncode else text.endswith("}\n")
        assert set(names(tmp_path)) <= {"in.c", "out.c", "r.json"}
