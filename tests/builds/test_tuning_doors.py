"""``polybuild tune`` through the doors of builds, as a new user of each would call it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cmake_project import PROJECTS, ROOT

pytestmark = pytest.mark.usefixtures("polybuild_on_path")

PYPROJECT = """\
[build-system]
requires = ["setuptools", "polybuild"]
build-backend = "setuptools.build_meta"

[project]
name = "tables"
version = "1"

[tool.setuptools]
py-modules = []

[tool.polybuild]
parallel = true
"""
SETUP = """\
from setuptools import Extension, setup

setup(ext_modules=[Extension("tables", ["module.c", "kernels.c"])])
"""


def tune(folder: Path, program: str, *build: str) -> dict[str, object]:
    """Tune for a moment; what is kept for the one region."""
    command = [
        sys.executable,
        "-m",
        "polybuild",
        "tune",
        "--runs",
        "1",
        "--budget",
        "1s",
        "--run",
        program,
        "--",
    ]
    done = subprocess.run([*command, *build], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "kept in" in done.stdout
    (path,) = folder.rglob("polybuild.tune.json")
    (region,) = json.loads(path.read_text(encoding="utf-8"))["regions"]
    assert region["seconds"] <= region["seconds_before"]
    return region


def output(program: str, folder: Path) -> str:
    return subprocess.run(
        ["/bin/sh", "-c", program], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


def test_cmake(tmp_path: Path) -> None:
    folder = tmp_path / "heat"
    shutil.copytree(ROOT / "examples" / "heat", folder)
    for words in (("-B", "build", f"-Dpolybuild_DIR={ROOT / 'cmake'}"), ("--build", "build")):
        subprocess.run(["cmake", *words], cwd=folder, capture_output=True, check=True)
    region = tune(folder, "./build/heat 100 4", "cmake", "--build", "build", "--clean-first")
    assert region["file"] == "solver.c"
    assert "largest error" in output("./build/heat 100 4", folder)


def test_make(tmp_path: Path) -> None:
    folder = tmp_path / "program"
    shutil.copytree(PROJECTS / "program", folder)
    before = subprocess.run(
        ["make", "CC=polybuild cc -- gcc"], cwd=folder, capture_output=True, text=True, check=True
    )
    assert before.returncode == 0
    printed = output("./program", folder)
    region = tune(folder, "./program", "make", "-B", "CC=polybuild cc -- gcc")
    assert region["file"] == "kernels.c"
    assert output("./program", folder) == printed


@pytest.mark.network
@pytest.mark.python_headers
def test_pip(tmp_path: Path, build_tools: Path) -> None:
    """What pip built in the tree of the sources is up to date, and has to be built anew all the same."""
    folder, python = tmp_path / "extension", build_tools / "bin" / "python"
    shutil.copytree(PROJECTS / "extension", folder)
    (folder / "pyproject.toml").write_text(PYPROJECT)
    (folder / "setup.py").write_text(SETUP)
    words = ("--quiet", "--no-build-isolation", "--no-deps", "--upgrade", "--target", str(tmp_path / "site"))
    build = (str(python), "-m", "pip", "--disable-pip-version-check", "install", *words, ".")
    subprocess.run(build, cwd=folder, capture_output=True, check=True)
    program = f"PYTHONPATH={tmp_path / 'site'} {python} -c 'import tables; print(tables.total())'"
    printed = output(program, folder)
    region = tune(folder, program, *build)
    assert region["file"] == "kernels.c"
    assert output(program, folder) == printed
