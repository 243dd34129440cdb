"""The extension through scikit-build-core and scikit-build, and one written in Cython through setuptools."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
from cmake_project import PROJECTS, ROOT
from workplace import Workplace, check_edits, importing, total

pytestmark = [pytest.mark.network, pytest.mark.cmake, pytest.mark.python_headers]

OPTION = ("CMakeLists.txt", "PARALLEL on", "PARALLEL off")
SCRIPT = "import tables; print(tables.total())"


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("POLYBUILD_CACHE_DIR", str(tmp_path / "cache"))


class Package(Workplace):
    """The extension as one of the projects builds it, with the tools on PATH."""

    def __init__(self, folder: Path, tools: Path, kind: str) -> None:
        super().__init__(folder)
        self.python = tools / "bin" / "python"
        self.path = f"{tools / 'bin'}{os.pathsep}{os.environ['PATH']}"
        shutil.copytree(PROJECTS / "extension", folder)
        shutil.copytree(PROJECTS / kind, folder, dirs_exist_ok=True)

    def pip(self, *words: str | Path, **environment: str) -> str:
        command = (self.python, "-m", "pip", "--disable-pip-version-check", *words)
        return self.run(*command, PATH=self.path, **environment)

    def result_in(self, folder: Path, library: Path, script: str = SCRIPT) -> tuple[int, bool]:
        # The first lines are those of a build, if the import builds.
        printed = self.run(self.python, "-c", script, folder=folder, PATH=self.path).splitlines()[-1]
        return int(printed), b"GOMP_parallel" in library.read_bytes()


class Wheel(Package):
    """Built by pip in the environment with the tools, and installed in a folder."""

    script = SCRIPT

    def build(self, **environment: str) -> None:
        shutil.rmtree(self.folder / "unpacked", ignore_errors=True)
        words = ("--quiet", "--no-build-isolation", "--no-deps", "--target", "unpacked", ".")
        self.pip("install", *words, **environment)

    def result(self) -> tuple[int, bool]:
        (library,) = (self.folder / "unpacked").rglob("tables*.so")
        return self.result_in(self.folder / "unpacked", library, self.script)


class Editable(Package):
    """Installed once; an import builds what has changed."""

    def install(self, **environment: str) -> None:
        words = (
            "--quiet",
            "--no-build-isolation",
            "--no-deps",
            "--prefix",
            self.folder / "prefix",
            "-e",
            ".",
        )
        self.pip("install", *words, **environment)

    def build(self, **environment: str) -> None:
        # CMake installs what is newer by a second or more.
        time.sleep(1.1)
        if environment:
            self.install(**environment)

    def result(self) -> tuple[int, bool]:
        script = importing(self.folder / "prefix", SCRIPT)
        self.run(self.python, "-c", script, PATH=self.path)
        (library,) = (self.folder / "build" / "install").rglob("tables*.so")
        return self.result_in(self.folder, library, script)


def test_wheel_from_an_isolated_build(tmp_path, build_tools):
    """Nothing is told to CMake: it finds polybuild in the environment that pip makes for the build."""
    package, wheels = Package(tmp_path / "project", build_tools, "skbuild"), tmp_path / "wheels"
    package.pip("wheel", "--no-deps", "-w", wheels, ROOT)
    package.pip("wheel", "--no-deps", "-w", wheels, ".", PIP_FIND_LINKS=str(wheels))
    (wheel,) = wheels.glob("tables*.whl")
    package.pip("install", "--no-deps", "--target", tmp_path / "unpacked", wheel)
    (library,) = (tmp_path / "unpacked").glob("tables*.so")
    package.path = ""  # no compiler
    assert package.result_in(tmp_path / "unpacked", library) == (total(), True)


def test_wheel_after_edits(tmp_path, build_tools):
    package = Wheel(tmp_path / "project", build_tools, "skbuild")
    package.build()
    check_edits(package, OPTION)


def test_editable_installation_builds_again_when_imported(tmp_path, build_tools):
    package = Editable(tmp_path / "project", build_tools, "skbuild")
    package.edit("pyproject.toml", 'build-dir = "build"', 'build-dir = "build"\neditable.rebuild = true')
    package.install()
    check_edits(package, OPTION)


@pytest.mark.parametrize("core", ["", "1"])
def test_scikit_build(tmp_path, build_tools, monkeypatch, core):
    """Projects with a setup.py: scikit-build itself, and the replacement in scikit-build-core."""
    monkeypatch.setenv("SKBUILD_CORE", core)
    package = Wheel(tmp_path / "project", build_tools, "classic")
    package.script = SCRIPT.replace("import tables", "from table import tables")
    package.build()
    if core:  # which builds all anew each time
        assert package.result() == (total(), True)
        package.build(POLYBUILD_DISABLE="1")
        assert package.result() == (total(), False)
    else:
        check_edits(package, OPTION)


class Cython(Package):
    def build(self, **environment: str) -> str:
        return self.run(self.python, "setup.py", "build_ext", "--inplace", **environment)

    def result(self) -> tuple[int, bool]:
        (library,) = self.folder.glob("tables*.so")
        return self.result_in(self.folder, library)


def test_cython(tmp_path, build_tools):
    package = Cython(tmp_path / "project", build_tools, "cython")
    package.build()
    check_edits(package, ("setup.py", '"parallel": True', '"parallel": False'))
