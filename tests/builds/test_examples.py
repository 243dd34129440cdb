"""Each example runs by its one command, and what it makes of a program gives the same."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
AGREES = {
    "conjugate-gradients": "residuals agree",
    "heat-gpu": "temperatures agree",
    "image": "pictures agree",
    "legacy": "fields agree",
    "network": "losses agree",
    "notebook": "1.0000 of the points have the same count",
    "waves-ranks": "waves agree",
}
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """The examples, where nothing was built yet."""
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLES.parent))
    monkeypatch.setenv("POLYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    ignored = shutil.ignore_patterns("build", "__pycache__")
    return Path(shutil.copytree(EXAMPLES, tmp_path / "tree" / "examples", ignore=ignored))


def printed(example: Path, *words: str) -> str:
    command = [sys.executable, "run.py", *words]
    done = subprocess.run(
        command,
        cwd=example,
        check=False,
        capture_output=True,
        text=True,
        timeout=900,
        env=os.environ | AS_ROOT,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=pytest.mark.mpi if each == "waves-ranks" else ()) for each in AGREES]
)
def test_an_example(name, copy):
    if name == "notebook":
        pytest.importorskip("IPython")
    text = printed(copy / name)
    assert AGREES[name] in text
    assert "  kept: " not in text
    if name == "heat-gpu":
        assert "400 runs" in text
    if name == "waves-ranks":
        assert re.search(r"rank 1 of \d: .* sent \d+ messages", text)
    assert [*(copy / name / "build").glob("*.png"), *(copy / name / "build").glob("*.svg")]


def test_what_is_missing_is_said(copy):
    """Python alone is not enough, and nothing looks as if it had worked."""
    command = [sys.executable, "-S", "run.py"]
    done = subprocess.run(command, cwd=copy / "network", check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert f"polybuild needs islpy and pycparser: {sys.executable} -m pip install " in done.stderr


@pytest.mark.network
@pytest.mark.python_headers
def test_the_extension_for_numpy(copy):
    for name in ("polybuild", "pyproject.toml", "README.md", "LICENSE", "bin", "cmake", "docs"):
        (copy.parent / name).symlink_to(EXAMPLES.parent / name)
    text = printed(copy / "numpy-extension")
    assert text.count("times as fast") == 2


def test_every_example_has_its_page_and_picture():
    for folder in (each for each in EXAMPLES.iterdir() if each.is_dir() and each.name[0] not in "._"):
        text = (folder / "README.md").read_text()
        assert folder.name == "heat-mpi" or "](" in text.partition("![")[2]
