"""A fresh installation of polybuild, and CMake projects to build with it."""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cmake_project import (
    CONFIGURATION,
    GENERATORS,
    PROJECTS,
    ROOT,
    Project,
    copy_of,
    run_or_fail,
    subdirectory_settings,
)

Once = Callable[[str, Callable[[Path], None]], Path]


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    """Makes a folder with what a function puts into it, once for all workers; the folder."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent

    def make(name: str, fill: Callable[[Path], None]) -> Path:
        folder, done = shared / name, shared / f"{name}.done"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                shutil.rmtree(folder, ignore_errors=True)
                fill(folder)
                done.touch()
        return folder

    return make


@pytest.fixture(scope="session")
def installation(once: Once) -> Path:
    """The prefix of a virtual environment into which pip installed this tree."""

    def fill(prefix: Path) -> None:
        run_or_fail(sys.executable, "-m", "venv", prefix)
        run_or_fail(prefix / "bin" / "pip", "--disable-pip-version-check", "install", "--quiet", ROOT)

    return once("installation", fill)


@pytest.fixture(scope="session")
def build_tools(once: Once, installation: Path) -> Path:
    """The installation, with the tools that build Python packages."""
    tools = ("setuptools>=77", "wheel", "cython>=3", "scikit-build-core>=0.10", "scikit-build>=0.18")
    pip = (installation / "bin" / "pip", "--disable-pip-version-check", "install", "--quiet")
    once("tools", lambda _: run_or_fail(*pip, *tools, "meson", "ninja"))
    return installation


@pytest.fixture(scope="session")
def autotools_project(once: Once) -> Path:
    """The project ``program`` with its configure script."""

    def fill(folder: Path) -> None:
        shutil.copytree(PROJECTS / "program", folder)
        (folder / "Makefile").unlink()
        run_or_fail("autoreconf", "-i", folder)

    return once("autotools", fill)


@pytest.fixture
def polybuild_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The commands of this source tree on PATH, with a cache of their own; the folder they are in."""
    folder = tmp_path / "commands"
    folder.mkdir()
    for name in ("polybuild", "polybuild-cc"):
        text = (ROOT / "bin" / name).read_text().split("\n", 1)[1]
        lines = f"#!{sys.executable}\nimport sys\nsys.path[0] = {str(ROOT)!r}\n"
        (folder / name).write_text(lines + text)
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("POLYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("POLYBUILD_DISABLE", raising=False)
    return folder


@pytest.fixture(scope="module", params=["installed", "subdirectory"])
def polybuild_settings(request: pytest.FixtureRequest) -> list[str]:
    """What CMake must be told to find polybuild, in each of the two ways."""
    if request.param == "subdirectory":
        return subdirectory_settings()
    return [f"-DCMAKE_PREFIX_PATH={request.getfixturevalue('installation')}"]


@pytest.fixture(scope="module", params=GENERATORS)
def generator(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def first_build(
    tmp_path_factory: pytest.TempPathFactory, generator: str, polybuild_settings: list[str]
) -> tuple[Project, str]:
    """The project ``app``, built with one generator and one way to find polybuild; what the build printed."""
    project = copy_of("app", tmp_path_factory.mktemp("app"), generator, polybuild_settings)
    return project, project.build()


@pytest.fixture
def app(first_build: tuple[Project, str]) -> Iterator[Project]:
    """The project ``app``, built; what a test edits or sets is undone after it."""
    project, _ = first_build
    yield project
    originals = PROJECTS / "app"
    for path in (path for path in originals.rglob("*") if path.is_file()):
        copy = project.source / path.relative_to(originals)
        if copy.read_bytes() != path.read_bytes():
            copy.write_bytes(path.read_bytes())
    project.configure("-DSHIFT=1", f"-UCMAKE_C_FLAGS_{CONFIGURATION.upper()}")
    project.build()
