"""A Python extension through setuptools, in each way a project can ask for it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from cmake_project import PROJECTS
from workplace import Workplace, check_edits, importing, total

pytestmark = [pytest.mark.network, pytest.mark.python_headers]

PLAIN = """\
[build-system]
requires = ["setuptools", "polybuild"]
build-backend = "setuptools.build_meta"

[project]
name = "tables"
version = "1"

[tool.setuptools]
py-modules = []
"""
SETUP = """\
try:
    from polybuild.setuptools import PolybuildExtension, build_ext
except ImportError:  # an ordinary build
    from setuptools import Extension as PolybuildExtension
    from setuptools.command.build_ext import build_ext
from setuptools import setup

sources = ["module.c", "kernels.c"]
setup(
    ext_modules=[PolybuildExtension("tables", sources, parallel=True)],
    cmdclass={"build_ext": build_ext},
)
"""
KEYWORD = """\
from setuptools import Extension, setup

setup(ext_modules=[Extension("tables", ["module.c", "kernels.c"])], polybuild={"parallel": True})
"""
BARE = KEYWORD.replace(', polybuild={"parallel": True}', "")
TABLE = """\
[tool.setuptools]
ext-modules = [{name = "tables", sources = ["module.c", "kernels.c"]}]

[tool.polybuild]
parallel = true
"""

WAYS = {
    "setup.py": {"setup.py": SETUP, "pyproject.toml": PLAIN},
    "keyword": {"setup.py": KEYWORD, "pyproject.toml": PLAIN},
    "setup.cfg": {"setup.py": BARE, "setup.cfg": "[polybuild]\nparallel = True\n", "pyproject.toml": PLAIN},
    "pyproject": {"pyproject.toml": PLAIN.partition("[tool.setuptools]")[0] + TABLE},
}
OFF = {
    "setup.py": ("setup.py", "parallel=True", "parallel=False"),
    "keyword": ("setup.py", '"parallel": True', '"parallel": False'),
    "setup.cfg": ("setup.cfg", "True", "False"),
    "pyproject": ("pyproject.toml", "parallel = true", "parallel = false"),
}


class Extension(Workplace):
    def __init__(self, folder: Path, python: Path, way: str) -> None:
        super().__init__(folder)
        self.python = python
        shutil.copytree(PROJECTS / "extension", folder)
        for name, text in WAYS[way].items():
            (folder / name).write_text(text)

    def build(self, *words: str, **environment: str) -> str:
        setup = (
            ["setup.py"]
            if (self.folder / "setup.py").exists()
            else ["-c", "import setuptools as s; s.setup()"]
        )
        return self.run(self.python, *setup, "build_ext", "--inplace", *words, **environment)

    def result(self) -> tuple[int, bool]:
        (library,) = self.folder.glob("tables*.so")
        printed = self.run(self.python, "-c", "import tables; print(tables.total())")
        return int(printed), b"GOMP_parallel" in library.read_bytes()


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("POLYBUILD_CACHE_DIR", str(tmp_path / "cache"))


@pytest.mark.fast(way=["setup.py"])
@pytest.mark.parametrize("way", WAYS)
def test_build_and_rebuild(tmp_path, build_tools, way):
    project = Extension(tmp_path / "project", build_tools / "bin" / "python", way)
    project.build()
    assert "polybuild cc" not in project.build()
    if way != "setup.py":  # all ways lead to the same build: each has to hand its option on
        assert project.result() == (total(), True)
        project.edit(*OFF[way])
        project.build()
        assert project.result() == (total(), False)
        return
    check_edits(project, OFF[way])
    project.build("--parallel", "2")
    assert project.result() == (total(3, 5), True)


def test_editable(tmp_path, build_tools):
    project = Extension(tmp_path / "project", build_tools / "bin" / "python", "pyproject")
    words = ("--quiet", "--no-build-isolation", "--no-deps", "--prefix", tmp_path / "prefix", "-e", ".")
    project.run(project.python, "-m", "pip", "--disable-pip-version-check", "install", *words)
    script = importing(tmp_path / "prefix", "import tables; print(tables.total(), tables.__file__)")
    printed, library = project.run(project.python, "-c", script, folder=tmp_path).split()
    assert int(printed) == total()
    assert b"GOMP_parallel" in Path(library).read_bytes()


def test_a_wheel_needs_neither_polybuild_nor_a_compiler(tmp_path, build_tools):
    project = Extension(tmp_path / "project", build_tools / "bin" / "python", "setup.py")
    words = ("--quiet", "--no-build-isolation", "--no-deps", "-w", "dist", ".")
    project.run(project.python, "-m", "pip", "wheel", *words)
    (wheel,) = (project.folder / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = [name for name in archive.namelist() if name.endswith("METADATA")]
        assert "Requires-Dist" not in archive.read(metadata).decode()
        archive.extractall(tmp_path / "unpacked")  # noqa: S202 -- our own
    script = (
        f"import sys; sys.path[:0] = [{str(tmp_path / 'unpacked')!r}]; import tables; print(tables.total())"
    )
    printed = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script],
        env={"PATH": ""},
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    assert int(printed) == total()


def test_a_source_distribution_builds_where_polybuild_is_absent(tmp_path, build_tools):
    project = Extension(tmp_path / "project", build_tools / "bin" / "python", "setup.py")
    (project.folder / "MANIFEST.in").write_text("include *.h\n")
    project.run(project.python, "setup.py", "-q", "sdist")
    (source,) = (project.folder / "dist").glob("*.tar.gz")
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path / "unpacked")  # noqa: S202 -- our own
    unpacked = next((tmp_path / "unpacked").iterdir())
    assert (unpacked / "kernels.c").read_bytes() == (PROJECTS / "extension" / "kernels.c").read_bytes()
    # The same tools, but no polybuild.
    bare, tools = tmp_path / "bare", tmp_path / "tools"
    project.run(project.python, "-m", "venv", "--without-pip", bare)
    tools.mkdir()
    (packages,) = build_tools.glob("lib/python*/site-packages")
    for name in ("setuptools", "_distutils_hack"):
        (tools / name).symlink_to(packages / name)
    project.python = bare / "bin" / "python"
    assert "No module named 'polybuild'" in project.run(
        project.python, "-c", "try: import polybuild\nexcept ImportError as e: print(e)"
    )
    project.folder = unpacked
    project.build(PYTHONPATH=str(tools))
    assert project.result() == (total(), False)


@pytest.mark.parametrize(
    ("old", "new"), [("parallel=True", "parallel=3.5"), ("parallel=True", "tile_sizes=(0,)")]
)
def test_wrong_options(tmp_path, build_tools, old, new):
    project = Extension(tmp_path / "project", build_tools / "bin" / "python", "setup.py")
    project.edit("setup.py", old, new)
    with pytest.raises(AssertionError, match="polybuild: "):
        project.build()


def test_projects_that_do_not_ask_are_left_alone(tmp_path, build_tools):
    project = Extension(tmp_path / "project", build_tools / "bin" / "python", "setup.cfg")
    (project.folder / "setup.cfg").unlink()
    assert "polybuild" not in project.build()
    assert project.result() == (total(), False)
