"""The extension through scikit-build-core, and one written in Cython through setuptools."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from cmake_project import PROJECTS, ROOT

pytestmark = [pytest.mark.network, pytest.mark.cmake]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("POLYBUILD_CACHE_DIR", str(tmp_path / "cache"))


def copy_of(kind: str, folder: Path) -> None:
    shutil.copytree(PROJECTS / "extension", folder)
    shutil.copytree(PROJECTS / kind, folder, dirs_exist_ok=True)


def run(*command: str | Path, folder: Path, **environment: str) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env=os.environ | environment,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def total(factor: int = 2) -> str:
    return f"{sum(factor * i + 1 for i in range(50000))}\n"


SCRIPT = "import tables; print(tables.total())"


def test_wheel_from_an_isolated_build(tmp_path, build_tools):
    """Nothing is told to CMake: it finds polybuild in the environment that pip makes for the build."""
    folder, wheels = tmp_path / "project", tmp_path / "wheels"
    copy_of("skbuild", folder)
    pip = (build_tools / "bin" / "pip", "--disable-pip-version-check")
    run(*pip, "wheel", "--no-deps", "-w", wheels, ROOT, folder=tmp_path)
    run(*pip, "wheel", "--no-deps", "-w", wheels, ".", folder=folder, PIP_FIND_LINKS=str(wheels))
    (wheel,) = wheels.glob("tables*.whl")
    run(*pip, "install", "--no-deps", "--target", tmp_path / "unpacked", wheel, folder=tmp_path)
    (library,) = (tmp_path / "unpacked").glob("tables*.so")
    assert b"GOMP_parallel" in library.read_bytes()
    python = build_tools / "bin" / "python"
    assert run(python, "-c", SCRIPT, folder=tmp_path / "unpacked", PATH="") == total()


@pytest.mark.parametrize("disabled", ["", "1"])
def test_cython(tmp_path, build_tools, disabled):
    folder = tmp_path / "project"
    copy_of("cython", folder)
    python = build_tools / "bin" / "python"
    run(python, "setup.py", "build_ext", "--inplace", folder=folder, POLYBUILD_DISABLE=disabled)
    assert run(python, "-c", SCRIPT, folder=folder) == total()
    (library,) = folder.glob("tables*.so")
    assert (b"GOMP_parallel" in library.read_bytes()) == (not disabled)
